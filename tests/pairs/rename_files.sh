#!/bin/bash
# New names for 400 paths: by basename, cut and tr, or by the shell's own expansions.
for number in $(seq 400); do
	path="/srv/music/album$((number % 7))/Track $number.ogg"
	if [ "$1" = fixed ]; then
		name=${path##*/}
		name=${name%.ogg}
		name=${name,,}
	else
		name=$(basename "$path" .ogg)
		name=$(echo "$name" | tr A-Z a-z)
	fi
	echo "$name"
done | md5sum

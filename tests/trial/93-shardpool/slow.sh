#!/bin/sh
cd "$(dirname "$0")"
fifo=$(mktemp -u)
mkfifo "$fifo"
./bin/shardd > "$fifo" &
server=$!
read address < "$fifo"
rm "$fifo"
./bin/report "$address" data/queries.txt
code=$?
kill $server
wait $server 2>/dev/null
exit $code

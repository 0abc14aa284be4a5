#!/bin/sh
cd "$(dirname "$0")"
fifo=$(mktemp -u)
mkfifo "$fifo"
./targetd > "$fifo" &
server=$!
read port < "$fifo"
rm "$fifo"
./walapply "$port" data/changes.wal
code=$?
kill $server
wait $server 2>/dev/null
exit $code

#!/bin/sh
cd "$(dirname "$0")"
fifo=$(mktemp -u)
mkfifo "$fifo"
./cached > "$fifo" &
server=$!
read address < "$fifo"
rm "$fifo"
./cachewarm "$address" data/stops.csv
code=$?
kill $server
wait $server 2>/dev/null
exit $code

#!/bin/sh
# builds the program below data/src from scratch in a directory of its own, runs it and removes the directory
set -e
out=$(mktemp -d ./out.XXXXXX)
trap 'rm -rf "$out"' EXIT

compile_units() {
    ls data/src/*.c | xargs -P 2 -n 1 sh -c 'exec gcc -O1 -c -o "$1/$(basename "$2" .c).o" "$2"' compile "$out"
}

make_archive() {
    ar rcs "$out/libunits.a" "$out"/unit*.o
}

link_program() {
    gcc -o "$out/program" "$out/main.o" "$out/libunits.a"
}

report() {
    echo "units: $(ls "$out"/unit*.o | wc -l)"
    echo "symbols: $(nm -g "$out/libunits.a" | grep -c ' T ')"
    echo "result: $("$out/program")"
}

compile_units
make_archive
link_program
report

#!/bin/sh
# COUNTOF must count arrays and refuse pointers, with every compiler and C standard that the cases
# may be built with. Needs gcc and clang; a missing one is a failure, not a pass.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

cat >"$work/accepted.c" <<'END'
#include "countof.h"

extern const char *const names[3];
_Static_assert(COUNTOF(names) == 3, "a constant, counted at compile time");
extern int sized_by_it[COUNTOF(names)];

int main(void)
{
    int grid[4][5];
    return COUNTOF(sized_by_it) == 3 && COUNTOF(grid) == 4 && COUNTOF(grid[0]) == 5 ? 0 : 1;
}
END

cat >"$work/pointer.c" <<'END'
#include "countof.h"

int main(int argc, char **argv)
{
    (void)argc;
    return (int)COUNTOF(argv);
}
END

cat >"$work/parameter.c" <<'END'
#include "countof.h"

unsigned long count(const int values[8]);
unsigned long count(const int values[8])
{
    return COUNTOF(values);
}
END

fail() {
    echo "FAIL $*" >&2
    failures=$((failures + 1))
}

# The newest standard is called gnu23 or, by older compilers, gnu2x.
newest_standard() {
    for std in gnu23 gnu2x; do
        if echo 'int unused;' | "$1" -std=$std -x c -fsyntax-only - 2>/dev/null; then
            echo $std
            return
        fi
    done
}

for cc in gcc clang; do
    command -v $cc >/dev/null || { fail "$cc is not installed"; continue; }
    newest=$(newest_standard $cc)
    [ -n "$newest" ] || fail "$cc knows neither gnu23 nor gnu2x"
    for std in gnu11 gnu17 $newest; do
        flags="-std=$std -Wall -Wextra -Werror -I$here"
        # shellcheck disable=SC2086  # the flags are words
        if ! $cc $flags -o "$work/accepted" "$work/accepted.c"; then
            fail "$cc -std=$std refuses an array"
        elif ! "$work/accepted"; then
            fail "$cc -std=$std counts wrongly"
        fi
        for refused in pointer parameter; do
            # shellcheck disable=SC2086
            if $cc $flags -c -o "$work/refused.o" "$work/$refused.c" 2>"$work/errors"; then
                fail "$cc -std=$std accepts a $refused"
            elif ! grep -q "COUNTOF needs an array" "$work/errors"; then
                # It must be the check that refuses, not something else in the program.
                fail "$cc -std=$std refuses a $refused for another reason:"
                cat "$work/errors" >&2
            fi
        done
    done
done

[ "$failures" -eq 0 ] && echo "countof: ok"

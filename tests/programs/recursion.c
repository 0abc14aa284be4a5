// Recursion, with calls of every size within each other: Fibonacci numbers and queens. Expect: nothing.

#include "support/program.h"

#include <stdio.h>

static unsigned long fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// Counts the ways to place queens on the rows that are left; the masks are taken columns and diagonals.
static unsigned long queens(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned long ways = 0;
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        unsigned queen = open & -open;
        ways += queens(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return ways;
}

int main(int argc, char **argv)
{
    size_t rounds = scaled(330, argc, argv);
    unsigned long sum = 0;
    for (size_t i = 0; i < rounds; i++) {
        sum += fibonacci((unsigned)(31 + i % 3));
        sum += queens((1u << (11 + i % 2)) - 1, 0, 0, 0);
    }
    printf("%lu\n", sum);
    return 0;
}

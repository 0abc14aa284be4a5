// Hash tables that double, one after the other. Expect: nothing.

#include "support/load_keys.h"
#include "support/program.h"

#include <stdio.h>

enum { TABLES = 7 };

int main(int argc, char **argv)
{
    size_t keys = 0;
    for (int table = 0; table < TABLES; table++)
        keys += load_keys(scaled(5000, argc, argv));
    printf("%zu keys\n", keys);
    return 0;
}

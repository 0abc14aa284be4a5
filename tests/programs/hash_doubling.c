// A hash table that doubles: a few dear calls, the others flat. Expect: nothing.

#include "support/load_keys.h"
#include "support/program.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    printf("%zu keys\n", load_keys(scaled(35000, argc, argv)));
    return 0;
}

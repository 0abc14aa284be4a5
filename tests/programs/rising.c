// A list insert that looks through the whole list for a duplicate. Expect: superlinear-work in name_list_insert.

#include "support/load_names.h"
#include "support/program.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    printf("%zu names\n", load_names(scaled(32000, argc, argv)));
    return 0;
}

// The growth is in a forked child; the parent waits. Expect: superlinear-work in name_list_insert.

#include "support/child.h"
#include "support/load_names.h"
#include "support/program.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t count = scaled(32000, argc, argv);
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        printf("%zu names\n", load_names(count));
        return 0;
    }
    wait_for(child);
    return 0;
}

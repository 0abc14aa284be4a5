// The growth is in another program, `rising`, that this one runs. Expect: superlinear-work in name_list_insert.

#include "support/child.h"
#include "support/program.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    (void)argc;
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        die("/proc/self/exe");
    self[length] = '\0';
    char other[PATH_MAX + 16];
    snprintf(other, sizeof(other), "%s/rising", dirname(self));

    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        execv(other, argv); // with the same scale
        perror(other);
        _exit(127);
    }
    wait_for(child);
    return 0;
}

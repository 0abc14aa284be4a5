#include "child.h"

#include "program.h"

#include <sys/wait.h>

void wait_for(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) < 0)
        die("waitpid");
    if (WIFSIGNALED(status))
        exit(128 + WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        exit(WEXITSTATUS(status));
}

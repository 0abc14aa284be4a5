// Killed by SIGKILL, by its own hand, before it has done anything. Expect: no finding, and that it was killed by signal 9.

#include <signal.h>

int main(void)
{
    raise(SIGKILL);
}

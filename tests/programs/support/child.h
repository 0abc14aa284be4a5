// Waits for a child and ends this program with the child's status if it is not 0.
#ifndef SUPPORT_CHILD_H
#define SUPPORT_CHILD_H

#include <sys/types.h>

void wait_for(pid_t child);

#endif

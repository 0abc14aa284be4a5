// queued with a heap.
#define HEAP
#include "queued.c"

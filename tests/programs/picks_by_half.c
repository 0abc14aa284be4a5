// picks with a table of sums.
#define SUMS
#include "picks.c"

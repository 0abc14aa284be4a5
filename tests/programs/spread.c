// crowded with a hash of all bits.
#define MIXES
#include "crowded.c"

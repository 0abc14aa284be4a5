// few_buckets with a table that grows.
#define GROWS
#include "few_buckets.c"

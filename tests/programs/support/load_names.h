// Reads `count` records into a list of names, every 32nd of them a duplicate, and returns how many
// names there are: the quadratic part that several programs put in different places.
#ifndef SUPPORT_LOAD_NAMES_H
#define SUPPORT_LOAD_NAMES_H

#include <stddef.h>

size_t load_names(size_t count);

#endif

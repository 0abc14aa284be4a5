// Loads keys into a hash table of its own.
#ifndef SUPPORT_LOAD_KEYS_H
#define SUPPORT_LOAD_KEYS_H

#include <stddef.h>

// Makes so many batches of keys and says how many different keys these are.
size_t load_keys(size_t batches);

#endif

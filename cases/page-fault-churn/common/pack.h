// Packs a record: what the two versions do differently.
#pragma once
#include <stddef.h>

// Packs `size` bytes into `to`, which has room for `room`. Returns the size of what it wrote. Ends the program if that fails.
size_t pack(const unsigned char *record, size_t size, unsigned char *to, size_t room);

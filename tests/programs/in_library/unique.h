// A library that keeps keys and tells new ones from old ones, by comparing with each.
#ifndef UNIQUE_H
#define UNIQUE_H

#include <stdbool.h>
#include <stddef.h>

struct unique;

// For keys of this many bytes.
struct unique *unique_new(size_t key_size);
bool unique_add(struct unique *unique, const void *key);
size_t unique_count(const struct unique *unique);
void unique_free(struct unique *unique);

#endif

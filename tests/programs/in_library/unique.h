// A library that keeps keys and tells new ones from old ones, by comparing with each.
#ifndef UNIQUE_H
#define UNIQUE_H

#include <stdbool.h>
#include <stddef.h>

enum { UNIQUE_KEY_SIZE = 32 };

struct unique;

struct unique *unique_new(void);
bool unique_add(struct unique *unique, const unsigned char key[UNIQUE_KEY_SIZE]);
size_t unique_count(const struct unique *unique);
void unique_free(struct unique *unique);

#endif

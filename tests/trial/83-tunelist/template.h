#ifndef TEMPLATE_H
#define TEMPLATE_H
#include "model.h"
/* Expands $field and ${field} of the format for an item into out. */
void template_expand(const char *format, const struct item *it, char *out, size_t size);
#endif

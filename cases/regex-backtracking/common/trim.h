// Takes white space off both ends of a text: what the two versions do differently.
#pragma once
#include <stddef.h>

// What is left of the text begins at `*begin`; its length is returned.
size_t trim(const char *text, size_t length, const char **begin);

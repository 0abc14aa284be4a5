// The rules of the filter. The two versions of the case differ in how they match a line.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { RULES = 3 };
extern const char *const expressions[RULES];

// Whether a rule's expression is found in a line.
bool matches(int rule, const char *line, size_t length);

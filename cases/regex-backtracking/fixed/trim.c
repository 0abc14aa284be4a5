// The fixed version: goes from both ends to what is no white space.
#include "trim.h"
#include <ctype.h>

size_t trim(const char *text, size_t length, const char **begin)
{
	size_t from = 0;
	while (from < length && isspace((unsigned char)text[from]))
		from++;
	while (length > from && isspace((unsigned char)text[length - 1]))
		length--;
	*begin = text + from;
	return length - from;
}

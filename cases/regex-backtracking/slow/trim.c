// The slow version: a regular expression looks for white space at the end, from each space on.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "trim.h"
#include <pcre2.h>
#include <stdlib.h>

static pcre2_code *spaces;
static pcre2_match_data *found;

static void prepare(void)
{
	int error;
	PCRE2_SIZE where;
	spaces = pcre2_compile((PCRE2_SPTR) "^\\s+|\\s+$", PCRE2_ZERO_TERMINATED, PCRE2_DOLLAR_ENDONLY, &error, &where, NULL);
	if (!spaces || !(found = pcre2_match_data_create_from_pattern(spaces, NULL)))
		abort();
}

size_t trim(const char *text, size_t length, const char **begin)
{
	if (!spaces)
		prepare();
	size_t from = 0, to = length, at = 0;
	while (at < length && pcre2_match(spaces, (PCRE2_SPTR)text, length, at, 0, found, NULL) > 0) {
		const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(found);
		if (ends[0] == 0)
			from = ends[1];
		else
			to = ends[0];
		at = ends[1];
	}
	*begin = text + from;
	return to > from ? to - from : 0;
}

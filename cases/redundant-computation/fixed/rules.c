// Compiles each expression once.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "rules.h"
#include <pcre2.h>
#include <stdlib.h>

bool matches(int rule, const char *line, size_t length)
{
	static pcre2_code *codes[RULES];
	static pcre2_match_data *data[RULES];
	if (!codes[rule]) {
		int error;
		PCRE2_SIZE offset;
		codes[rule] =
			pcre2_compile((PCRE2_SPTR)expressions[rule], PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL);
		if (!codes[rule])
			abort();
		data[rule] = pcre2_match_data_create_from_pattern(codes[rule], NULL);
	}
	return pcre2_match(codes[rule], (PCRE2_SPTR)line, length, 0, 0, data[rule], NULL) >= 0;
}

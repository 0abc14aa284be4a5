// Compiles the expression for each line.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "rules.h"
#include <pcre2.h>
#include <stdlib.h>

bool matches(int rule, const char *line, size_t length)
{
	int error;
	PCRE2_SIZE offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)expressions[rule], PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL);
	if (!code)
		abort();
	pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
	bool found = pcre2_match(code, (PCRE2_SPTR)line, length, 0, 0, data, NULL) >= 0;
	pcre2_match_data_free(data);
	pcre2_code_free(code);
	return found;
}

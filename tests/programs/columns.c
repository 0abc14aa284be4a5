// Parses sums of names in brackets, all in one line, by functions that call each other. For each name the parser goes back to the beginning of the line to tell
// its column. Expect: superlinear-work, or repeated-scan, in parse_term.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 5000, NAMES = 5, DEPTH = 3 };

struct parser {
    const char *begin;
    const char *at;
    uint64_t columns;
};

static __attribute__((noinline)) void parse_sum(struct parser *parser);

static __attribute__((noinline)) void parse_term(struct parser *parser)
{
    if (*parser->at == '(') {
        parser->at++;
        parse_sum(parser);
        parser->at++;
        return;
    }
    const char *line = parser->at;
    while (line > parser->begin && line[-1] != '\n' && line[-1] != '\r')
        line--;
    parser->columns += (uint64_t)(parser->at - line);
    while (*parser->at >= 'a' && *parser->at <= 'z')
        parser->at++;
}

static __attribute__((noinline)) void parse_sum(struct parser *parser)
{
    parse_term(parser);
    while (*parser->at == '+') {
        parser->at++;
        parse_term(parser);
    }
}

int main(int argc, char **argv)
{
    size_t groups = scaled(GROUPS, argc, argv);
    char *text = allocate(groups + 1, 8 * NAMES + 2 * DEPTH + 1), *end = text;
    for (size_t group = 0; group < groups; group++) {
        end += sprintf(end, "%s%.*s", group ? "+" : "", DEPTH, "(((((");
        for (size_t name = 0; name < NAMES; name++)
            end += sprintf(end, "%sname%c", name ? "+" : "", (char)('a' + (group + name) % 26));
        end += sprintf(end, "%.*s", DEPTH, ")))))");
    }
    struct parser parser = {text, text, 0};
    parse_sum(&parser);
    printf("%zu letters, columns add up to %llu\n", strlen(text), (unsigned long long)parser.columns);
    free(text);
    return 0;
}

/* rulegate: checks requests against rules with regular expressions. */
#ifndef RULEGATE_H
#define RULEGATE_H
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stddef.h>

enum target { TARGET_ARGS, TARGET_URI, TARGET_AGENT };

struct rule { int id, score; enum target target; char *pattern; };
struct rules { struct rule *v; size_t n; };

#define MAX_ARGS 32
struct request {
    char *address, *method, *uri, *agent;
    char *names[MAX_ARGS], *values[MAX_ARGS];
    size_t nargs;
};

/* regex_cache.c: compiled patterns, the least recently used go first. */
void regex_cache_init(size_t capacity);
pcre2_code *regex_cache_get(const char *pattern);
void regex_cache_free(void);

/* rules.c */
int rules_load(struct rules *rules, const char *path);
void rules_free(struct rules *rules);

/* request.c: takes the line apart and decodes it in place. */
int request_parse(struct request *rq, char *line);

/* match.c: the score of a request; counts the hits of each rule. */
int regex_match(const char *pattern, const char *subject);
int evaluate(const struct rules *rules, const struct request *rq, unsigned *hits);
#endif

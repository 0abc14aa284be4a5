#include "rulegate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int regex_match(const char *pattern, const char *subject)
{
    static pcre2_match_data *data;
    if (!data)
        data = pcre2_match_data_create(16, NULL);
    pcre2_code *code = regex_cache_get(pattern);
    return code && pcre2_match(code, (PCRE2_SPTR)subject, strlen(subject), 0, 0, data, NULL) >= 0;
}

static int rule_matches(const struct rule *r, const struct request *rq)
{
    switch (r->target) {
    case TARGET_ARGS:
        for (size_t i = 0; i < rq->nargs; i++)
            if (regex_match(r->pattern, rq->values[i]) || regex_match(r->pattern, rq->names[i]))
                return 1;
        return 0;
    case TARGET_URI:
        return regex_match(r->pattern, rq->uri);
    case TARGET_AGENT:
        return regex_match(r->pattern, rq->agent);
    }
    return 0;
}

int evaluate(const struct rules *rules, const struct request *rq, unsigned *hits)
{
    int score = 0;
    for (size_t i = 0; i < rules->n; i++)
        if (rule_matches(&rules->v[i], rq)) {
            score += rules->v[i].score;
            hits[i]++;
        }
    return score;
}

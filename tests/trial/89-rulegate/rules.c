#include "rulegate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_target(const char *s, enum target *out)
{
    if (!strcmp(s, "ARGS")) *out = TARGET_ARGS;
    else if (!strcmp(s, "URI")) *out = TARGET_URI;
    else if (!strcmp(s, "AGENT")) *out = TARGET_AGENT;
    else return -1;
    return 0;
}

/* One rule a line: id, target, score and pattern, with tabs between them. */
int rules_load(struct rules *rules, const char *path)
{
    char line[2048];
    size_t cap = 0;
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *rest = line, *id = strsep(&rest, "\t"), *target = strsep(&rest, "\t"), *score = strsep(&rest, "\t");
        struct rule r;
        if (!rest || *id == '#' || parse_target(target, &r.target))
            continue;
        r.id = atoi(id);
        r.score = atoi(score);
        r.pattern = strdup(rest);
        if (rules->n == cap) {
            cap = cap ? cap * 2 : 64;
            rules->v = realloc(rules->v, cap * sizeof *rules->v);
        }
        rules->v[rules->n++] = r;
    }
    fclose(f);
    return 0;
}

void rules_free(struct rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        free(rules->v[i].pattern);
    free(rules->v);
}

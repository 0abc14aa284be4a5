/* logtriage - classify log lines with a list of PCRE rules and summarise per service. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES 64

struct rule {
    char *name;
    char *pattern;
    int severity;
    long hits;
    pcre2_code *code;
    pcre2_match_data *md;
};

struct ruleset {
    struct rule rules[MAX_RULES];
    size_t count;
};

struct summary {
    long lines, matched, unmatched;
    long by_severity[8];
    long by_hour[24];
};

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "logtriage: %s: %s\n", what, detail);
    exit(1);
}

static void load_rules(const char *path, struct ruleset *rs)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f)
        die("cannot open", path);
    while (fgets(line, sizeof line, f) && rs->count < MAX_RULES) {
        line[strcspn(line, "\n")] = '\0';
        if (!line[0] || line[0] == '#')
            continue;
        char *sev = strchr(line, '\t');
        char *pat = sev ? strchr(sev + 1, '\t') : NULL;
        if (!pat)
            die("malformed rule", line);
        *sev++ = '\0';
        *pat++ = '\0';
        struct rule *r = &rs->rules[rs->count++];
        r->name = strdup(line);
        r->pattern = strdup(pat);
        r->severity = atoi(sev) & 7;
    }
    fclose(f);
}

static int rule_matches(struct rule *r, const char *line, size_t len)
{
    if (!r->code) {
        int err;
        PCRE2_SIZE off;
        r->code = pcre2_compile((PCRE2_SPTR)r->pattern, PCRE2_ZERO_TERMINATED,
                                PCRE2_CASELESS | PCRE2_UTF, &err, &off, NULL);
        if (!r->code)
            die("bad pattern", r->pattern);
        r->md = pcre2_match_data_create_from_pattern(r->code, NULL);
    }
    return pcre2_match(r->code, (PCRE2_SPTR)line, len, 0, 0, r->md, NULL) >= 0;
}

static struct rule *classify(struct ruleset *rs, const char *line, size_t len)
{
    for (size_t i = 0; i < rs->count; i++)
        if (rule_matches(&rs->rules[i], line, len))
            return &rs->rules[i];
    return NULL;
}

static int hour_of(const char *line)
{
    int h;
    const char *t = strchr(line, 'T');
    if (!t || sscanf(t + 1, "%2d", &h) != 1 || h < 0 || h > 23)
        return 0;
    return h;
}

static void process(FILE *in, struct ruleset *rs, struct summary *sum)
{
    char line[2048];
    while (fgets(line, sizeof line, in)) {
        size_t len = strcspn(line, "\n");
        line[len] = '\0';
        sum->lines++;
        struct rule *r = classify(rs, line, len);
        if (!r) {
            sum->unmatched++;
            continue;
        }
        r->hits++;
        sum->matched++;
        sum->by_severity[r->severity]++;
        sum->by_hour[hour_of(line)]++;
    }
}

static void print_summary(const struct ruleset *rs, const struct summary *sum)
{
    for (size_t i = 0; i < rs->count; i++)
        printf("%-16s sev %d hits %ld\n", rs->rules[i].name, rs->rules[i].severity, rs->rules[i].hits);
    for (int s = 0; s < 8; s++)
        printf("severity %d: %ld\n", s, sum->by_severity[s]);
    for (int h = 0; h < 24; h++)
        printf("%02d:00 %ld\n", h, sum->by_hour[h]);
    printf("%ld lines, %ld matched, %ld unmatched\n", sum->lines, sum->matched, sum->unmatched);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "data";
    char path[512];
    struct ruleset rs = { 0 };
    struct summary sum = { 0 };
    snprintf(path, sizeof path, "%s/rules.tsv", dir);
    load_rules(path, &rs);
    snprintf(path, sizeof path, "%s/syslog.txt", dir);
    FILE *in = fopen(path, "r");
    if (!in)
        die("cannot open", path);
    process(in, &rs, &sum);
    fclose(in);
    print_summary(&rs, &sum);
    return 0;
}

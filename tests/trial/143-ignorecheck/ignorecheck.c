/* ignorecheck - reads an ignore file and a list of work tree paths, and tells
 * for each path whether it is ignored and by which line of the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCH 0
#define NOMATCH 1
#define ABORT_ALL -1
#define ABORT_TO_STARSTAR -2

#define MAXPAT 64
#define NPATHS 110000

struct pattern {
    char text[96];
    int negated;
    int anchored;
    int only_dir;
    int no_slash;
    unsigned long hits;
};

static struct pattern pats[MAXPAT];
static int npats;
static char *paths[NPATHS];
static uint64_t seed = 20231107;

static const char ignore_text[] =
    "# editors and tools\n"
    "*~\n"
    "*.sw?\n"
    ".DS_Store\n"
    "/dist/\n"
    "node_modules/\n"
    "*.o\n"
    "*.py[co]\n"
    "!keep.o\n"
    "# reports of the nightly job\n"
    "report-*-*-*-*-*.html\n"
    "run-*-*-*-*-*-*.log.gz\n"
    "!run-*-00-*.log.gz\n"
    "**/cache/**/tile-*-*.bin\n"
    "/logs/**/*.log\n"
    "snapshot-*.tar\n"
    "coverage-*/*.info\n";

static uint32_t rnd(uint32_t n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(seed >> 33) % n;
}

static int is_special(char c)
{
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

static const char *match_class(const char *p, char ch, int *ok)
{
    int neg = 0, hit = 0;
    p++;
    if (*p == '!' || *p == '^') {
        neg = 1;
        p++;
    }
    while (*p && *p != ']') {
        if (p[1] == '-' && p[2] && p[2] != ']') {
            if (ch >= p[0] && ch <= p[2])
                hit = 1;
            p += 3;
        } else {
            if (*p == ch)
                hit = 1;
            p++;
        }
    }
    *ok = hit != neg && ch != '/';
    return p;
}

static int match_star(const char *p, const char *t);

static int dowild(const char *p, const char *t)
{
    for (; *p; p++, t++) {
        int ok;
        if (!*t && *p != '*')
            return ABORT_ALL;
        switch (*p) {
        case '*':
            return match_star(p, t);
        case '?':
            if (*t == '/')
                return NOMATCH;
            break;
        case '[':
            p = match_class(p, *t, &ok);
            if (!ok || !*p)
                return NOMATCH;
            break;
        case '\\':
            p++;
            /* fall through */
        default:
            if (*t != *p)
                return NOMATCH;
        }
    }
    return *t ? NOMATCH : MATCH;
}

static int match_star(const char *p, const char *t)
{
    int match_slash = 0, matched;
    if (*++p == '*') {
        while (*++p == '*')
            ;
        match_slash = 1;
        if (*p == '/' && dowild(p + 1, t) == MATCH)
            return MATCH;
    }
    if (!*p) {
        if (!match_slash && strchr(t, '/'))
            return ABORT_TO_STARSTAR;
        return MATCH;
    }
    while (*t) {
        if (!is_special(*p)) {
            char want = *p, have;
            while ((have = *t) && (match_slash || have != '/')) {
                if (have == want)
                    break;
                t++;
            }
            if (have != want)
                return NOMATCH;
        }
        matched = dowild(p, t);
        if (matched != NOMATCH) {
            if (!match_slash || matched != ABORT_TO_STARSTAR)
                return matched;
        } else if (!match_slash && *t == '/') {
            return ABORT_TO_STARSTAR;
        }
        t++;
    }
    return ABORT_ALL;
}

static void parse_ignore(const char *s)
{
    while (*s) {
        size_t n = strcspn(s, "\n");
        const char *line = s;
        size_t len = n;
        s += n + (s[n] == '\n');
        if (!len || *line == '#' || npats == MAXPAT)
            continue;
        struct pattern *p = &pats[npats++];
        if (*line == '!') {
            p->negated = 1;
            line++;
            len--;
        }
        if (line[len - 1] == '/') {
            p->only_dir = 1;
            len--;
        }
        if (*line == '/') {
            p->anchored = 1;
            line++;
            len--;
        }
        memcpy(p->text, line, len);
        p->text[len] = 0;
        p->no_slash = !p->anchored && strchr(p->text, '/') == NULL;
    }
}

static int pattern_matches(const struct pattern *p, const char *path, int is_dir)
{
    if (p->only_dir && !is_dir)
        return 0;
    if (p->no_slash) {
        const char *base = strrchr(path, '/');
        return dowild(p->text, base ? base + 1 : path) == MATCH;
    }
    return dowild(p->text, path) == MATCH;
}

static struct pattern *last_match(const char *path, int is_dir)
{
    for (int i = npats - 1; i >= 0; i--)
        if (pattern_matches(&pats[i], path, is_dir))
            return &pats[i];
    return NULL;
}

static int is_ignored(const char *path, struct pattern **why)
{
    char prefix[256];
    for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
        memcpy(prefix, path, (size_t)(s - path));
        prefix[s - path] = 0;
        struct pattern *p = last_match(prefix, 1);
        if (p && !p->negated) {
            *why = p;
            return 1;
        }
    }
    *why = last_match(path, 0);
    return *why && !(*why)->negated;
}

static void make_name(char *out, size_t cap)
{
    static const char *stem[] = { "main", "util", "keep", "index", "parser", "a" };
    static const char *ext[] = { ".c", ".o", ".pyc", ".html", ".log", ".js~", "" };
    switch (rnd(6)) {
    case 0:
    case 1:
        snprintf(out, cap, "run-20%02u-%02u-%02u-%02u-%02u-%02u-w%u-p%u-s%u-q%u-n%u-z%u-a%u-b%u-%s", rnd(24), rnd(12),
                 rnd(28), rnd(24), rnd(60), rnd(60), rnd(9), rnd(9), rnd(9), rnd(9), rnd(9), rnd(9),
                 rnd(9), rnd(9), rnd(12) ? "trace" : "x.log.gz");
        break;
    case 2:
        snprintf(out, cap, "report-%u-%u-%u-%u-%u-%u-%u%s", rnd(9), rnd(9), rnd(9), rnd(9), rnd(9), rnd(9),
                 rnd(9), rnd(2) ? ".html" : "");
        break;
    case 3:
        snprintf(out, cap, "tile-%u-%u.bin", rnd(100), rnd(100));
        break;
    default:
        snprintf(out, cap, "%s%u%s", stem[rnd(6)], rnd(50), ext[rnd(7)]);
    }
}

static void make_worktree(void)
{
    static const char *dir[] = { "src", "lib", "dist", "tests", "logs", "cache", "docs", "coverage-1", "x" };
    for (int i = 0; i < NPATHS; i++) {
        char buf[256] = "", name[128];
        for (unsigned d = rnd(4); d > 0; d--) {
            strcat(buf, dir[rnd(9)]);
            strcat(buf, "/");
        }
        make_name(name, sizeof name);
        strcat(buf, name);
        paths[i] = strdup(buf);
    }
}

int main(void)
{
    uint32_t sum = 2166136261u;
    int ignored = 0;
    parse_ignore(ignore_text);
    make_worktree();
    for (int i = 0; i < NPATHS; i++) {
        struct pattern *why = NULL;
        int ig = is_ignored(paths[i], &why);
        ignored += ig;
        if (why)
            why->hits++;
        sum = (sum ^ (uint32_t)(ig ? i : ~i)) * 16777619u;
    }
    printf("%d of %d paths ignored, check %08x\n", ignored, NPATHS, sum);
    for (int i = 0; i < npats; i++)
        printf("%6lu  %s%s\n", pats[i].hits, pats[i].negated ? "!" : "", pats[i].text);
    return 0;
}

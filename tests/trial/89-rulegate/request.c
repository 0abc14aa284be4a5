#include "rulegate.h"
#include <ctype.h>
#include <string.h>

static int hex(int c)
{
    return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

static void url_decode(char *s)
{
    char *out = s;
    for (; *s; s++) {
        if (*s == '%' && isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2])) {
            *out++ = (char)(hex(s[1]) * 16 + hex(s[2]));
            s += 2;
        } else {
            *out++ = *s == '+' ? ' ' : *s;
        }
    }
    *out = 0;
}

static void normalize_path(char *path)
{
    char *out = path;
    for (char *s = path; *s; s++)
        if (!(s[0] == '/' && s[1] == '/'))
            *out++ = *s;
    *out = 0;
}

int request_parse(struct request *rq, char *line)
{
    memset(rq, 0, sizeof *rq);
    line[strcspn(line, "\n")] = 0;
    rq->address = strsep(&line, "\t");
    rq->method = strsep(&line, "\t");
    rq->uri = strsep(&line, "\t");
    rq->agent = line;
    if (!rq->agent)
        return -1;
    char *query = strchr(rq->uri, '?');
    if (query) {
        char *pair;
        *query++ = 0;
        while ((pair = strsep(&query, "&")) && rq->nargs < MAX_ARGS) {
            char *value = strchr(pair, '=');
            if (!value)
                continue;
            *value++ = 0;
            url_decode(pair);
            url_decode(value);
            rq->names[rq->nargs] = pair;
            rq->values[rq->nargs++] = value;
        }
    }
    url_decode(rq->uri);
    normalize_path(rq->uri);
    return 0;
}

/* reqfilter - run recorded HTTP requests through a chain of access filters. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_HEADERS 64
#define MAX_VALUE   960

struct header {
    char name[64];
    char value[MAX_VALUE];
};

struct request {
    char method[16];
    char path[1024];
    int nheaders;
    struct header headers[MAX_HEADERS];
};

enum verdict { PASS, DENY, LOG };

typedef enum verdict (*filter_fn)(const struct request *req);

struct filter {
    const char *name;
    filter_fn check;
    long denied, logged;
};

static const char *find_header(const struct request *r, const char *name)
{
    for (int i = 0; i < r->nheaders; i++)
        if (!strcasecmp(r->headers[i].name, name))
            return r->headers[i].value;
    return NULL;
}

static enum verdict check_method(const struct request *req)
{
    static const char *const allowed[] = { "GET", "HEAD", "POST", "PUT" };
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (!strcmp(req->method, allowed[i]))
            return PASS;
    return DENY;
}

static enum verdict check_path(const struct request *req)
{
    if (strstr(req->path, "../") || strstr(req->path, "/.git"))
        return DENY;
    return strncmp(req->path, "/admin", 6) ? PASS : LOG;
}

static enum verdict check_agent(const struct request *req)
{
    const char *ua = find_header(req, "User-Agent");
    if (!ua || !*ua)
        return DENY;
    return strstr(ua, "bot") ? LOG : PASS;
}

static enum verdict check_auth(const struct request *req)
{
    const char *auth = find_header(req, "Authorization");
    if (!strncmp(req->path, "/admin", 6) && (!auth || strncmp(auth, "Bearer ", 7)))
        return DENY;
    return PASS;
}

static struct filter chain[] = {
    { "method", check_method, 0, 0 },
    { "path", check_path, 0, 0 },
    { "agent", check_agent, 0, 0 },
    { "auth", check_auth, 0, 0 },
};

static int run_filters(const struct request *req)
{
    for (size_t i = 0; i < sizeof chain / sizeof *chain; i++) {
        enum verdict v = chain[i].check(req);
        if (v == DENY) {
            chain[i].denied++;
            return 0;
        }
        if (v == LOG)
            chain[i].logged++;
    }
    return 1;
}

static void copy_field(char *dst, size_t cap, const char *src, size_t len)
{
    if (len >= cap)
        len = cap - 1;
    memcpy(dst, src, len);
    dst[len] = '\0';
}

static int parse_request_line(struct request *req, const char *line)
{
    const char *sp = strchr(line, ' ');
    if (!sp)
        return -1;
    copy_field(req->method, sizeof req->method, line, (size_t)(sp - line));
    const char *path = sp + 1, *end = strpbrk(path, " \r\n");
    copy_field(req->path, sizeof req->path, path, end ? (size_t)(end - path) : strlen(path));
    req->nheaders = 0;
    return 0;
}

static void parse_header(struct request *req, const char *line)
{
    const char *colon = strchr(line, ':');
    if (!colon || req->nheaders == MAX_HEADERS)
        return;
    struct header *h = &req->headers[req->nheaders++];
    copy_field(h->name, sizeof h->name, line, (size_t)(colon - line));
    const char *v = colon + 1;
    while (*v == ' ')
        v++;
    copy_field(h->value, sizeof h->value, v, strcspn(v, "\r\n"));
}

static unsigned long weight_of(const struct request *req)
{
    unsigned long h = 5381;
    for (int i = 0; i < req->nheaders; i++) {
        for (const char *p = req->headers[i].name; *p; p++)
            h = h * 33 + (unsigned char)tolower((unsigned char)*p);
        for (const char *p = req->headers[i].value; *p; p++)
            h = h * 33 + (unsigned char)*p;
    }
    for (const char *p = req->path; *p; p++)
        h = h * 33 + (unsigned char)*p;
    return h;
}

static int read_request(FILE *in, struct request *req)
{
    char line[2048];
    if (!fgets(line, sizeof line, in))
        return 0;
    if (parse_request_line(req, line) < 0)
        return -1;
    while (fgets(line, sizeof line, in) && line[0] != '\n' && line[0] != '\r')
        parse_header(req, line);
    return 1;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "data/requests.http";
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        return 1;
    }
    static struct request req;
    unsigned long digest = 0;
    long total = 0, allowed = 0, headers = 0;
    while (read_request(in, &req) > 0) {
        total++;
        headers += req.nheaders;
        digest = digest * 31 + weight_of(&req);
        allowed += run_filters(&req);
    }
    fclose(in);
    for (size_t i = 0; i < sizeof chain / sizeof *chain; i++)
        printf("%-8s denied %ld logged %ld\n", chain[i].name, chain[i].denied, chain[i].logged);
    printf("%ld requests, %ld headers, %ld allowed, digest %lx\n", total, headers, allowed, digest);
    return 0;
}

/* pkgscripts - applies a package transaction: verifies every payload, orders
 * the packages by their requirements and runs the post-install scriptlets. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NPKG 560
#define MAXREQ 4
#define PAYLOAD (24 * 1024)
#define MAX_FILES 20000

struct package {
    char name[32];
    int nreq;
    int req[MAXREQ];
    int state;
    uint32_t digest;
    int has_post;
};

static struct package pkgs[NPKG];
static int order[NPKG];
static int norder;
static uint32_t crc_table[256];
static uint64_t seed = 88172645463325252ULL;

static uint32_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

static void crc_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = (c & 1) ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        crc_table[i] = c;
    }
}

static uint32_t crc_update(uint32_t crc, const unsigned char *p, size_t n)
{
    crc = ~crc;
    while (n--)
        crc = crc_table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
    return ~crc;
}

static void make_repository(void)
{
    static const char *stem[] = { "lib", "python-", "perl-", "font-", "kde-", "x11-" };
    for (int i = 0; i < NPKG; i++) {
        struct package *p = &pkgs[i];
        snprintf(p->name, sizeof p->name, "%s%04x", stem[rnd() % 6], rnd() & 0xffff);
        p->nreq = i ? (int)(rnd() % (MAXREQ + 1)) : 0;
        for (int k = 0; k < p->nreq; k++)
            p->req[k] = (int)(rnd() % (unsigned)i);
        p->has_post = rnd() % 10 != 0;
    }
}

static void visit(int i)
{
    struct package *p = &pkgs[i];
    if (p->state)
        return;
    p->state = 1;
    for (int k = 0; k < p->nreq; k++)
        visit(p->req[k]);
    order[norder++] = i;
}

static void verify_payload(struct package *p)
{
    unsigned char *buf = malloc(PAYLOAD);
    size_t n = PAYLOAD / 2 + rnd() % (PAYLOAD / 2);
    for (size_t i = 0; i < n; i++)
        buf[i] = (unsigned char)(rnd() >> 3);
    p->digest = crc_update(0, buf, n);
    free(buf);
}

static void raise_file_limit(void)
{
    struct rlimit rl;
    if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
        rl.rlim_cur = rl.rlim_max < MAX_FILES ? rl.rlim_max : MAX_FILES;
        setrlimit(RLIMIT_NOFILE, &rl);
    }
}

static void set_cloexec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags == -1 || (flags & FD_CLOEXEC))
        return;
    fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

/* A scriptlet must inherit nothing but the standard streams. */
static void protect_fds(void)
{
    int min_fd = STDERR_FILENO + 1;
    long max_fd = sysconf(_SC_OPEN_MAX);
    if (max_fd == -1)
        max_fd = 1024;
    for (int fd = min_fd; fd < max_fd; fd++)
        set_cloexec(fd);
}

static int run_scriptlet(const struct package *p, char *out, size_t cap)
{
    int fds[2];
    if (pipe(fds) != 0)
        return -1;
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        char arg[80];
        dup2(fds[1], STDOUT_FILENO);
        protect_fds();
        snprintf(arg, sizeof arg, "%s:%08x", p->name, p->digest);
        execl("/bin/echo", "echo", "configured", arg, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    size_t got = 0;
    for (;;) {
        ssize_t r = read(fds[0], out + got, cap - 1 - got);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    out[got] = 0;
    close(fds[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    raise_file_limit();
    crc_init();
    make_repository();
    for (int i = 0; i < NPKG; i++)
        visit(i);

    FILE *db = tmpfile();
    uint32_t log_digest = 0;
    int ran = 0, failed = 0;
    for (int k = 0; k < norder; k++) {
        struct package *p = &pkgs[order[k]];
        char out[256];
        verify_payload(p);
        if (db)
            fprintf(db, "%s %08x\n", p->name, p->digest);
        if (!p->has_post)
            continue;
        if (run_scriptlet(p, out, sizeof out) != 0)
            failed++;
        ran++;
        log_digest = crc_update(log_digest, (unsigned char *)out, strlen(out));
    }
    printf("packages: %d\nscriptlets: %d (%d failed)\nlog: %08x\n", norder, ran, failed, log_digest);
    printf("database: %ld bytes\n", db ? ftell(db) : 0L);
    return 0;
}

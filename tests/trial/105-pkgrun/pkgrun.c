/* Runs the scriptlets of a package transaction: reads the plan, orders the packages by what they require,
   executes each scriptlet as a child whose output goes to the log, and prints the log's summary. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SCRIPTLETS 8
#define MAX_REQUIRES 8

typedef struct {
    char kind[12], action[12];
    int arg;
} Scriptlet;

typedef struct {
    char name[40], version[16];
    long size;
    Scriptlet scripts[MAX_SCRIPTLETS];
    int script_count;
    char requires[MAX_REQUIRES][32];
    int require_count;
    int mark;
} Package;

typedef struct {
    Package *items;
    int count, room;
    int *order;
    int ordered;
    int db_fd, lock_fd;
    int ran, failed;
    uint64_t digest;
    char journal[64];
} Transaction;

static Package *add_package(Transaction *t)
{
    if (t->count == t->room) {
        t->room = t->room ? t->room * 2 : 64;
        t->items = realloc(t->items, t->room * sizeof *t->items);
    }
    Package *p = &t->items[t->count++];
    memset(p, 0, sizeof *p);
    return p;
}

static int read_plan(Transaction *t, const char *path)
{
    char line[256];
    FILE *f = fopen(path, "re");
    Package *p = NULL;
    if (!f) { perror(path); return -1; }
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, "package ", 8)) {
            p = add_package(t);
            sscanf(line, "package %39s %15s %ld", p->name, p->version, &p->size);
        } else if (p && !strncmp(line, "scriptlet ", 10) && p->script_count < MAX_SCRIPTLETS) {
            Scriptlet *s = &p->scripts[p->script_count++];
            sscanf(line, "scriptlet %11s %11s %d", s->kind, s->action, &s->arg);
        } else if (p && !strncmp(line, "requires ", 9) && p->require_count < MAX_REQUIRES) {
            sscanf(line, "requires %31s", p->requires[p->require_count++]);
        }
    }
    fclose(f);
    return 0;
}

static int provides(const Package *p, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(p->name, name, n) && p->name[n] == '-';
}

static void visit(Transaction *t, int i)
{
    Package *p = &t->items[i];
    if (p->mark) return;
    p->mark = 1;
    for (int r = 0; r < p->require_count; r++)
        for (int j = 0; j < t->count; j++)
            if (!t->items[j].mark && provides(&t->items[j], p->requires[r])) {
                visit(t, j);
                break;
            }
    t->order[t->ordered++] = i;
}

static void order_packages(Transaction *t)
{
    t->order = malloc(t->count * sizeof *t->order);
    for (int i = 0; i < t->count; i++) visit(t, i);
}

/* ---- children ---- */

static void set_cloexec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && !(flags & FD_CLOEXEC)) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

static void set_cloexec_all(void)
{
    struct rlimit lim;
    int max = 1024;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur != RLIM_INFINITY) max = (int)lim.rlim_cur;
    for (int fd = 3; fd < max; fd++) set_cloexec(fd);
}

static void exec_child(const Package *p, const Scriptlet *s, int out)
{
    char num[16], who[64];
    char *argv[] = { "scriptlet", who, (char *)s->action, num, NULL };
    char *envp[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
    snprintf(num, sizeof num, "%d", s->arg);
    snprintf(who, sizeof who, "%s.%s", p->name, s->kind);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out, 1);
    set_cloexec_all();
    execve("./scriptlet", argv, envp);
    _exit(127);
}

static void log_output(Transaction *t, const char *text, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++) t->digest = (t->digest ^ (uint8_t)text[i]) * 1099511628211ull;
}

static int run_scriptlet(Transaction *t, const Package *p, const Scriptlet *s)
{
    int fds[2], status;
    char buf[512];
    ssize_t n;
    if (pipe2(fds, O_CLOEXEC) < 0) { perror("pipe"); exit(1); }
    pid_t pid = fork();
    if (pid < 0) { perror("fork"); exit(1); }
    if (pid == 0) exec_child(p, s, fds[1]);
    close(fds[1]);
    while ((n = read(fds[0], buf, sizeof buf)) > 0) log_output(t, buf, n);
    close(fds[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    t->ran++;
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) {
        fprintf(stderr, "pkgrun: %s(%s) could not be run\n", s->kind, p->name);
        exit(1);
    }
    return WEXITSTATUS(status);
}

static void record(Transaction *t, const Package *p, int ok)
{
    char line[128];
    int n = snprintf(line, sizeof line, "%s %s %ld %s\n", p->name, p->version, p->size, ok ? "installed" : "broken");
    if (write(t->db_fd, line, n) != n) { perror(t->journal); exit(1); }
    log_output(t, line, n);
}

static int install(Transaction *t, const Package *p)
{
    int ok = 1;
    for (int i = 0; i < p->script_count; i++)
        if (run_scriptlet(t, p, &p->scripts[i]) != 0) {
            t->failed++;
            if (!strcmp(p->scripts[i].kind, "pre")) ok = 0;
        }
    record(t, p, ok);
    return ok;
}

static void raise_limit(void)
{
    struct rlimit lim;
    getrlimit(RLIMIT_NOFILE, &lim);
    lim.rlim_cur = lim.rlim_max < 20000 ? lim.rlim_max : 20000;     /* the database keeps many files open */
    setrlimit(RLIMIT_NOFILE, &lim);
}

int main(void)
{
    Transaction t = { .digest = 14695981039346656037ull };
    long bytes = 0;
    int installed = 0;
    struct stat st;
    raise_limit();
    if (read_plan(&t, "data/transaction.txt") < 0) return 1;
    order_packages(&t);
    snprintf(t.journal, sizeof t.journal, "journal-%d", (int)getpid());
    t.db_fd = open(t.journal, O_RDWR | O_CREAT | O_TRUNC, 0600);
    t.lock_fd = open("data/transaction.txt", O_RDONLY);
    if (t.db_fd < 0 || t.lock_fd < 0) { perror("open"); return 1; }
    for (int i = 0; i < t.ordered; i++) {
        const Package *p = &t.items[t.order[i]];
        if (install(&t, p)) {
            installed++;
            bytes += p->size;
        }
    }
    fstat(t.db_fd, &st);
    unlink(t.journal);
    printf("packages %d, installed %d (%ld bytes), scriptlets %d, failed %d, journal %ld, log %016llx\n", t.count, installed,
           bytes, t.ran, t.failed, (long)st.st_size, (unsigned long long)t.digest);
    return 0;
}

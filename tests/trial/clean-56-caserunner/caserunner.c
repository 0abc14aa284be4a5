/* caserunner - runs the cases of a test suite for a small solver, each in its own
 * process, because some of them end in abort() or a fault; two run at a time. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NCASES 540
#define JOBS 2
#define DIM 120

struct result {
    int done;
    int signal;
    int code;
    double residual;
};

struct job {
    pid_t pid;
    int fd;
    int index;
};

static struct result results[NCASES];
static struct job jobs[JOBS];

static double rnd(uint64_t *s)
{
    *s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*s >> 40) / (1 << 24) - 0.5;
}

/* --- what is tested: a solver for dense systems --------------------------- */

static void factor(double *a, int *perm, int n)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (a[i * n + k] * a[i * n + k] > a[p * n + k] * a[p * n + k])
                p = i;
        if (a[p * n + k] == 0.0)
            abort();
        perm[k] = p;
        if (p != k)
            for (int j = 0; j < n; j++) {
                double t = a[k * n + j];
                a[k * n + j] = a[p * n + j];
                a[p * n + j] = t;
            }
        for (int i = k + 1; i < n; i++) {
            double f = a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= f * a[k * n + j];
        }
    }
}

static void substitute(const double *a, const int *perm, double *b, int n)
{
    for (int k = 0; k < n; k++) {
        double t = b[perm[k]];
        b[perm[k]] = b[k];
        b[k] = t;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            b[i] -= a[i * n + j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

static double residual(const double *a, const double *x, const double *b, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double s = -b[i];
        for (int j = 0; j < n; j++)
            s += a[i * n + j] * x[j];
        if (s < 0)
            s = -s;
        if (s > worst)
            worst = s;
    }
    return worst;
}

static double run_case(int index)
{
    int n = DIM + index % 7 * 40;
    uint64_t s = 1000003u * (uint64_t)(index + 1);
    double *a = malloc(sizeof(double) * (size_t)n * n), *lu = malloc(sizeof(double) * (size_t)n * n);
    double *b = malloc(sizeof(double) * n), *x = malloc(sizeof(double) * n);
    int *perm = malloc(sizeof(int) * n);
    for (int i = 0; i < n * n; i++)
        a[i] = rnd(&s);
    for (int i = 0; i < n; i++)
        b[i] = rnd(&s);
    if (index % 29 == 3)
        for (int j = 0; j < n; j++)
            a[j] = 0.0;
    if (index % 41 == 5)
        raise(SIGSEGV);
    memcpy(lu, a, sizeof(double) * (size_t)n * n);
    memcpy(x, b, sizeof(double) * n);
    factor(lu, perm, n);
    substitute(lu, perm, x, n);
    return residual(a, x, b, n);
}

/* --- the runner ------------------------------------------------------------ */

static void child(int index, int fd)
{
    struct rlimit none = { 0, 0 }, cpu = { 10, 10 };
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &cpu);
    double r = run_case(index);
    if (write(fd, &r, sizeof r) != (ssize_t)sizeof r)
        _exit(2);
    _exit(r < 1e-7 ? 0 : 1);
}

static int start(struct job *j, int index)
{
    int fds[2];
    if (pipe(fds) != 0)
        return -1;
    j->pid = fork();
    if (j->pid == 0) {
        close(fds[0]);
        child(index, fds[1]);
    }
    close(fds[1]);
    j->fd = fds[0];
    j->index = index;
    return j->pid < 0 ? -1 : 0;
}

static void finish(struct job *j)
{
    struct result *r = &results[j->index];
    int status;
    if (read(j->fd, &r->residual, sizeof r->residual) != (ssize_t)sizeof r->residual)
        r->residual = -1;
    close(j->fd);
    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
        ;
    r->done = 1;
    r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    j->pid = 0;
}

static void run_suite(void)
{
    int next = 0, running = 0;
    while (next < NCASES || running) {
        struct pollfd p[JOBS];
        for (int i = 0; i < JOBS; i++) {
            if (!jobs[i].pid && next < NCASES && start(&jobs[i], next++) == 0)
                running++;
            p[i].fd = jobs[i].pid ? jobs[i].fd : -1;
            p[i].events = POLLIN;
            p[i].revents = 0;
        }
        if (poll(p, JOBS, -1) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < JOBS; i++)
            if (jobs[i].pid && p[i].revents) {
                finish(&jobs[i]);
                running--;
            }
    }
}

int main(void)
{
    int passed = 0, failed = 0, by_signal[32] = { 0 };
    run_suite();
    for (int i = 0; i < NCASES; i++) {
        if (results[i].signal)
            by_signal[results[i].signal & 31]++;
        else if (results[i].code == 0)
            passed++;
        else
            failed++;
    }
    printf("%d cases: %d passed, %d failed\n", NCASES, passed, failed);
    printf("aborted: %d, segmentation fault: %d\n", by_signal[SIGABRT], by_signal[SIGSEGV]);
    return 0;
}

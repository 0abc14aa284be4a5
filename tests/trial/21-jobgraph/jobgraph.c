/* jobgraph - run the commands of a job file in dependency order, a few at a time. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_JOBS  256
#define MAX_DEPS  8
#define MAX_SLOTS 4

enum state { WAITING, RUNNING, DONE, FAILED };

struct job {
    char name[32];
    long work;
    int deps[MAX_DEPS];
    int ndeps;
    enum state state;
    pid_t pid;
};

struct graph {
    struct job jobs[MAX_JOBS];
    int count;
};

struct runner {
    struct graph *graph;
    int running, finished, failed;
};

static int find_job(const struct graph *g, const char *name)
{
    for (int i = 0; i < g->count; i++)
        if (!strcmp(g->jobs[i].name, name))
            return i;
    return -1;
}

static int load_graph(const char *path, struct graph *g)
{
    char line[512];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    while (fgets(line, sizeof line, f) && g->count < MAX_JOBS) {
        char *save = NULL, *word = strtok_r(line, " \n", &save);
        if (!word || *word == '#')
            continue;
        struct job *j = &g->jobs[g->count];
        snprintf(j->name, sizeof j->name, "%s", word);
        word = strtok_r(NULL, " \n", &save);
        j->work = word ? atol(word) : 0;
        while ((word = strtok_r(NULL, " \n", &save)) && j->ndeps < MAX_DEPS) {
            int d = find_job(g, word);
            if (d < 0)
                fprintf(stderr, "jobgraph: %s: unknown dependency %s\n", j->name, word);
            else
                j->deps[j->ndeps++] = d;
        }
        g->count++;
    }
    fclose(f);
    return 0;
}

static int ready(const struct graph *g, const struct job *j)
{
    if (j->state != WAITING)
        return 0;
    for (int i = 0; i < j->ndeps; i++)
        if (g->jobs[j->deps[i]].state != DONE)
            return 0;
    return 1;
}

static void run_job(const struct job *j)
{
    unsigned long h = 5381;
    for (long i = 0; i < j->work; i++)
        h = h * 33 + (unsigned char)j->name[i % (long)strlen(j->name)];
    _exit(h == 0);
}

static void start_ready(struct runner *r)
{
    for (int i = 0; i < r->graph->count && r->running < MAX_SLOTS; i++) {
        struct job *j = &r->graph->jobs[i];
        if (!ready(r->graph, j))
            continue;
        j->pid = fork();
        if (j->pid < 0) {
            perror("fork");
            exit(1);
        }
        if (j->pid == 0)
            run_job(j);
        j->state = RUNNING;
        r->running++;
    }
}

static void finish_job(struct runner *r, pid_t pid, int status)
{
    for (int i = 0; i < r->graph->count; i++) {
        struct job *j = &r->graph->jobs[i];
        if (j->state != RUNNING || j->pid != pid)
            continue;
        j->state = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? DONE : FAILED;
        r->failed += j->state == FAILED;
        r->running--;
        r->finished++;
    }
}

static void reap_jobs(struct runner *r)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        finish_job(r, pid, status);
    if (r->running > 0)
        usleep(40 * 1000);
}

static int run_graph(struct graph *g)
{
    struct runner r = { .graph = g };
    while (r.finished < g->count) {
        start_ready(&r);
        if (!r.running) {
            fprintf(stderr, "jobgraph: dependency cycle\n");
            return 1;
        }
        reap_jobs(&r);
        if (r.failed)
            break;
    }
    return r.failed != 0;
}

static void print_summary(const struct graph *g)
{
    static const char *const names[] = { "waiting", "running", "done", "failed" };
    int counts[4] = { 0 };
    long work = 0;
    for (int i = 0; i < g->count; i++) {
        counts[g->jobs[i].state]++;
        work += g->jobs[i].work;
    }
    for (int s = 0; s < 4; s++)
        printf("%-8s %d\n", names[s], counts[s]);
    printf("%d jobs, %ld units\n", g->count, work);
}

int main(int argc, char **argv)
{
    static struct graph g;
    if (load_graph(argc > 1 ? argv[1] : "data/jobs.txt", &g) < 0)
        return 1;
    int rc = run_graph(&g);
    print_summary(&g);
    return rc;
}

/* A monitoring daemon: keeps the history of the services of a site in memory, runs a plugin for each service that is
   due, reads the plugin's line, updates the state and the averages of the service, and prints a summary. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS 300
#define SERVICES 6            /* of each host */
#define SAMPLES 29000         /* of each service */
#define CHECKS 420

extern char **environ;

typedef struct {
    uint32_t when;
    float value;
} Sample;

typedef struct {
    char name[32];
    char plugin[24];
    Sample *history;
    uint32_t count, head;
    int state, attempts, flaps;
    double average;
} Service;

typedef struct {
    char name[24];
    Service services[SERVICES];
} Host;

typedef struct {
    Host *hosts;
    uint32_t clock;
    unsigned long executed, failed, bytes;
    unsigned long by_state[4];
} Site;

static const char *kinds[SERVICES] = { "load", "disk", "swap", "ssh", "ntp", "users" };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* ---- history ---- */

static void history_load(Service *s, uint32_t seed)
{
    s->history = malloc(SAMPLES * sizeof *s->history);
    if (!s->history) fail("history");
    double sum = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        s->history[i].when = 1700000000u + i * 60;
        s->history[i].value = (float)((seed * 2654435761u ^ i * 40503u) >> 8 & 1023) / 100.0f;
        sum += s->history[i].value;
    }
    s->count = SAMPLES;
    s->average = sum / SAMPLES;
}

static void history_add(Service *s, uint32_t when, float value)
{
    Sample *slot = &s->history[s->head];
    s->average += (value - slot->value) / s->count;
    slot->when = when;
    slot->value = value;
    s->head = (s->head + 1) % s->count;
}

static void site_load(Site *site)
{
    site->hosts = calloc(HOSTS, sizeof *site->hosts);
    site->clock = 1700000000u + SAMPLES * 60;
    for (int h = 0; h < HOSTS; h++) {
        Host *host = &site->hosts[h];
        snprintf(host->name, sizeof host->name, "node%03d.site", h);
        for (int k = 0; k < SERVICES; k++) {
            Service *s = &host->services[k];
            snprintf(s->name, sizeof s->name, "%s/%s", host->name, kinds[k]);
            snprintf(s->plugin, sizeof s->plugin, "check_%s", kinds[k]);
            history_load(s, mix((uint32_t)(h * SERVICES + k)));
        }
    }
}

/* ---- plugins ---- */

static void plugin_arguments(const Service *s, uint32_t clock, char *line, size_t room)
{
    uint32_t v = mix(clock ^ mix((uint32_t)s->name[5] * 7 + (uint32_t)s->name[7] * 131 + (uint32_t)s->head));
    const char *state = v % 50 == 0 ? "CRITICAL" : v % 17 == 0 ? "WARNING" : "OK";
    snprintf(line, room, "%s %s - value=%u.%02u", s->plugin, state, v / 7 % 10, v / 131 % 100);
}

static pid_t start_plugin(char **argv, int out)
{
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        dup2(out, STDOUT_FILENO);
        execve(argv[0], argv, environ);
        _exit(127);
    }
    return pid;
}

static int run_plugin(Site *site, char **argv, char *answer, size_t room)
{
    int ends[2], status;
    size_t got = 0;
    ssize_t n;
    if (pipe2(ends, O_CLOEXEC) < 0) fail("pipe");
    pid_t pid = start_plugin(argv, ends[1]);
    close(ends[1]);
    while ((n = read(ends[0], answer + got, room - 1 - got)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail("read");
        got += (size_t)n;
    }
    close(ends[0]);
    answer[got] = 0;
    site->bytes += got;
    if (waitpid(pid, &status, 0) < 0) fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int parse_answer(const char *answer, int *state, float *value)
{
    char plugin[24], word[16];
    if (sscanf(answer, "%23s %15s - value=%f", plugin, word, value) != 3) return -1;
    *state = !strcmp(word, "OK") ? 0 : !strcmp(word, "WARNING") ? 1 : !strcmp(word, "CRITICAL") ? 2 : 3;
    return 0;
}

static void update_state(Service *s, int state)
{
    if (state != s->state) {
        if (++s->attempts >= (state == 2 ? 2 : 1)) {
            s->state = state;
            s->attempts = 0;
            s->flaps++;
        }
    } else {
        s->attempts = 0;
    }
}

static void check_service(Site *site, Service *s)
{
    char line[96], answer[256];
    char *argv[] = { "/bin/echo", line, NULL };
    int state = 3;
    float value = 0;
    plugin_arguments(s, site->clock, line, sizeof line);
    if (run_plugin(site, argv, answer, sizeof answer) != 0 || parse_answer(answer, &state, &value) < 0) {
        site->failed++;
        return;
    }
    site->executed++;
    site->by_state[state]++;
    history_add(s, site->clock, value);
    update_state(s, state);
}

static void run_due(Site *site)
{
    for (int i = 0; i < CHECKS; i++) {
        uint32_t pick = mix(site->clock + (uint32_t)i);
        Host *h = &site->hosts[pick % HOSTS];
        check_service(site, &h->services[pick / HOSTS % SERVICES]);
        site->clock += 3;
    }
}

static void report(const Site *site)
{
    double sum = 0;
    int flaps = 0;
    for (int h = 0; h < HOSTS; h++)
        for (int k = 0; k < SERVICES; k++) {
            sum += site->hosts[h].services[k].average;
            flaps += site->hosts[h].services[k].flaps;
        }
    printf("checks %lu, failed %lu, ok %lu, warning %lu, critical %lu\n", site->executed, site->failed, site->by_state[0],
           site->by_state[1], site->by_state[2]);
    printf("changes %d, mean of averages %.6f, %lu bytes of answers\n", flaps, sum / (HOSTS * SERVICES), site->bytes);
}

int main(void)
{
    static Site site;
    site_load(&site);
    run_due(&site);
    report(&site);
    return 0;
}

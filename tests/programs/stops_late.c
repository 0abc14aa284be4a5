// A server that is started, asked something, and told to end by a signal, five times. Its worker looks every 200 ms whether it is to end. Expect: a request to
// stop is noticed late, in serve. With the argument `woken`: the worker polls on a pipe as well, that is written to when it is to end. Expect: nothing. With `own`: the
// servers end by themselves after a while, as a timer does. Expect: nothing.

#include "support/child.h"
#include "support/program.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool woken, own;
static atomic_bool stop;
static int questions[2], answers[2], wakes[2];

static void on_signal(int signal)
{
    (void)signal;
    stop = true;
    if (woken && write(wakes[1], "", 1) != 1)
        _exit(3);
}

// Answers what is asked until it is to end.
static void *serve(void *unused)
{
    struct pollfd asked[2] = {{questions[0], POLLIN, 0}, {wakes[0], POLLIN, 0}};
    while (!stop) {
        char question;
        int events = poll(asked, 2, 200);
        if (events > 0 && asked[0].revents && read(questions[0], &question, 1) == 1
            && write(answers[1], &question, 1) != 1)
            _exit(3);
        if (own && events == 0)
            stop = true;
    }
    return unused;
}

// Runs until its worker has ended. Signals are handled in this thread.
static void run_server(void)
{
    sigset_t terminate;
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
    pthread_sigmask(SIG_BLOCK, &terminate, NULL);
    pthread_t worker;
    if (pthread_create(&worker, NULL, serve, NULL))
        _exit(3);
    pthread_sigmask(SIG_UNBLOCK, &terminate, NULL);
    pthread_join(worker, NULL);
    _exit(0);
}

int main(int argc, char **argv)
{
    woken = argc > 2 && !strcmp(argv[2], "woken");
    own = argc > 2 && !strcmp(argv[2], "own");
    size_t servers = scaled(5, argc, argv);
    for (size_t server = 0; server < servers; server++) {
        if (pipe(questions) || pipe(answers) || pipe(wakes))
            die("pipe");
        pid_t child = fork();
        if (child < 0)
            die("fork");
        if (!child)
            run_server();
        char answer;
        if (write(questions[1], "?", 1) != 1 || read(answers[0], &answer, 1) != 1)
            die("the server");
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        if (!own && kill(child, SIGTERM))
            die("kill");
        wait_for(child);
        for (int end = 0; end < 2; end++) {
            close(questions[end]);
            close(answers[end]);
            close(wakes[end]);
        }
    }
    printf("%zu servers\n", servers);
    return 0;
}

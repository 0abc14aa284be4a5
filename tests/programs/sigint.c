// Works until SIGINT comes (or for a minute), says so, and exits with 7. Expect: the report up to there, and status 7.

#include "support/digest.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    if (sigaction(SIGINT, &action, NULL) != 0) {
        perror("sigaction");
        return 1;
    }
    // Only then may whoever started it send the signal.
    printf("ready\n");
    fflush(stdout);

    unsigned char block[4096];
    uint64_t sum = 0;
    const time_t end = time(NULL) + 60;
    while (!interrupted && time(NULL) < end) {
        fill(block, sizeof(block), sum);
        sum += digest(block, sizeof(block));
    }
    printf("%s, %016llx\n", interrupted ? "interrupted" : "nobody interrupted",
           (unsigned long long)sum);
    return interrupted ? 7 : 0;
}

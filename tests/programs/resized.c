// A list that is searched from its start for each item, by a program that listens to SIGWINCH. Expect: repeated-scan in find_price.

#include "support/program.h"

#include <signal.h>
#include <stdio.h>

enum { PRICES = 700, ITEMS = 12000000, ITEMS_A_SIGNAL = 20000 };

struct price {
    uint64_t article;
    uint64_t cents;
};

static volatile sig_atomic_t heard;

static void hear(int signal)
{
    (void)signal;
    heard++;
}

static uint64_t find_price(const struct price *prices, uint64_t article)
{
    for (size_t i = 0; i < PRICES; i++)
        if (prices[i].article == article)
            return prices[i].cents;
    return 0;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = hear };
    if (sigaction(SIGWINCH, &action, NULL))
        die("sigaction");
    uint64_t random = 88172645463325252;
    struct price *prices = allocate(PRICES, sizeof *prices);
    for (size_t i = 0; i < PRICES; i++)
        prices[i] = (struct price){ next_random(&random), i };

    uint64_t cents = 0;
    size_t items = scaled(ITEMS, argc, argv), sent = 0;
    for (size_t i = 0; i < items; i++) {
        cents += find_price(prices, prices[next_random(&random) % PRICES].article);
        if (i % ITEMS_A_SIGNAL == 0) {
            raise(SIGWINCH);
            sent++;
        }
    }
    printf("%zu of %zu signals, %zu cents\n", (size_t)heard, sent, (size_t)cents);
    free(prices);
    return 0;
}

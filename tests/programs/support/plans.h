// Orders that are priced by plans: a plan has a step for each amount, made of rules.
#ifndef PLANS_H
#define PLANS_H

#include "program.h"

#include <stdio.h>
#include <stdlib.h>

enum { ORDERS = 600000, RULES = 40, STEPS = 64 };

struct rule {
    unsigned from, to, percent;
};

struct plan {
    unsigned off[STEPS];
};

static __attribute__((noinline)) struct plan *make_plan(const struct rule *rules)
{
    struct plan *plan = allocate(1, sizeof *plan);
    for (unsigned step = 0; step < STEPS; step++)
        for (unsigned rule = 0; rule < RULES; rule++)
            if (step >= rules[rule].from && step < rules[rule].to && rules[rule].percent > plan->off[step])
                plan->off[step] = rules[rule].percent;
    return plan;
}

static __attribute__((noinline)) uint64_t price(const struct plan *plan, uint64_t *random)
{
    uint64_t sum = 0;
    for (unsigned item = 0; item < 300; item++) {
        uint64_t amount = next_random(random) % 1000;
        sum += amount * (100 - plan->off[amount % STEPS]) / 100;
    }
    return sum;
}

static int price_orders(int argc, char **argv, int changes)
{
    struct rule rules[RULES];
    uint64_t random = 1, sum = 0;
    for (unsigned rule = 0; rule < RULES; rule++) {
        unsigned from = (unsigned)(next_random(&random) % STEPS);
        rules[rule] = (struct rule){from, from + 8, (unsigned)(next_random(&random) % 40)};
    }
    for (size_t order = 0, orders = scaled(ORDERS, argc, argv); order < orders; order++) {
        if (changes)
            rules[order % RULES].percent = (unsigned)(next_random(&random) % 40);
        struct plan *plan = make_plan(rules);
        sum += price(plan, &random);
        free(plan);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}

#endif

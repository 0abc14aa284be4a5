// As plans.c, but a rule changes with each order, so that each plan is another one. Expect: silence.

#include "support/plans.h"

int main(int argc, char **argv)
{
    return price_orders(argc, argv, 1);
}

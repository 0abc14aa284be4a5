// Prices orders by a plan that is made of the same rules for each order, and thrown away. Expect: redundant-computation in make_plan.

#include "support/plans.h"

int main(int argc, char **argv)
{
    return price_orders(argc, argv, 0);
}

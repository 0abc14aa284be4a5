// Draws winners among customers, by how much they bought. The slow version copies a customer to look at him, the fixed one refers to him.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Customer {
    std::string name;
    std::vector<std::string> orders;
    double bought = 0;
};

static uint64_t next(uint64_t &seed)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static std::vector<Customer> customers(uint64_t &seed)
{
    std::vector<Customer> all(5000);
    for (size_t at = 0; at < all.size(); at++) {
        all[at].name = "Customer number " + std::to_string(at) + " of the town";
        for (uint64_t order = 0; order < 1 + next(seed) % 5; order++)
            all[at].orders.push_back("order " + std::to_string(next(seed)));
        all[at].bought = (double)(next(seed) % 1000) / 1000;
    }
    return all;
}

template <typename Drawn> static size_t draw(const std::vector<Customer> &all, uint64_t &seed)
{
    for (;;) {
        Drawn one = all[next(seed) % all.size()];
        double least = (double)(next(seed) % 1000000) / 100000;
        for (int year = 0; year < 40; year++)
            least = least * 0.97 + 0.01;
        if (one.bought > least)
            return one.orders.size() + one.name.size();
    }
}

int main(int argc, char **argv)
{
    bool fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    uint64_t seed = 88172645463325252u;
    std::vector<Customer> all = customers(seed);
    size_t sum = 0;
    for (int winner = 0; winner < 900000; winner++)
        sum += fixed ? draw<const Customer &>(all, seed) : draw<Customer>(all, seed);
    printf("%zu\n", sum);
    return 0;
}

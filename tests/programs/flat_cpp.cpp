// std::map and std::unordered_map of bounded size, with strings. Expect: nothing.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>

int main(int argc, char **argv)
{
    const double scale = argc > 1 ? std::atof(argv[1]) : 1;
    const long steps = static_cast<long>(10'000'000 * scale);
    std::map<std::string, long> ordered;
    std::unordered_map<std::string, long> hashed;
    unsigned long state = 1, sum = 0;

    for (long i = 0; i < steps; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const std::string key = "user-" + std::to_string(state >> 52); // 4096 of them
        ordered[key] += i;
        if (auto found = hashed.find(key); found != hashed.end() && i % 3 == 0)
            hashed.erase(found);
        else
            sum += hashed[key]++;
    }
    std::printf("%zu %zu %lu\n", ordered.size(), hashed.size(), sum);
}

// Random inserts into a tree that outgrows the caches: log n steps, and each of them slower. Expect: nothing.

#include "support/index.h"
#include "support/program.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv)
{
    constexpr std::size_t batch = 128;
    const std::size_t batches = scaled(14000, argc, argv);
    Index index;
    std::uint64_t state = 88172645463325252u;
    std::uint64_t keys[batch];

    for (std::size_t i = 0; i < batches; i++) {
        for (auto &key : keys)
            key = next_random(&state);
        index.insert_batch(keys, batch);
    }
    std::printf("%zu keys\n", index.size());
    std::_Exit(std::fflush(stdout) ? 1 : 0); // taking the tree apart would be as much work again
}

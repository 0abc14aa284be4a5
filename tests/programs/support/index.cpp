#include "index.h"

void Index::insert_batch(const std::uint64_t *keys, std::size_t count)
{
    for (std::size_t i = 0; i < count; i++)
        tree_[keys[i]] = i;
}

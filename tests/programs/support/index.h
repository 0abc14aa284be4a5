// An index of numbers in a balanced tree. A translation unit of its own, as in a larger program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

class Index {
public:
    void insert_batch(const std::uint64_t *keys, std::size_t count);
    std::size_t size() const { return tree_.size(); }

private:
    std::map<std::uint64_t, std::uint64_t> tree_;
};

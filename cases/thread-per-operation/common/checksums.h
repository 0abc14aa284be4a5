// Checksums of the blocks of a file: what the two versions do differently.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

// The checksum of each block of so many bytes of `data`, the last one shorter, calculated beside each other.
extern "C" void checksums(const std::vector<unsigned char> &data, size_t block, std::vector<uint32_t> &sums);

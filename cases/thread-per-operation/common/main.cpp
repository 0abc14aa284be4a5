// Calculates the checksums of a file's blocks, as programs do that transfer only blocks that changed.
#include "checksums.h"
#include <cstdio>

int main()
{
	const size_t size = 80 << 20, block = 4096;
	std::vector<unsigned char> data(size);
	uint32_t state = 1;
	for (unsigned char &byte : data) {
		state = state * 1664525 + 1013904223;
		byte = state >> 24;
	}
	std::vector<uint32_t> sums;
	checksums(data, block, sums);
	uint32_t all = 0;
	for (uint32_t sum : sums)
		all = all * 31 + sum;
	std::printf("%zu blocks, %08x\n", sums.size(), all);
	return 0;
}

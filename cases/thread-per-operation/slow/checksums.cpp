// The slow version: a thread for each block, eight at a time.
#include "checksums.h"
#include <algorithm>
#include <future>
#include <zlib.h>

void checksums(const std::vector<unsigned char> &data, size_t block, std::vector<uint32_t> &sums)
{
	const size_t at_a_time = 8;
	for (size_t from = 0; from < data.size(); from += at_a_time * block) {
		std::vector<std::future<uint32_t>> running;
		const size_t end = std::min(data.size(), from + at_a_time * block);
		for (size_t at = from; at < end; at += block) {
			const size_t size = std::min(block, data.size() - at);
			const unsigned char *bytes = data.data() + at;
			running.push_back(std::async(std::launch::async, [bytes, size] { return uint32_t(crc32(0, bytes, size)); }));
		}
		for (std::future<uint32_t> &one : running)
			sums.push_back(one.get());
	}
}

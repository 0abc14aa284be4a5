// Visitors that were not seen before: searched in a vector, or in a set.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_set>
#include <vector>

class Visitors {
	std::vector<uint64_t> list;
	std::unordered_set<uint64_t> set;

public:
	__attribute__((noinline)) bool isNew(uint64_t visitor, bool fixed)
	{
		if (fixed)
			return set.insert(visitor).second;
		if (std::find(list.begin(), list.end(), visitor) != list.end())
			return false;
		list.push_back(visitor);
		return true;
	}
};

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && std::string(argv[1]) == "fixed";
	Visitors visitors;
	uint64_t state = 7;
	int fresh = 0;
	for (int i = 0; i < 60000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		fresh += visitors.isNew((state >> 40) % 40000, fixed);
	}
	std::printf("%d\n", fresh);
}

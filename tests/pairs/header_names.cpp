// Counts the headers of requests by name without case. `slow` asks a locale about each letter, `fixed` takes them for ASCII.
#include <cstdio>
#include <cstring>
#include <locale>
#include <string>
#include <unordered_map>

static std::string lowered(const std::string &name, bool fixed)
{
	std::string out = name;
	for (char &c : out)
		c = fixed ? (c >= 'A' && c <= 'Z' ? char(c + 32) : c) : std::tolower(c, std::locale());
	return out;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && !strcmp(argv[1], "fixed");
	const std::string names[] = { "Content-Length", "ACCEPT-ENCODING", "If-None-Match", "x-request-id", "User-Agent" };
	std::unordered_map<std::string, long> counts;
	for (int i = 0; i < 500000; i++)
		counts[lowered(names[i % 5], fixed)]++;
	printf("%ld %zu\n", counts["user-agent"], counts.size());
	return 0;
}

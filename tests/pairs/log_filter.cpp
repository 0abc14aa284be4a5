// Looks for dates in the lines of a log. `slow` by std::regex, `fixed` by hand.
#include <cctype>
#include <cstdio>
#include <cstring>
#include <regex>
#include <string>

static bool has_date(const std::string &line)
{
	static const char form[] = "dddd-dd-dd";
	for (size_t at = 0; at + sizeof form <= line.size() + 1; at++) {
		size_t i = 0;
		while (form[i] && (form[i] == 'd' ? isdigit((unsigned char) line[at + i]) : line[at + i] == form[i]))
			i++;
		if (!form[i])
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && !strcmp(argv[1], "fixed");
	std::regex date("[0-9]{4}-[0-9]{2}-[0-9]{2}");
	long found = 0, letters = 0;
	for (int i = 0; i < 60000; i++) {
		std::string line = "host7 service[12]: request " + std::to_string(i) + " served on " + (i % 3 ? "2024-03-01" : "monday");
		for (int k = 0; k < 20; k++)
			for (char c : line)
				letters += c == 'e' + k % 3;
		found += fixed ? has_date(line) : std::regex_search(line, date);
	}
	printf("%ld %ld\n", found, letters);
	return 0;
}

// Reads numbers from lines of text by a stream that is made for each line and each number, or by strtod.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

static const int LINES = 300000;

__attribute__((noinline)) static double number(const std::string &text)
{
	std::istringstream stream(text);
	double value = 0;
	stream >> value;
	return value;
}

__attribute__((noinline)) static double deepest(const std::string &line, bool fixed)
{
	double most = 0;
	if (fixed) {
		const char *at = line.c_str();
		for (char *end; *at; at = end) {
			double value = std::strtod(at, &end);
			if (end == at)
				break;
			most = std::fmax(most, value);
		}
		return most;
	}
	std::istringstream stream(line);
	for (std::string word; stream >> word;)
		most = std::fmax(most, number(word));
	return most;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && std::string(argv[1]) == "fixed";
	std::vector<std::string> lines;
	for (int line = 0; line < LINES; line++) {
		char text[64];
		std::snprintf(text, sizeof text, "%.2f %.3f %.1f", line * 0.37, line * 0.113, line * 0.7);
		lines.push_back(text);
	}
	double sum = 0;
	for (const std::string &line : lines)
		sum += deepest(line, fixed);
	std::printf("%.3f\n", sum);
}

// Finds out the type of each cell of a table by trying one after the other, as importers of CSV files do.
#include "refuse.h"
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace {

template <typename Number> bool number(const std::string &cell, Refusal &refusal, const char *reason)
{
	Number value;
	const char *end = cell.data() + cell.size();
	auto result = std::from_chars(cell.data(), end, value);
	if (result.ec == std::errc() && result.ptr == end)
		return true;
	refuse(refusal, reason);
	return false;
}

bool date(const std::string &cell, Refusal &refusal)
{
	int year, month, day, length = 0;
	if (std::sscanf(cell.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &length) == 3 && length == 10)
		return true;
	refuse(refusal, "no date");
	return false;
}

char type(const std::string &cell, Refusal &refusal)
{
	if (number<int64_t>(cell, refusal, "no whole number"))
		return 'i';
	if (number<double>(cell, refusal, "no number"))
		return 'f';
	return date(cell, refusal) ? 'd' : 't';
}

} // namespace

int main()
{
	const char *texts[] = {"Lisbon", "4711", "3.25", "2026-11-28", "in stock", "17", "n/a", "blue"};
	std::vector<std::string> cells;
	for (int i = 0; i < 200000; i++)
		cells.push_back(texts[(i * 7 + i / 8) % 8]);
	int counts[256] = {};
	Refusal refusal = {};
	for (const std::string &cell : cells)
		counts[(unsigned char)type(cell, refusal)]++;
	std::printf("%d whole numbers, %d numbers, %d dates, %d texts\n", counts['i'], counts['f'], counts['d'], counts['t']);
	return 0;
}

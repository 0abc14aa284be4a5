// Asks for a number and looks whether there was one.
#include "reading.h"
#include <charconv>

double reading(const std::string &cell, double none)
{
	double value;
	auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
	return error == std::errc() ? value : none;
}

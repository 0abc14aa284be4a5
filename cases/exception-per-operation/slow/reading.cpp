// Asks for a number and catches the exception if there is none.
#include "reading.h"
#include <stdexcept>

double reading(const std::string &cell, double none)
{
	try {
		return std::stod(cell);
	} catch (const std::invalid_argument &) {
		return none;
	}
}

// std::endl ends the line and flushes: one write a row.

#include "export.h"

std::ostream &end_row(std::ostream &out)
{
	return out << std::endl;
}

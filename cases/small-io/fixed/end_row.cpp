// The line's end is a byte like others; the stream writes when its buffer is full.

#include "export.h"

std::ostream &end_row(std::ostream &out)
{
	return out << '\n';
}

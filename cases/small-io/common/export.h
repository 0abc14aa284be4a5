// The rows of the export, and how one is ended: where the two programs differ.
#pragma once

#include <ostream>

std::ostream &end_row(std::ostream &out);

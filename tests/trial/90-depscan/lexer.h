#pragma once
#include "filesystem.h"
// Finds the directives of a file; comments and strings do not count.
MinimizedFile minimize(const std::string& text);

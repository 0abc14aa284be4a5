// Reads a cell: what the two versions do differently.
#pragma once
#include <string>

// The number in a cell; `none` if there is no number.
extern "C" double reading(const std::string &cell, double none);

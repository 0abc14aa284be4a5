// Empties the counts of words for the next message: what the two versions do differently.
#pragma once
#include <string>
#include <unordered_map>

using Counts = std::unordered_map<std::string, int>;

extern "C" void forget(Counts &counts);

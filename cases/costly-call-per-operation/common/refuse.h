// Why a value was refused: what the two versions do differently.
#pragma once
#include <string>
#include <vector>

struct Refusal {
	const char *reason;
	std::vector<void *> stack; // where it was refused, for those who look for a mistake
};

extern "C" void refuse(Refusal &refusal, const char *reason);

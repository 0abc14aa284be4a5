// Adds up numbers that it reads from the standard input. `slow` while that is synced with stdio, `fixed` not.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <unistd.h>

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && !strcmp(argv[1], "fixed");
	std::FILE *numbers = std::tmpfile();
	if (!numbers)
		return 1;
	for (long i = 0; i < 1500000; i++)
		fprintf(numbers, "%ld\n", i * 7919 % 1000003);
	rewind(numbers);
	if (dup2(fileno(numbers), 0) < 0)
		return 1;
	if (fixed)
		std::ios::sync_with_stdio(false);
	unsigned long sum = 0;
	for (unsigned long number; std::cin >> number;)
		sum = sum * 31 + number;
	std::cout << sum << std::endl;
	return 0;
}

// Builds a text by making a new string of all so far for each piece, or by appending.
#include <cstdio>
#include <string>

__attribute__((noinline)) static void append(std::string &text, int number, bool fixed)
{
	std::string piece = "/" + std::to_string(number);
	if (fixed)
		text += piece;
	else
		text = text + piece;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && std::string(argv[1]) == "fixed";
	std::string text;
	for (int number = 0; number < 60000; number++)
		append(text, number, fixed);
	std::printf("%zu\n", text.size());
}

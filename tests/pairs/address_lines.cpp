// Checks lines of addresses with a matcher that is put together from parts for each line, as a grammar of functions that return parts. Fixed: once.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

struct part {
	virtual ~part() = default;
	virtual const char *match(const char *at, const char *end) const = 0;
};

struct one_of : part {
	bool in[256] = {};
	explicit one_of(const char *letters)
	{
		for (const char *letter = letters; *letter; letter++)
			in[(unsigned char)*letter] = true;
	}
	const char *match(const char *at, const char *end) const override { return at < end && in[(unsigned char)*at] ? at + 1 : nullptr; }
};

struct many : part {
	std::unique_ptr<part> of;
	explicit many(std::unique_ptr<part> of) : of(std::move(of)) {}
	const char *match(const char *at, const char *end) const override
	{
		while (const char *next = of->match(at, end))
			at = next;
		return at;
	}
};

struct all : part {
	std::vector<std::unique_ptr<part>> of;
	const char *match(const char *at, const char *end) const override
	{
		for (const auto &one : of)
			if (!(at = one->match(at, end)))
				return nullptr;
		return at;
	}
};

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char DIGITS[] = "0123456789";

__attribute__((noinline)) static std::unique_ptr<part> address()
{
	auto whole = std::make_unique<all>();
	for (const char *letters : {LETTERS, " ", DIGITS, ",", " ", DIGITS, " ", LETTERS})
		whole->of.push_back(std::make_unique<many>(std::make_unique<one_of>(letters)));
	return whole;
}

__attribute__((noinline)) static bool is_address(const std::string &line, const part *kept)
{
	std::unique_ptr<part> made;
	if (!kept) {
		made = address();
		kept = made.get();
	}
	const char *end = line.data() + line.size();
	return kept->match(line.data(), end) == end;
}

int main(int argc, char **argv)
{
	std::unique_ptr<part> kept;
	if (argc > 1 && !strcmp(argv[1], "fixed"))
		kept = address();
	unsigned seed = 1, good = 0;
	char line[64];
	for (int number = 0; number < 2700000; number++) {
		seed = seed * 1103515245 + 12345;
		snprintf(line, sizeof line, "Street %u, %05u %s", seed >> 22, seed >> 12 & 0xffff, seed & 0x8000 ? "Town" : "T-Town");
		good += is_address(line, kept.get());
	}
	printf("%u\n", good);
}

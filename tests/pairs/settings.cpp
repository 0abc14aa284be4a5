// Two threads weigh items by shared settings. `slow` passes them as a shared_ptr by value, `fixed` by reference.
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

struct Settings {
	int weights[16];
};

__attribute__((noinline)) static long by_value(std::shared_ptr<Settings> settings, long item)
{
	return settings->weights[item & 15] * (item % 97);
}

__attribute__((noinline)) static long by_reference(const std::shared_ptr<Settings> &settings, long item)
{
	return settings->weights[item & 15] * (item % 97);
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && !strcmp(argv[1], "fixed");
	auto settings = std::make_shared<Settings>();
	for (int i = 0; i < 16; i++)
		settings->weights[i] = i * 3;
	long sums[2] = { 0, 0 };
	auto work = [&settings, &sums, fixed](int which) {
		long sum = 0;
		for (long item = 0; item < 10000000; item++)
			sum += fixed ? by_reference(settings, item) : by_value(settings, item);
		sums[which] = sum;
	};
	std::thread first(work, 0), second(work, 1);
	first.join();
	second.join();
	printf("%ld %ld\n", sums[0], sums[1]);
	return 0;
}

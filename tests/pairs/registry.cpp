// Six threads refresh entries from somewhere far away. `slow` waits for the answers under the registry's lock.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static long total;
static bool fixed;

static int ask(int entry)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(4));
	return entry * 3;
}

static void refresh(int entry)
{
	if (fixed) {
		int answer = ask(entry);
		std::lock_guard<std::mutex> held(lock);
		total += answer;
	} else {
		std::lock_guard<std::mutex> held(lock);
		total += ask(entry);
	}
}

int main(int count, char **arguments)
{
	fixed = count > 1 && !std::strcmp(arguments[1], "fixed");
	std::vector<std::thread> threads;
	for (int thread = 0; thread < 6; thread++)
		threads.emplace_back([thread] {
			for (int i = 0; i < 50; i++)
				refresh(i * 6 + thread);
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("%ld\n", total);
}

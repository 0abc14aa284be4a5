// Receives values from a sensor. `slow` asks without a pause whether there is one, `fixed` sleeps until there is.
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <thread>

static long receive_all(int from, int flags)
{
	char values[64];
	long sum = 0;
	for (;;) {
		ssize_t got = recv(from, values, sizeof(values), flags);
		if (got > 0)
			for (ssize_t i = 0; i < got; i++)
				sum += values[i];
		else if (got == 0)
			return sum;
		else if (errno != EAGAIN)
			return -1;
	}
}

int main(int count, char **arguments)
{
	bool fixed = count > 1 && !std::strcmp(arguments[1], "fixed");
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	std::thread sensor([&] {
		for (char value = 0; value < 60; value++) {
			std::this_thread::sleep_for(std::chrono::milliseconds(10));
			send(ends[1], &value, 1, 0);
		}
		shutdown(ends[1], SHUT_WR);
	});
	std::printf("%ld\n", receive_all(ends[0], fixed ? 0 : MSG_DONTWAIT));
	sensor.join();
}

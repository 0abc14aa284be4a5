// Looks whether the answer is there; if not, sleeps and looks again.

#include "client.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int receive_answer(int socket, void *answer, size_t size)
{
	size_t got = 0;
	while (got < size) {
		ssize_t more = recv(socket, (char *)answer + got, size - got, MSG_DONTWAIT);
		if (more > 0)
			got += more;
		else if (more < 0 && errno == EAGAIN)
			usleep(10000);
		else
			return -1;
	}
	return 0;
}

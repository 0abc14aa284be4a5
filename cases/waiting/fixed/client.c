// Waits in the call until the answer is there.

#include "client.h"

#include <sys/socket.h>

int receive_answer(int socket, void *answer, size_t size)
{
	return recv(socket, answer, size, MSG_WAITALL) == (ssize_t)size ? 0 : -1;
}

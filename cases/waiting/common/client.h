// How the client receives an answer: where the two programs differ.
#pragma once

#include <sys/types.h>

// Receives `size` bytes on a socket. Returns 0, or -1 if the connection failed or ended.
int receive_answer(int socket, void *answer, size_t size);

// A server for cases that need one over TLS: it answers each request with 16 KiB.
#pragma once

// Starts it in a process of its own, on a port of the loopback. Writes its certificate for "127.0.0.1" to `certificate`, in PEM. Returns the port.
int start_tls_server(char *certificate, int size);

// Ends it.
void stop_tls_server(void);

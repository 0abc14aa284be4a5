// A process of its own that serves connections on the loopback, for the servers of the cases.
#pragma once

// Starts it: `serve` is called with each connection, in a thread for each. Returns the port.
int start_on_loopback(void *(*serve)(void *connection));

// Ends it.
void stop_on_loopback(void);

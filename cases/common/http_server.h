// A server for cases that need one: it answers each request after a delay, as one some distance away would.
#pragma once

// Starts it in a process of its own, on a port of the loopback. Answers are "N bytes", N the length of the path that is asked for. To /events/N it
// answers with N lines, each after the delay, and closes the connection. The answer to /blocks/N has N blocks of 16 KiB. Returns the
// port.
int start_server(int delay_us);

// Ends it.
void stop_server(void);

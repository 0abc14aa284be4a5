// The protocol's name is looked up for every packet, before it is known whether anything will be logged.

#include "filter.h"

#include <netdb.h>
#include <stdio.h>

// A protocol's name; getprotobynumber opens, reads and closes /etc/protocols.
static const char *protocol_name(uint8_t protocol)
{
	struct protoent *entry = getprotobynumber(protocol);
	return entry ? entry->p_name : "?";
}

enum verdict check_packet(const struct packet *packet, const struct rule *rules, size_t count, bool logging)
{
	const char *name = protocol_name(packet->protocol);
	enum verdict verdict = first_that_fits(rules, count, packet);
	if (logging)
		fprintf(stderr, "%s %s %u -> %u, %zu bytes\n", verdict == PERMIT ? "permit" : "deny", name,
			packet->source_port, packet->destination_port, packet->length);
	return verdict;
}

// The protocol's name is looked up when it is logged, behind a cache of one entry.
//
// The cache stands here and not around getprotobynumber, because whoever reads the log asks for the same protocol many
// times in a row; and the look-up stands inside of the condition, because without a log nobody asks at all.

#include "filter.h"

#include <netdb.h>
#include <stdio.h>

static const char *protocol_name(uint8_t protocol)
{
	static int cached = -1;
	static char name[32];
	if (cached != protocol) {
		struct protoent *entry = getprotobynumber(protocol);
		snprintf(name, sizeof(name), "%s", entry ? entry->p_name : "?");
		cached = protocol;
	}
	return name;
}

enum verdict check_packet(const struct packet *packet, const struct rule *rules, size_t count, bool logging)
{
	enum verdict verdict = first_that_fits(rules, count, packet);
	if (logging)
		fprintf(stderr, "%s %s %u -> %u, %zu bytes\n", verdict == PERMIT ? "permit" : "deny",
			protocol_name(packet->protocol), packet->source_port, packet->destination_port, packet->length);
	return verdict;
}

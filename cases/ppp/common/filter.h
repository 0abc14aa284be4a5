// A filter list like that of a PPP link, and what is done with a packet.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict { DENY, PERMIT };

// What the filter looks at. Addresses and ports in host order; ports 0 where the protocol has none.
struct packet {
	uint8_t protocol;
	uint32_t source, destination;
	uint16_t source_port, destination_port;
	size_t length;
};

// One rule. 0 stands for any.
struct rule {
	enum verdict verdict;
	uint8_t protocol;
	uint16_t port;
};

// The first rule that fits; with logging on, a line on stderr. The two programs differ in this function only.
enum verdict check_packet(const struct packet *packet, const struct rule *rules, size_t count, bool logging);

// Whether a rule fits.
static inline bool fits(const struct rule *rule, const struct packet *packet)
{
	return (!rule->protocol || rule->protocol == packet->protocol) &&
	       (!rule->port || rule->port == packet->source_port || rule->port == packet->destination_port);
}

static inline enum verdict first_that_fits(const struct rule *rules, size_t count, const struct packet *packet)
{
	for (size_t i = 0; i < count; i++)
		if (fits(&rules[i], packet))
			return rules[i].verdict;
	return DENY;
}

// Reads a capture, passes each packet through a filter list, and prints how many were permitted and a sum over all
// verdicts. usage: PROGRAM [-l] CAPTURE; -l logs each packet.

#include "filter.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ETHERNET = 14, TYPE_IP = 0x0800 };

static const struct rule rules[] = {
	{ DENY, IPPROTO_TCP, 23 }, { DENY, IPPROTO_TCP, 25 }, { PERMIT, IPPROTO_UDP, 53 }, { PERMIT, IPPROTO_TCP, 80 },
	{ PERMIT, IPPROTO_TCP, 443 }, { DENY, IPPROTO_UDP, 0 }, { DENY, IPPROTO_ICMP, 0 }, { DENY, 0, 0 },
};

// Takes an IPv4 packet apart; false for anything else.
static bool parse(const u_char *frame, size_t size, struct packet *packet)
{
	struct iphdr ip;
	if (size < ETHERNET + sizeof(ip) || (frame[12] << 8 | frame[13]) != TYPE_IP)
		return false;
	memcpy(&ip, frame + ETHERNET, sizeof(ip));
	size_t ports = ETHERNET + ip.ihl * 4u;
	*packet = (struct packet){
		.protocol = ip.protocol,
		.source = ntohl(ip.saddr),
		.destination = ntohl(ip.daddr),
		.length = ntohs(ip.tot_len),
	};
	if ((ip.protocol == IPPROTO_TCP || ip.protocol == IPPROTO_UDP) && size >= ports + 4) {
		packet->source_port = frame[ports] << 8 | frame[ports + 1];
		packet->destination_port = frame[ports + 2] << 8 | frame[ports + 3];
	}
	return true;
}

static void filter_capture(pcap_t *capture, bool logging)
{
	struct pcap_pkthdr *header;
	const u_char *frame;
	unsigned long packets = 0, permitted = 0, others = 0;
	uint64_t sum = 0xcbf29ce484222325;
	int got;
	while ((got = pcap_next_ex(capture, &header, &frame)) == 1) {
		struct packet packet;
		if (!parse(frame, header->caplen, &packet)) {
			others++;
			continue;
		}
		enum verdict verdict = check_packet(&packet, rules, sizeof(rules) / sizeof(*rules), logging);
		packets++;
		permitted += verdict == PERMIT;
		sum = (sum ^ (uint64_t)verdict) * 0x100000001b3;
	}
	if (got != PCAP_ERROR_BREAK) {
		fprintf(stderr, "capture: %s\n", pcap_geterr(capture));
		exit(1);
	}
	printf("%lu packets, %lu permitted, %lu not IP, verdicts %016lx\n", packets, permitted, others, (unsigned long)sum);
}

int main(int count, char **arguments)
{
	bool logging = count == 3 && !strcmp(arguments[1], "-l");
	if (count != 2 + logging) {
		fprintf(stderr, "usage: %s [-l] CAPTURE\n", arguments[0]);
		return 2;
	}
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *capture = pcap_open_offline(arguments[1 + logging], error);
	if (!capture) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	if (pcap_datalink(capture) != DLT_EN10MB) {
		fprintf(stderr, "%s: not a capture of Ethernet\n", arguments[1 + logging]);
		return 1;
	}
	filter_capture(capture, logging);
	pcap_close(capture);
	return 0;
}

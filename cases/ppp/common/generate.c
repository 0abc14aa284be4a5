// Writes a capture of generated frames, for those who may not capture: Ethernet, IPv4 with right checksums, and TCP, UDP and
// ICMP in turn with a little chance. usage: generate CAPTURE

#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PACKETS = 120000, ETHERNET = 14, IP = 20, BODY = 64 };

static uint64_t state = 42;

static uint32_t chance(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static void put16(u_char *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

static uint16_t checksum(const u_char *bytes, size_t size)
{
	uint32_t sum = 0;
	for (size_t i = 0; i + 1 < size; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static size_t frame(u_char *bytes, uint32_t number)
{
	static const uint8_t protocols[] = { 6, 6, 17, 1 };
	static const uint16_t tcp[] = { 80, 443, 23, 8080 }, udp[] = { 53, 123 };
	uint8_t protocol = protocols[chance() % 4];
	size_t body = BODY + chance() % 64 * 2;
	memset(bytes, 0, ETHERNET + IP + body);
	put16(bytes + 12, 0x0800);
	u_char *ip = bytes + ETHERNET;
	ip[0] = 0x45;
	put16(ip + 2, IP + body);
	put16(ip + 4, number);
	ip[8] = 64;
	ip[9] = protocol;
	memcpy(ip + 12, (u_char[]){ 10, 99, 0, 1, 10, 99, 0, 2 }, 8);
	put16(ip + 10, checksum(ip, IP));
	u_char *inner = ip + IP;
	if (protocol == 1) {
		inner[0] = 8;
		put16(inner + 6, number);
		put16(inner + 2, checksum(inner, body));
	} else {
		put16(inner, 32768 + chance() % 28000);
		put16(inner + 2, protocol == 6 ? tcp[chance() % 4] : udp[chance() % 2]);
		if (protocol == 6)
			inner[12] = 0x50;
		else
			put16(inner + 4, body);
	}
	return ETHERNET + IP + body;
}

int main(int count, char **arguments)
{
	pcap_t *kind = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *out = count == 2 && kind ? pcap_dump_open(kind, arguments[1]) : NULL;
	if (!out) {
		fprintf(stderr, "generate: %s\n", kind && count == 2 ? pcap_geterr(kind) : "usage: generate CAPTURE");
		return 1;
	}
	for (uint32_t number = 0; number < PACKETS; number++) {
		u_char bytes[ETHERNET + IP + BODY + 128];
		struct pcap_pkthdr header = { .ts = { number / 1000, number % 1000 * 1000 } };
		header.caplen = header.len = frame(bytes, number);
		pcap_dump((u_char *)out, &header, bytes);
	}
	int failed = pcap_dump_flush(out);
	pcap_dump_close(out);
	return failed ? 1 : 0;
}

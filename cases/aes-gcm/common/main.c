// A sender of QUIC packets (RFC 9001, section 5): packets of 1440 bytes (or as many as the second argument says), one after
// another, each protected as it is filled. Prints how many, and a sum over all that would have gone out.

#include "seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 13, PAYLOAD = 1440, PAYLOAD_MAX = 65536 };

static uint64_t sum_of(uint64_t sum, const uint8_t *bytes, size_t length) {
  for (; length >= 8; bytes += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  for (; length; length--) sum = (sum ^ *bytes++) * 0x9e3779b97f4a7c15u;
  return sum;
}

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
  size_t payload = argc > 2 ? strtoull(argv[2], NULL, 10) : PAYLOAD;
  if (payload < 16 || payload > PAYLOAD_MAX) {
    fprintf(stderr, "a packet has 16 to %d bytes\n", PAYLOAD_MAX);
    return 2;
  }
  uint8_t key[KEY], header_key[KEY], iv[NONCE];
  memset(key, 0x42, sizeof key);
  memset(header_key, 0x17, sizeof header_key);
  memset(iv, 0x99, sizeof iv);
  seal_begin(key, header_key);

  static uint8_t packet[HEADER + PAYLOAD_MAX + TAG];
  size_t size = HEADER + payload + TAG;
  uint64_t sum = 0;
  for (uint64_t number = 0; number < count; number++) {
    memset(packet, 7, HEADER);
    packet[0] = 0x40 | (NUMBER - 1);
    packet[HEADER - 2] = (uint8_t)(number >> 8);
    packet[HEADER - 1] = (uint8_t)number;
    memset(packet + HEADER, (int)number, payload);
    uint8_t nonce[NONCE];
    memcpy(nonce, iv, NONCE);
    for (int i = 0; i < 8; i++) nonce[NONCE - 1 - i] ^= (uint8_t)(number >> (8 * i));
    seal_packet(nonce, packet, HEADER, payload);
    // All of a packet now and then, the ends of each.
    size_t from = number % 64 ? HEADER + payload : 0;
    sum = sum_of(sum_of(sum, packet, HEADER), packet + from, size - from);
  }
  seal_end();
  printf("%" PRIu64 " packets, %016" PRIx64 "\n", count, sum);
}

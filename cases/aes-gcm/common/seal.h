// What the two programs do differently: protect a packet.

#ifndef SEAL_H
#define SEAL_H

#include <stddef.h>
#include <stdint.h>

enum { KEY = 16, NONCE = 12, TAG = 16, SAMPLE = 16, NUMBER = 2 };

// Sets up the keys of the packets and of their headers.
void seal_begin(const uint8_t key[KEY], const uint8_t header_key[KEY]);

// Protects a packet in place: `header_length` bytes of header, which ends with a packet number of two bytes, `length` bytes of
// payload, room for the tag.
void seal_packet(const uint8_t nonce[NONCE], uint8_t *packet, size_t header_length, size_t length);

void seal_end(void);

#endif

// Protects packets with one call each, in which all that is not AES fills the gaps of AES.

#include "seal.h"

#include <slowpath_aead.h>
#include <stdio.h>
#include <stdlib.h>

static struct slowpath_aead_key the_key;

static void must(int answer) {
  if (answer != SLOWPATH_AEAD_OK) {
    fputs("slowpath_aead failed\n", stderr);
    exit(1);
  }
}

void seal_begin(const uint8_t key[KEY], const uint8_t header_key[KEY]) {
  must(slowpath_aead_key_init(&the_key, key, KEY, header_key));
}

void seal_packet(const uint8_t nonce[NONCE], uint8_t *packet, size_t header_length, size_t length) {
  uint8_t *text = packet + header_length, mask[SAMPLE];
  must(slowpath_aead_seal_with_mask(&the_key, nonce, packet, header_length, text, length, 4 - NUMBER, text + length, mask));
  packet[0] ^= mask[0] & 0x1f;
  for (int i = 0; i < NUMBER; i++) text[i - NUMBER] ^= mask[1 + i];
}

void seal_end(void) { slowpath_aead_key_wipe(&the_key); }

// The C interface, used as C programs do: what it seals it opens, and what it should refuse it refuses.

#include "slowpath_aead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

// Test case 4 of "The Galois/Counter Mode of Operation" (McGrew, Viega): AES-128, 60 bytes, 20 of associated data.
static const uint8_t key_bytes[16] = {0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t nonce[12] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t aad[20] = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed,
                                0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2};
static const uint8_t plain[60] = {0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26,
                                  0x9a, 0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31,
                                  0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49,
                                  0xa6, 0xb5, 0x25, 0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39};
static const uint8_t expected_tag[16] = {0x5b, 0xc9, 0x4f, 0xbc, 0x32, 0x21, 0xa5, 0xdb, 0x94, 0xfa, 0xe9, 0x5a, 0xe7, 0x12, 0x1a, 0x47};

int main(void) {
  struct slowpath_aead_key key, bare;
  // As a stack may be, so that wiping is seen to reach the last byte.
  memset(&key, 0xa5, sizeof key);
  CHECK(slowpath_aead_key_init(&key, key_bytes, 16, key_bytes) == SLOWPATH_AEAD_OK);
  CHECK(slowpath_aead_key_init(&bare, plain, 32, NULL) == SLOWPATH_AEAD_OK);
  CHECK(slowpath_aead_key_init(&bare, plain, 24, NULL) == SLOWPATH_AEAD_BAD_ARGUMENT);
  CHECK(slowpath_aead_key_init(NULL, plain, 16, NULL) == SLOWPATH_AEAD_BAD_ARGUMENT);

  uint8_t text[60], tag[16], mask[16], other_mask[16];
  memcpy(text, plain, sizeof text);
  CHECK(slowpath_aead_seal(&key, nonce, aad, sizeof aad, text, sizeof text, tag) == SLOWPATH_AEAD_OK);
  CHECK(memcmp(tag, expected_tag, 16) == 0);
  CHECK(slowpath_aead_header_mask(&key, text + 4, other_mask) == SLOWPATH_AEAD_OK);
  CHECK(slowpath_aead_header_mask(&bare, text + 4, other_mask) == SLOWPATH_AEAD_NO_HEADER_PROTECTION_KEY);
  CHECK(slowpath_aead_open(&key, nonce, aad, sizeof aad, text, sizeof text, tag) == SLOWPATH_AEAD_OK);
  CHECK(memcmp(text, plain, sizeof text) == 0);

  CHECK(slowpath_aead_seal_with_mask(&key, nonce, aad, sizeof aad, text, sizeof text, 4, tag, mask) == SLOWPATH_AEAD_OK);
  CHECK(memcmp(mask, other_mask, 16) == 0);
  tag[3] ^= 1;
  CHECK(slowpath_aead_open(&key, nonce, aad, sizeof aad, text, sizeof text, tag) == SLOWPATH_AEAD_UNAUTHENTIC);
  for (size_t i = 0; i < sizeof text; i++) CHECK(text[i] == 0);

  // Nothing at all is a message too; NULL where there should be bytes is none.
  CHECK(slowpath_aead_seal(&key, nonce, NULL, 0, NULL, 0, tag) == SLOWPATH_AEAD_OK);
  CHECK(slowpath_aead_open(&key, nonce, NULL, 0, NULL, 0, tag) == SLOWPATH_AEAD_OK);
  CHECK(slowpath_aead_seal(&key, nonce, NULL, 1, NULL, 0, tag) == SLOWPATH_AEAD_BAD_ARGUMENT);
  CHECK(slowpath_aead_seal(&key, NULL, NULL, 0, NULL, 0, tag) == SLOWPATH_AEAD_BAD_ARGUMENT);
  CHECK(slowpath_aead_seal_with_mask(&key, nonce, aad, 20, text, 60, 61, tag, mask) == SLOWPATH_AEAD_NO_SAMPLE);

  // More packets than go to the kernel at a time.
  enum { COUNT = 37 };
  static uint8_t texts[COUNT][300];
  struct slowpath_aead_packet packets[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    memset(texts[i], (int)i, sizeof texts[i]);
    packets[i] = (struct slowpath_aead_packet){
        .aad = aad, .aad_length = 13, .text = texts[i], .text_length = 20 + 7 * i,
        .sample_at = i % 3 ? i : SLOWPATH_AEAD_NO_SAMPLE_AT};
    packets[i].nonce[11] = (uint8_t)i;
  }
  packets[20].sample_at = 1000;
  CHECK(slowpath_aead_seal_batch(&key, packets, COUNT) == SLOWPATH_AEAD_NO_SAMPLE);
  CHECK(texts[0][0] == 0 && texts[36][0] == 36);
  packets[20].sample_at = 20;
  CHECK(slowpath_aead_seal_batch(&key, packets, COUNT) == SLOWPATH_AEAD_OK);
  for (size_t i = 0; i < COUNT; i++) {
    if (i % 3 && i + 16 <= packets[i].text_length) {
      CHECK(slowpath_aead_header_mask(&key, texts[i] + i, mask) == SLOWPATH_AEAD_OK);
      CHECK(memcmp(mask, packets[i].mask, 16) == 0);
    }
    CHECK(slowpath_aead_open(&key, packets[i].nonce, aad, 13, texts[i], packets[i].text_length, packets[i].tag) ==
          SLOWPATH_AEAD_OK);
    for (size_t k = 0; k < packets[i].text_length; k++) CHECK(texts[i][k] == i);
  }
  CHECK(slowpath_aead_seal_batch(&key, NULL, 0) == SLOWPATH_AEAD_OK);
  CHECK(slowpath_aead_seal_batch(&key, NULL, 1) == SLOWPATH_AEAD_BAD_ARGUMENT);

  slowpath_aead_key_wipe(&key);
  slowpath_aead_key_wipe(&bare);
  slowpath_aead_key_wipe(NULL);
  for (size_t i = 0; i < sizeof key; i++) CHECK(key.opaque[i] == 0);
  puts("ok");
}

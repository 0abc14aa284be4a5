// Run under valgrind by `test-leaks`: key, header protection key and text are marked as undefined, so that memcheck reports every
// branch and every address that depends on them. With the argument `leak` it leaks on purpose, to show that it would be seen.

#include "slowpath_aead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

static void undefined(void *at, size_t length) { (void)VALGRIND_MAKE_MEM_UNDEFINED(at, length); }
static void defined(void *at, size_t length) { (void)VALGRIND_MAKE_MEM_DEFINED(at, length); }

int main(int argc, char **argv) {
  (void)argv;
  static const size_t lengths[] = {0, 1, 15, 16, 17, 64, 100, 112, 113, 240, 256, 1440, 1441, 4096, 5000, 16384};
  static uint8_t text[16384];
  uint8_t aad[77] = {1}, nonce[12] = {2}, tag[16], mask[16];
  for (size_t key_length = 16; key_length <= 32; key_length += 16) {
    uint8_t secret[32], header_secret[32];
    memset(secret, 3, sizeof secret);
    memset(header_secret, 4, sizeof header_secret);
    undefined(secret, sizeof secret);
    undefined(header_secret, sizeof header_secret);
    struct slowpath_aead_key key;
    if (slowpath_aead_key_init(&key, secret, key_length, header_secret) != SLOWPATH_AEAD_OK) abort();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      size_t length = lengths[i];
      undefined(text, length);
      if (slowpath_aead_seal_with_mask(&key, nonce, aad, i * 5, text, length, length / 2, tag, mask) != SLOWPATH_AEAD_OK) abort();
      // The tag goes over the wire; whether it is right is told to all. The text stays marked.
      defined(tag, sizeof tag);
      if (slowpath_aead_open(&key, nonce, aad, i * 5, text, length, tag) != SLOWPATH_AEAD_OK) abort();
      tag[i] ^= 1;
      if (slowpath_aead_open(&key, nonce, aad, i * 5, text, length, tag) != SLOWPATH_AEAD_UNAUTHENTIC) abort();
    }
    struct slowpath_aead_packet packets[3];
    for (size_t i = 0; i < 3; i++)
      packets[i] = (struct slowpath_aead_packet){.aad = aad, .aad_length = 13, .text = text + 5000 * i, .text_length = 20 + 1500 * i,
                                                 .sample_at = 2};
    undefined(text, sizeof text);
    if (slowpath_aead_seal_batch(&key, packets, 3) != SLOWPATH_AEAD_OK) abort();
    if (argc > 1 && text[0] == 7) puts("leaked");
    slowpath_aead_key_wipe(&key);
  }
  puts("ok");
}

// AES-GCM with everything stitched into the gaps of AES: the C interface of the crate slowpath-aead.
//
// Build the libraries with `crates/aead/build-c`. Nothing here allocates, locks or keeps state but the key, which only
// slowpath_aead_key_init and slowpath_aead_key_wipe change: any number of threads may use one key.
// A nonce must never be used twice under one key.

#ifndef SLOWPATH_AEAD_H
#define SLOWPATH_AEAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SLOWPATH_AEAD_OK = 0,
  // A text longer than 2^36 - 32 bytes. Nothing was done.
  SLOWPATH_AEAD_TOO_LONG = 1,
  // The tag is wrong. The text is overwritten with zeros.
  SLOWPATH_AEAD_UNAUTHENTIC = 2,
  // Header protection's sample lies outside of text and tag. Nothing was done.
  SLOWPATH_AEAD_NO_SAMPLE = 3,
  // The key has no header protection key. Nothing was done.
  SLOWPATH_AEAD_NO_HEADER_PROTECTION_KEY = 4,
  // A pointer is NULL, or a key's length is neither 16 nor 32. Nothing was done.
  SLOWPATH_AEAD_BAD_ARGUMENT = 5,
};

enum {
  SLOWPATH_AEAD_NONCE = 12,
  SLOWPATH_AEAD_TAG = 16,
  SLOWPATH_AEAD_MASK = 16,
  SLOWPATH_AEAD_KEY_SIZE = 6912,
  SLOWPATH_AEAD_KEY_ALIGNMENT = 64,
};

// No sample is asked for.
#define SLOWPATH_AEAD_NO_SAMPLE_AT SIZE_MAX

// A key with all that is computed from it once. Aligned to 64 bytes: from aligned_alloc if it is on the heap. Must not be
// copied.
struct slowpath_aead_key {
#ifdef __cplusplus
  alignas(SLOWPATH_AEAD_KEY_ALIGNMENT) unsigned char opaque[SLOWPATH_AEAD_KEY_SIZE];
#else
  _Alignas(SLOWPATH_AEAD_KEY_ALIGNMENT) unsigned char opaque[SLOWPATH_AEAD_KEY_SIZE];
#endif
};

// A message of a batch.
struct slowpath_aead_packet {
  uint8_t nonce[SLOWPATH_AEAD_NONCE];
  const uint8_t *aad;
  size_t aad_length;
  // Encrypted in place.
  uint8_t *text;
  size_t text_length;
  // Where the sample of 16 bytes begins, from the beginning of the text; or SLOWPATH_AEAD_NO_SAMPLE_AT.
  size_t sample_at;
  // Written.
  uint8_t tag[SLOWPATH_AEAD_TAG];
  // Written, if there is a sample.
  uint8_t mask[SLOWPATH_AEAD_MASK];
};

// Sets a key up: `key_length` is 16 (AES-128) or 32 (AES-256). The header protection key is as long, or NULL.
int slowpath_aead_key_init(struct slowpath_aead_key *key, const uint8_t *bytes, size_t key_length,
                           const uint8_t *header_protection_key);

// Overwrites the key with zeros. Using it afterwards is undefined until it is set up again.
void slowpath_aead_key_wipe(struct slowpath_aead_key *key);

// Encrypts `text` in place and writes the tag of 16 bytes. Pointers to nothing may be NULL where the length is 0.
int slowpath_aead_seal(const struct slowpath_aead_key *key, const uint8_t nonce[12], const uint8_t *aad, size_t aad_length,
                       uint8_t *text, size_t text_length, uint8_t tag[16]);

// The same, and writes header protection's mask of the 16 bytes that begin at `sample_at` of text and tag.
int slowpath_aead_seal_with_mask(const struct slowpath_aead_key *key, const uint8_t nonce[12], const uint8_t *aad,
                                 size_t aad_length, uint8_t *text, size_t text_length, size_t sample_at, uint8_t tag[16],
                                 uint8_t mask[16]);

// Seals several messages; faster than one at a time. If one cannot be sealed, none is.
int slowpath_aead_seal_batch(const struct slowpath_aead_key *key, struct slowpath_aead_packet *packets, size_t count);

// Decrypts `text` in place if the tag is right.
int slowpath_aead_open(const struct slowpath_aead_key *key, const uint8_t nonce[12], const uint8_t *aad, size_t aad_length,
                       uint8_t *text, size_t text_length, const uint8_t tag[16]);

// Header protection's mask of a sample of a packet that has come in.
int slowpath_aead_header_mask(const struct slowpath_aead_key *key, const uint8_t sample[16], uint8_t mask[16]);

#ifdef __cplusplus
}
#endif

#endif

// Protects packets through OpenSSL's EVP interface: contexts are kept, and each packet has five calls for the text and one for
// the header.

#include "seal.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

static EVP_CIPHER_CTX *text_context, *header_context;

static void must(int done) {
  if (done != 1) {
    fputs("OpenSSL failed\n", stderr);
    exit(1);
  }
}

void seal_begin(const uint8_t key[KEY], const uint8_t header_key[KEY]) {
  text_context = EVP_CIPHER_CTX_new();
  header_context = EVP_CIPHER_CTX_new();
  must(text_context && header_context);
  must(EVP_EncryptInit_ex(text_context, EVP_aes_128_gcm(), NULL, key, NULL));
  must(EVP_EncryptInit_ex(header_context, EVP_aes_128_ecb(), NULL, header_key, NULL));
}

void seal_packet(const uint8_t nonce[NONCE], uint8_t *packet, size_t header_length, size_t length) {
  uint8_t *text = packet + header_length, mask[SAMPLE];
  int done;
  must(EVP_EncryptInit_ex(text_context, NULL, NULL, NULL, nonce));
  must(EVP_EncryptUpdate(text_context, NULL, &done, packet, (int)header_length));
  must(EVP_EncryptUpdate(text_context, text, &done, text, (int)length));
  must(EVP_EncryptFinal_ex(text_context, text + length, &done));
  must(EVP_CIPHER_CTX_ctrl(text_context, EVP_CTRL_AEAD_GET_TAG, TAG, text + length));

  must(EVP_EncryptUpdate(header_context, mask, &done, text + 4 - NUMBER, SAMPLE));
  packet[0] ^= mask[0] & 0x1f;
  for (int i = 0; i < NUMBER; i++) text[i - NUMBER] ^= mask[1 + i];
}

void seal_end(void) {
  EVP_CIPHER_CTX_free(text_context);
  EVP_CIPHER_CTX_free(header_context);
}

// The peers written in C, each as its documentation says to use it for many messages under one key: set up once, then a nonce
// and a message a call. All work in place. The associated data is 13 bytes; the tag follows the text.

#include <intel-ipsec-mb.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { AAD = 13, TAG = 16 };

struct evp {
  EVP_CIPHER_CTX *seal, *open, *header;
};

struct evp *evp_new(const uint8_t *key, const uint8_t *header_key) {
  struct evp *evp = malloc(sizeof *evp);
  if (!evp) abort();
  evp->seal = EVP_CIPHER_CTX_new();
  evp->open = EVP_CIPHER_CTX_new();
  evp->header = EVP_CIPHER_CTX_new();
  if (EVP_EncryptInit_ex(evp->seal, EVP_aes_128_gcm(), NULL, key, NULL) != 1 ||
      EVP_DecryptInit_ex(evp->open, EVP_aes_128_gcm(), NULL, key, NULL) != 1 ||
      EVP_EncryptInit_ex(evp->header, EVP_aes_128_ecb(), NULL, header_key, NULL) != 1)
    abort();
  return evp;
}

void evp_seal(struct evp *evp, const uint8_t *nonce, const uint8_t *aad, uint8_t *text, size_t length) {
  int done;
  EVP_EncryptInit_ex(evp->seal, NULL, NULL, NULL, nonce);
  EVP_EncryptUpdate(evp->seal, NULL, &done, aad, AAD);
  EVP_EncryptUpdate(evp->seal, text, &done, text, (int)length);
  EVP_EncryptFinal_ex(evp->seal, text + length, &done);
  EVP_CIPHER_CTX_ctrl(evp->seal, EVP_CTRL_AEAD_GET_TAG, TAG, text + length);
}

int evp_open(struct evp *evp, const uint8_t *nonce, const uint8_t *aad, uint8_t *text, size_t length) {
  int done;
  EVP_DecryptInit_ex(evp->open, NULL, NULL, NULL, nonce);
  EVP_DecryptUpdate(evp->open, NULL, &done, aad, AAD);
  EVP_DecryptUpdate(evp->open, text, &done, text, (int)length);
  EVP_CIPHER_CTX_ctrl(evp->open, EVP_CTRL_AEAD_SET_TAG, TAG, text + length);
  return EVP_DecryptFinal_ex(evp->open, text + length, &done) == 1;
}

void evp_mask(struct evp *evp, const uint8_t *sample, uint8_t *mask) {
  int done;
  EVP_EncryptUpdate(evp->header, mask, &done, sample, 16);
}

struct multi_buffer {
  IMB_MGR *manager;
  struct gcm_key_data key __attribute__((aligned(64)));
  struct gcm_context_data context;
  uint8_t header_rounds[16 * 11] __attribute__((aligned(64)));
};

// With `widest`, the code for the best instructions of this machine, VAES among them; without, that for AES-NI and AVX2.
struct multi_buffer *multi_buffer_new(const uint8_t *key, const uint8_t *header_key, int widest) {
  struct multi_buffer *all = aligned_alloc(64, (sizeof *all + 63) / 64 * 64);
  uint8_t unused[16 * 11] __attribute__((aligned(64)));
  if (!all || !(all->manager = alloc_mb_mgr(0))) abort();
  if (widest)
    init_mb_mgr_auto(all->manager, NULL);
  else
    init_mb_mgr_avx2(all->manager);
  IMB_AES128_GCM_PRE(all->manager, key, &all->key);
  IMB_AES_KEYEXP_128(all->manager, header_key, all->header_rounds, unused);
  return all;
}

void multi_buffer_seal(struct multi_buffer *all, const uint8_t *nonce, const uint8_t *aad, uint8_t *text, size_t length) {
  IMB_AES128_GCM_ENC(all->manager, &all->key, &all->context, text, text, length, nonce, aad, AAD, text + length, TAG);
}

int multi_buffer_open(struct multi_buffer *all, const uint8_t *nonce, const uint8_t *aad, uint8_t *text, size_t length) {
  uint8_t tag[TAG];
  IMB_AES128_GCM_DEC(all->manager, &all->key, &all->context, text, text, length, nonce, aad, AAD, tag, TAG);
  return sodium_memcmp(tag, text + length, TAG) == 0;
}

// The one block of CFB whose text is zero is the encrypted initialization vector.
void multi_buffer_mask(struct multi_buffer *all, const uint8_t *sample, uint8_t *mask) {
  static const uint8_t zeros[16];
  IMB_AES128_CFB_ONE(all->manager, mask, zeros, sample, all->header_rounds, 16);
}

// libsodium has AES-256 alone.
crypto_aead_aes256gcm_state *sodium_new(const uint8_t *key) {
  crypto_aead_aes256gcm_state *state = aligned_alloc(64, (sizeof *state + 63) / 64 * 64);
  if (!state || sodium_init() < 0 || !crypto_aead_aes256gcm_is_available()) abort();
  crypto_aead_aes256gcm_beforenm(state, key);
  return state;
}

void sodium_seal(const crypto_aead_aes256gcm_state *state, const uint8_t *nonce, const uint8_t *aad, uint8_t *text,
                 size_t length) {
  crypto_aead_aes256gcm_encrypt_detached_afternm(text, text + length, NULL, text, length, aad, AAD, NULL, nonce, state);
}

int sodium_open(const crypto_aead_aes256gcm_state *state, const uint8_t *nonce, const uint8_t *aad, uint8_t *text,
                size_t length) {
  return crypto_aead_aes256gcm_decrypt_detached_afternm(text, NULL, text, length, text + length, aad, AAD, nonce,
                                                        state) == 0;
}

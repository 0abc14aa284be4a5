// Signatures by libsodium, in the process, with keys that are read once.

#include "database.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char public_keys[KEYS][crypto_sign_PUBLICKEYBYTES];
static unsigned char secret_keys[KEYS][crypto_sign_SECRETKEYBYTES];

void open_keys(void)
{
	if (sodium_init() < 0) {
		fprintf(stderr, "libsodium does not start\n");
		exit(1);
	}
	for (int key = 0; key < KEYS; key++)
		crypto_sign_keypair(public_keys[key], secret_keys[key]);
}

void close_keys(void)
{
	sodium_memzero(secret_keys, sizeof(secret_keys));
}

bool sign_update(const struct update *update, enum key key, struct signature *signature)
{
	unsigned long long size = 0;
	int failed = crypto_sign_detached(signature->bytes, &size, (const unsigned char *)update->text, update->size,
					  secret_keys[key]);
	signature->size = size;
	return !failed;
}

bool verify_update(const struct update *update, enum key key, const struct signature *signature)
{
	return !crypto_sign_verify_detached(signature->bytes, (const unsigned char *)update->text, update->size, public_keys[key]);
}

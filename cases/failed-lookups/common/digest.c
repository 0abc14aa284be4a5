// The library that the tool needs: the SHA-256 of a file, by GnuTLS.

#include "digest.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>

enum { ROUNDS = 14 };

int digest_file(const char *path, unsigned char digest[DIGEST_BYTES])
{
	static unsigned char bytes[1 << 20];
	FILE *file = fopen(path, "rb");
	if (!file)
		return -1;
	size_t size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	for (int round = 0; round < ROUNDS; round++)
		if (gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, size, digest))
			return -1;
	return 0;
}

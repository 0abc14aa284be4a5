#pragma once

enum { DIGEST_BYTES = 32 };

// The SHA-256 of a file of up to 1 MiB. Returns 0, or -1 if it cannot be read.
int digest_file(const char *path, unsigned char digest[DIGEST_BYTES]);

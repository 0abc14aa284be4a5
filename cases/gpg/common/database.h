// A small key-value database whose updates are signed.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { UPDATES = 200, LINE_MAX_BYTES = 256, SIGNATURE_MAX = 1024 };

// An update as it is signed: ordered lines of caller, action, field and value.
struct update {
	char text[4 * LINE_MAX_BYTES];
	size_t size;
};

struct signature {
	unsigned char bytes[SIGNATURE_MAX];
	size_t size;
};

// The keys that updates are signed with, by turns.
enum key { RSA, ED25519, KEYS };

// How the two programs differ. open_keys ends the program if there are none.
void open_keys(void);
void close_keys(void);
bool sign_update(const struct update *update, enum key key, struct signature *signature);
bool verify_update(const struct update *update, enum key key, const struct signature *signature);

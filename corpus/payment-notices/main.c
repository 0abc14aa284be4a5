/* Verifies the notices of a payment service. Usage: program FILE
   A line of FILE has a shop, the hash of the notice, the key of the shop and the signature, the last three in hexadecimal. */
#include <secp256k1.h>
#include <secp256k1_preallocated.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int from_hex(const char *text, unsigned char *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) {
        unsigned value;
        if (sscanf(text + 2 * index, "%2x", &value) != 1) return 0;
        bytes[index] = (unsigned char)value;
    }
    return 1;
}

/* 1 if the signature is good, 0 if not, -1 if the notice cannot be read. */
static int is_valid(const char *hash, const char *key, const char *signature) {
    unsigned char hash_bytes[32], key_bytes[33], signature_bytes[64];
    if (!from_hex(hash, hash_bytes, 32) || !from_hex(key, key_bytes, 33) || !from_hex(signature, signature_bytes, 64)) return -1;
    void *memory = malloc(secp256k1_context_preallocated_size(SECP256K1_CONTEXT_VERIFY));
    if (memory == NULL) return -1;
    secp256k1_context *context = secp256k1_context_preallocated_create(memory, SECP256K1_CONTEXT_VERIFY);
    secp256k1_pubkey public_key;
    secp256k1_ecdsa_signature parsed;
    int result = -1;
    if (secp256k1_ec_pubkey_parse(context, &public_key, key_bytes, sizeof key_bytes)
        && secp256k1_ecdsa_signature_parse_compact(context, &parsed, signature_bytes))
        result = secp256k1_ecdsa_verify(context, &parsed, hash_bytes, &public_key);
    secp256k1_context_preallocated_destroy(context);
    free(memory);
    return result;
}

int main(int argc, char **argv) {
    char shop[64], hash[65], key[67], signature[129];
    int good = 0, bad = 0, unreadable = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) return 2;
    while (fscanf(file, "%63s %64s %66s %128s", shop, hash, key, signature) == 4) {
        int result = is_valid(hash, key, signature);
        if (result == 1) good++;
        else if (result == 0) bad++;
        else unreadable++;
        if (result != 1) printf("%s: %.8s is %s\n", shop, hash, result == 0 ? "forged" : "unreadable");
    }
    fclose(file);
    printf("%d good, %d forged, %d unreadable\n", good, bad, unreadable);
    return 0;
}

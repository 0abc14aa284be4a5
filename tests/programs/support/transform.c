#include "transform.h"

void transform(unsigned char *block, size_t size, unsigned rounds)
{
    uint32_t carry = 1;
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < size; i++) {
            carry = carry * 69069 + block[i];
            block[i] ^= (unsigned char)(carry >> 24);
        }
    }
}

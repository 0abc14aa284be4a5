// Twelve documents, each rendered as a whole after every section. Expect: superlinear-work in document_append.

#include "support/document.h"
#include "support/program.h"

#include <stdio.h>

enum { DOCUMENTS = 12 };

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    for (uint32_t number = 0; number < DOCUMENTS; number++)
        sum += document_write(number, scaled(300, argc, argv));
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}

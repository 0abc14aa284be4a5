#include "digest.h"
#include "document.h"

#include <stdlib.h>

enum { DRAFTS = 20 };

uint64_t document_write(uint32_t number, size_t sections)
{
    unsigned char section[SECTION_SIZE];
    struct document document = {0};
    for (size_t i = 0; i < sections; i++) {
        // As much work for each section.
        for (int draft = 0; draft < DRAFTS; draft++)
            fill(section, sizeof(section), ((number * sections + i) * DRAFTS + draft) * 2 + 1);
        document_append(&document, section);
    }
    free(document.text);
    return document.rendered;
}

// A document of sections, and what it looks like.
#ifndef SUPPORT_DOCUMENT_H
#define SUPPORT_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>

enum { SECTION_SIZE = 4096 };

struct document {
    unsigned char *text;
    size_t sections, room;
    uint64_t rendered;
};

// Adds a section, and renders all sections anew.
void document_append(struct document *document, const unsigned char section[SECTION_SIZE]);

// Writes a document of so many sections and says what it looks like.
uint64_t document_write(uint32_t number, size_t sections);

#endif

#include "document.h"

#include "digest.h"
#include "program.h"

#include <string.h>

void document_append(struct document *document, const unsigned char section[SECTION_SIZE])
{
    if (document->sections == document->room) {
        document->room = 2 * document->room + 16;
        document->text = realloc(document->text, document->room * SECTION_SIZE);
        if (!document->text)
            die("realloc");
    }
    memcpy(document->text + document->sections++ * SECTION_SIZE, section, SECTION_SIZE);
    document->rendered = 0;
    for (size_t i = 0; i < document->sections; i++)
        document->rendered += digest(document->text + i * SECTION_SIZE, SECTION_SIZE) ^ i;
}

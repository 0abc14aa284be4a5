/* Lists the pictures of HTML letters, parsed while they are read. Usage: program FILE... */
#include <libxml/HTMLparser.h>
#include <libxml/tree.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 1024 };

static void list_pictures(xmlNode *node) {
    for (; node != NULL; node = node->next) {
        if (node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, "img") == 0) {
            xmlChar *source = xmlGetProp(node, BAD_CAST "src");
            xmlChar *title = xmlGetProp(node, BAD_CAST "alt");
            printf("%s: %zu bytes\n", title != NULL ? (const char *)title : "untitled", source != NULL ? strlen((const char *)source) : 0);
            xmlFree(source);
            xmlFree(title);
        }
        list_pictures(node->children);
    }
}

static int read_letter(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return -1;
    }
    char chunk[CHUNK];
    htmlParserCtxtPtr parser = htmlCreatePushParserCtxt(NULL, NULL, NULL, 0, path, XML_CHAR_ENCODING_UTF8);
    htmlCtxtUseOptions(parser, HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
    for (size_t length; (length = fread(chunk, 1, sizeof chunk, file)) > 0;) htmlParseChunk(parser, chunk, (int)length, 0);
    htmlParseChunk(parser, chunk, 0, 1);
    fclose(file);
    list_pictures(xmlDocGetRootElement(parser->myDoc));
    xmlFreeDoc(parser->myDoc);
    htmlFreeParserCtxt(parser);
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int file = 1; file < argc; file++) failed |= read_letter(argv[file]) != 0;
    xmlCleanupParser();
    return failed;
}

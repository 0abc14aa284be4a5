/* Validates XML files against a schema and says how many elements each has. Usage: program SCHEMA FILE... */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlschemas.h>
#include <stdio.h>

static long count_elements(const xmlNode *node) {
    long elements = 0;
    for (; node != NULL; node = node->next) {
        if (node->type == XML_ELEMENT_NODE) elements += 1 + count_elements(node->children);
    }
    return elements;
}

static int validate(xmlSchemaPtr schema, const char *path) {
    xmlDocPtr document = xmlReadFile(path, NULL, XML_PARSE_NONET);
    if (document == NULL) return -1;
    xmlSchemaValidCtxtPtr context = xmlSchemaNewValidCtxt(schema);
    int result = context == NULL ? -1 : xmlSchemaValidateDoc(context, document);
    printf("%s: %ld elements, %s\n", path, count_elements(document->children), result == 0 ? "valid" : "not valid");
    xmlSchemaFreeValidCtxt(context);
    xmlFreeDoc(document);
    return result;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s SCHEMA FILE...\n", argv[0]);
        return 2;
    }
    xmlSchemaParserCtxtPtr parser = xmlSchemaNewParserCtxt(argv[1]);
    xmlSchemaPtr schema = parser == NULL ? NULL : xmlSchemaParse(parser);
    xmlSchemaFreeParserCtxt(parser);
    if (schema == NULL) {
        fprintf(stderr, "%s: not a schema\n", argv[1]);
        return 2;
    }
    int failed = 0;
    for (int file = 2; file < argc; file++) failed |= validate(schema, argv[file]) != 0;
    xmlSchemaFree(schema);
    xmlCleanupParser();
    return failed;
}

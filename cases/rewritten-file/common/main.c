// Imports contacts from lines such as those of a spreadsheet into a new address book, reads it back, and prints what is in it.
#include "book.h"
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTACTS = 1500 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

// A line of the spreadsheet: name, phone and mail, between semicolons.
static void row(int number, char *line, size_t size)
{
	static const char *const names[] = { "Adeyemi", "Bauer", "Chen", "Dubois", "Eriksen", "Fischer", "Garcia" };
	snprintf(line, size, "%s %d;+49 30 %07d;%c.%d@example.org", names[number % 7], number, number * 7919 % 10000000,
		 names[number % 7][0], number);
}

static int import(struct book *book)
{
	int imported = 0;
	for (int i = 0; i < CONTACTS; i++) {
		char line[128];
		row(i, line, sizeof(line));
		char *rest = line;
		const char *name = strsep(&rest, ";"), *phone = strsep(&rest, ";");
		if (!phone || !rest)
			continue;
		if (!add_contact(book, name, phone, rest))
			fail(book->path);
		imported++;
	}
	return imported;
}

int main(void)
{
	char path[] = "/tmp/addresses.XXXXXX";
	int descriptor = mkstemp(path);
	if (descriptor < 0)
		fail(path);
	close(descriptor);
	struct book book = { path, xmlNewDoc(BAD_CAST "1.0") };
	xmlDocSetRootElement(book.document, xmlNewNode(NULL, BAD_CAST "addresses"));
	int imported = import(&book);
	if (!close_book(&book))
		fail(path);
	xmlFreeDoc(book.document);

	xmlDoc *read = xmlReadFile(path, NULL, XML_PARSE_NONET);
	if (!read)
		fail(path);
	printf("%d imported, %lu in the book\n", imported, xmlChildElementCount(xmlDocGetRootElement(read)));
	xmlFreeDoc(read);
	unlink(path);
	return 0;
}

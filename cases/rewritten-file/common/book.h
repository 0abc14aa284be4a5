// An address book: a document that is kept in a file.
#pragma once
#include <libxml/tree.h>

struct book {
	const char *path;
	xmlDoc *document;
};

// Adds a contact. False if it cannot be kept.
_Bool add_contact(struct book *book, const char *name, const char *phone, const char *mail);

// Brings the book into its file. False if that fails.
_Bool close_book(struct book *book);

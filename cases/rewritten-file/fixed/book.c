// Saves the book when it is closed.
#include "book.h"
#include <libxml/xmlsave.h>

static _Bool save(struct book *book)
{
	return xmlSaveFormatFileEnc(book->path, book->document, "UTF-8", 1) >= 0;
}

_Bool add_contact(struct book *book, const char *name, const char *phone, const char *mail)
{
	xmlNode *contact = xmlNewChild(xmlDocGetRootElement(book->document), NULL, BAD_CAST "contact", NULL);
	xmlNewTextChild(contact, NULL, BAD_CAST "name", BAD_CAST name);
	xmlNewTextChild(contact, NULL, BAD_CAST "phone", BAD_CAST phone);
	xmlNewTextChild(contact, NULL, BAD_CAST "mail", BAD_CAST mail);
	return 1;
}

_Bool close_book(struct book *book)
{
	return save(book);
}

// A growing page of text. append_line looks for the page's end from its beginning.
#ifndef SUPPORT_PAGE_H
#define SUPPORT_PAGE_H

void append_line(char *page, const char *line);

#endif

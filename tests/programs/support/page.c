#include "page.h"

#include <string.h>

void append_line(char *page, const char *line)
{
    strcat(page, line);
    strcat(page, "\n");
}

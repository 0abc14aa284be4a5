#ifndef LIBRARY_H
#define LIBRARY_H
#include "model.h"
#include <sqlite3.h>

struct library { sqlite3 *db; };

int library_open(struct library *lib, const char *path);
void library_close(struct library *lib);
/* All items that match the SQL condition, with their attributes and albums. */
int library_items(struct library *lib, const char *where, struct results *out);
#endif

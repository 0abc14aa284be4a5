// As in_library.c, but the library is opened while the program runs. Expect: superlinear-work in unique_add of libunique.so.

#include "../support/program.h"
#include "../support/record.h"
#include "unique.h"

#include <dlfcn.h>
#include <stdio.h>

// ISO C has no cast from an object pointer to a function's; POSIX wants it to work this way.
static void find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)function = symbol;
}

int main(int argc, char **argv)
{
    size_t count = scaled(34000, argc, argv);
    char line[RECORD_LINE_MAX];
    struct record record = {0}; // all of it is the key, with the zeros after the name
    void *library = dlopen("libunique.so", RTLD_NOW); // found by the run path: beside the program
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    __typeof__(&unique_new) new_unique;
    __typeof__(&unique_add) add;
    __typeof__(&unique_count) get_count;
    __typeof__(&unique_free) free_unique;
    find(library, "unique_new", &new_unique);
    find(library, "unique_add", &add);
    find(library, "unique_count", &get_count);
    find(library, "unique_free", &free_unique);

    struct unique *unique = new_unique(sizeof(record));
    if (!unique)
        die("unique_new");

    for (size_t i = 0; i < count; i++) {
        write_record(line, (uint32_t)i);
        parse_record(line, &record);
        add(unique, &record);
    }
    printf("%zu keys\n", get_count(unique));
    free_unique(unique);
    // Symbols must be found although the library is gone by the end of the run.
    dlclose(library);
    return 0;
}

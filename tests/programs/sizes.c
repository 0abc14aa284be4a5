// Parts of a file, sorted by size, each read and then processed. Expect: nothing.
// Both take longer each time, in the same way: the input grows, not the work on it.

#include "support/digest.h"
#include "support/program.h"
#include "support/transform.h"

#include <stdio.h>
#include <unistd.h>

enum { STEP = 80 };

static FILE *make_file(size_t size)
{
    FILE *file = tmpfile();
    if (!file)
        die("tmpfile");
    unsigned char block[4096];
    fill(block, sizeof(block), 1);
    for (size_t at = 0; at < size; at += sizeof(block)) {
        if (fwrite(block, 1, sizeof(block), file) != sizeof(block))
            die("write");
    }
    if (fflush(file) != 0)
        die("write");
    return file;
}

int main(int argc, char **argv)
{
    size_t items = scaled(6500, argc, argv);
    unsigned char *item = allocate(items, STEP);
    FILE *file = make_file(items * STEP);
    uint64_t sum = 0;

    for (size_t i = 1; i <= items; i++) {
        size_t size = i * STEP;
        if (pread(fileno(file), item, size, 0) != (ssize_t)size)
            die("read");
        transform(item, size, 1);
        sum += item[size - 1];
    }
    printf("%016llx\n", (unsigned long long)sum);
    fclose(file);
    free(item);
    return 0;
}

/* imgpack LIST: lays out the image from the list of files, compresses the names by common prefixes, prints a summary. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint64_t layout(char **names, int count, unsigned long *size)
{
    uint64_t digest = 14695981039346656037ull;
    const char *last = "";
    *size = 0;
    for (int i = 0; i < count; i++) {
        int common = 0;
        while (last[common] && last[common] == names[i][common]) common++;
        *size += 2 + strlen(names[i] + common);
        digest = (digest ^ (uint64_t)common) * 1099511628211ull;
        for (const char *p = names[i] + common; *p; p++) digest = (digest ^ (uint8_t)*p) * 1099511628211ull;
        last = names[i];
    }
    return digest;
}

int main(int argc, char **argv)
{
    char line[512], **names = NULL;
    int count = 0, room = 0;
    unsigned long size;
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!f) return 2;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (count == room) names = realloc(names, (room = room ? room * 2 : 256) * sizeof *names);
        names[count++] = strdup(line);
    }
    fclose(f);
    qsort(names, count, sizeof *names, by_name);
    uint64_t d = layout(names, count, &size);
    printf("image: %d modules, table %lu bytes, digest %016llx\n", count, size, (unsigned long long)d);
    for (int i = 0; i < count; i += count / 6 + 1) printf("  %s\n", names[i]);
    return 0;
}

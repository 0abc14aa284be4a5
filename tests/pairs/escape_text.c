// Writes a text with its special characters escaped, into a buffer that grows. The slow version formats each letter, the fixed one stores it.

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 400000, LINE = 120 };

struct buffer {
    char *bytes;
    size_t count, room;
};

static void make_room(struct buffer *out, size_t more)
{
    if (out->count + more <= out->room)
        return;
    out->room = 2 * (out->count + more);
    out->bytes = realloc(out->bytes, out->room);
    if (!out->bytes)
        exit(1);
}

__attribute__((format(printf, 2, 3))) static void print(struct buffer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    make_room(out, 32);
    int length = vsnprintf(out->bytes + out->count, 32, format, arguments);
    va_end(arguments);
    out->count += (size_t)length;
}

static void print_letter(struct buffer *out, char letter)
{
    make_room(out, 1);
    out->bytes[out->count++] = letter;
}

static void escape(struct buffer *out, const char *text, int fixed)
{
    for (; *text; text++) {
        if (*text == '&')
            print(out, "%s", "&amp;");
        else if (*text == '<')
            print(out, "%s", "&lt;");
        else if (fixed)
            print_letter(out, *text);
        else
            print(out, "%c", *text);
    }
}

int main(int argc, char **argv)
{
    int fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    struct buffer out = {NULL, 0, 0};
    size_t bytes = 0;
    uint32_t state = 1;
    for (int number = 0; number < LINES; number++) {
        char line[LINE + 1];
        for (int at = 0; at < LINE; at++) {
            state = state * 1664525u + 1013904223u;
            line[at] = (char)(' ' + (state >> 24) % 90);
        }
        line[LINE] = 0;
        out.count = 0;
        escape(&out, line, fixed);
        bytes += out.count;
    }
    printf("%zu bytes\n", bytes);
    free(out.bytes);
    return 0;
}

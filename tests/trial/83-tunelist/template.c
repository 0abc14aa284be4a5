#include "template.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *field(const struct item *it, const char *name, char *tmp, size_t size)
{
    const char *flex;
    if (!strcmp(name, "title")) return it->title;
    if (!strcmp(name, "artist")) return it->artist;
    if (!strcmp(name, "format")) return it->format;
    if (!strcmp(name, "path")) return it->path;
    if (!strcmp(name, "track")) snprintf(tmp, size, "%02d", it->track);
    else if (!strcmp(name, "length")) snprintf(tmp, size, "%d:%02d", (int)it->length / 60, (int)it->length % 60);
    else if (!strcmp(name, "bitrate")) snprintf(tmp, size, "%dkbps", it->bitrate / 1000);
    else if (it->album && !strcmp(name, "year")) snprintf(tmp, size, "%04d", it->album->year);
    else if (it->album && !strcmp(name, "album")) return it->album->album;
    else if (it->album && !strcmp(name, "albumartist")) return it->album->albumartist;
    else if (it->album && !strcmp(name, "genre")) return it->album->genre;
    else if ((flex = attrs_get(&it->flex, name))) return flex;
    else if (it->album && (flex = attrs_get(&it->album->flex, name))) return flex;
    else return "-";
    return tmp;
}

void template_expand(const char *format, const struct item *it, char *out, size_t size)
{
    size_t n = 0;
    while (*format && n + 1 < size) {
        if (*format != '$') {
            out[n++] = *format++;
            continue;
        }
        char name[40], tmp[40];
        size_t k = 0;
        int brace = *++format == '{';
        format += brace;
        while ((isalnum((unsigned char)*format) || *format == '_') && k + 1 < sizeof name)
            name[k++] = *format++;
        name[k] = 0;
        if (brace && *format == '}')
            format++;
        n += snprintf(out + n, size - n, "%s", field(it, name, tmp, sizeof tmp));
    }
    out[n < size ? n : size - 1] = 0;
}

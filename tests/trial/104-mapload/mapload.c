/* Loads the sheets of a map project (XML with layers of paths and an embedded raster), and prints a summary:
   layers, lengths of the paths by class, a checksum of the raster. */
#include <expat.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLASSES 32
#define MAX_LAYERS 64
#define READ_SIZE 4096

typedef struct {
    char name[32];
    int paths;
    double length;
} PathClass;

typedef struct {
    char id[16], name[32];
    int paths;
    char note[128];
    int note_len;
} Layer;

typedef struct {
    char name[64], scale[32];
    PathClass classes[MAX_CLASSES];
    int class_count;
    Layer layers[MAX_LAYERS];
    int layer_count;
    int in_note, depth, max_depth;
    uint8_t *raster;
    size_t raster_size;
    int raster_w, raster_h;
} Project;

static const char *attr(const XML_Char **a, const char *name)
{
    for (; *a; a += 2)
        if (!strcmp(a[0], name)) return a[1];
    return "";
}

static PathClass *find_class(Project *p, const char *name)
{
    for (int i = 0; i < p->class_count; i++)
        if (!strcmp(p->classes[i].name, name)) return &p->classes[i];
    if (p->class_count == MAX_CLASSES) return &p->classes[0];
    PathClass *c = &p->classes[p->class_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

static double path_length(const char *d)
{
    double len = 0, px = 0, py = 0;
    int first = 1;
    while (*d) {
        char *end;
        double x = strtol(d, &end, 10), y;
        if (*end != ',') break;
        y = strtol(end + 1, &end, 10);
        if (!first) len += hypot(x - px, y - py);
        first = 0;
        px = x;
        py = y;
        d = end;
        while (*d == ' ') d++;
    }
    return len;
}

static int8_t b64_value[256];

static void b64_init(void)
{
    const char *set = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    memset(b64_value, -1, sizeof b64_value);
    for (int i = 0; i < 64; i++) b64_value[(uint8_t)set[i]] = (int8_t)i;
}

static size_t b64_decode(const char *s, uint8_t *out)
{
    uint32_t acc = 0;
    int bits = 0;
    size_t n = 0;
    for (; *s && *s != '='; s++) {
        int v = b64_value[(uint8_t)*s];
        if (v < 0) continue;
        acc = acc << 6 | (uint32_t)v;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[n++] = (uint8_t)(acc >> bits);
        }
    }
    return n;
}

static void load_image(Project *p, const XML_Char **a)
{
    const char *href = attr(a, "href"), *comma = strchr(href, ',');
    if (strncmp(href, "data:", 5) || !comma) return;
    free(p->raster);
    p->raster = malloc(strlen(comma) + 4);
    p->raster_size = b64_decode(comma + 1, p->raster);
    p->raster_w = atoi(attr(a, "width"));
    p->raster_h = atoi(attr(a, "height"));
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **a)
{
    Project *p = user;
    if (++p->depth > p->max_depth) p->max_depth = p->depth;
    if (!strcmp(name, "project")) {
        snprintf(p->name, sizeof p->name, "%s", attr(a, "name"));
        snprintf(p->scale, sizeof p->scale, "%s", attr(a, "scale"));
    } else if (!strcmp(name, "image")) {
        load_image(p, a);
    } else if (!strcmp(name, "layer") && p->layer_count < MAX_LAYERS) {
        Layer *l = &p->layers[p->layer_count++];
        snprintf(l->id, sizeof l->id, "%s", attr(a, "id"));
        snprintf(l->name, sizeof l->name, "%s", attr(a, "name"));
    } else if (!strcmp(name, "path") && p->layer_count) {
        PathClass *c = find_class(p, attr(a, "class"));
        c->paths++;
        c->length += path_length(attr(a, "d"));
        p->layers[p->layer_count - 1].paths++;
    } else if (!strcmp(name, "note")) {
        p->in_note = 1;
    }
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    Project *p = user;
    p->depth--;
    if (!strcmp(name, "note")) p->in_note = 0;
}

static void XMLCALL on_text(void *user, const XML_Char *s, int len)
{
    Project *p = user;
    if (!p->in_note || !p->layer_count) return;
    Layer *l = &p->layers[p->layer_count - 1];
    if (len > (int)sizeof l->note - 1 - l->note_len) len = (int)sizeof l->note - 1 - l->note_len;
    memcpy(l->note + l->note_len, s, len);
    l->note_len += len;
}

static int feed_file(XML_Parser parser, FILE *f)
{
    size_t n;
    do {
        void *buf = XML_GetBuffer(parser, READ_SIZE);
        if (!buf) return -1;
        n = fread(buf, 1, READ_SIZE, f);
        if (XML_ParseBuffer(parser, (int)n, n < READ_SIZE) == XML_STATUS_ERROR) {
            fprintf(stderr, "line %lu: %s\n", XML_GetCurrentLineNumber(parser), XML_ErrorString(XML_GetErrorCode(parser)));
            return -1;
        }
    } while (n == READ_SIZE);
    return 0;
}

static int load_project(Project *p, const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) { perror(path); return -1; }
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetUserData(parser, p);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    int rc = feed_file(parser, f);
    XML_ParserFree(parser);
    fclose(f);
    return rc;
}

static uint32_t raster_checksum(const Project *p)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < p->raster_size; i++) {
        a = (a + p->raster[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void blur_thumbnail(const Project *p, int shades[8])
{
    int w = p->raster_w, h = p->raster_h;
    memset(shades, 0, 8 * sizeof *shades);
    for (int y = 0; y + 8 <= h; y += 8)
        for (int x = 0; x + 8 <= w; x += 8) {
            int sum = 0;
            for (int j = 0; j < 8; j++)
                for (int i = 0; i < 8; i++) sum += p->raster[(y + j) * w + x + i];
            shades[sum / 64 / 32]++;
        }
}

static void print_project(const Project *p)
{
    int shades[8];
    printf("%s (%s): %d layers, depth %d, raster %zu bytes %08x\n", p->name, p->scale, p->layer_count, p->max_depth,
           p->raster_size, raster_checksum(p));
    blur_thumbnail(p, shades);
    for (int i = 0; i < 8; i++) printf("%d%c", shades[i], i == 7 ? '\n' : ' ');
    for (int i = 0; i < p->class_count; i++)
        printf("  %-10s %5d paths %12.2f\n", p->classes[i].name, p->classes[i].paths, p->classes[i].length);
    printf("  last note: %s\n", p->layer_count ? p->layers[p->layer_count - 1].note : "");
}

int main(void)
{
    b64_init();
    for (int i = 0; i < 4; i++) {
        char path[64];
        Project *p = calloc(1, sizeof *p);
        snprintf(path, sizeof path, "data/sheet%d.xml", i);
        if (load_project(p, path) < 0) return 1;
        print_project(p);
        free(p->raster);
        free(p);
    }
    return 0;
}

/* wantlist: reads what a remote advertises and decides which objects have to be fetched into the local store. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_BYTES 20
#define MAX_NAMESPACES 32

struct pack {
    char *path;
    off_t size;
    time_t mtime;
    const unsigned char *map;
    uint32_t count;
    const uint32_t *fanout;
    const unsigned char *ids;
    unsigned long hits;
    struct pack *next;
};

struct store {
    const char *dir;
    struct pack *packs;
    struct pack *last_found;
    unsigned n_packs;
};

struct namespace_count {
    char name[32];
    unsigned long refs, wanted;
};

static void die(const char *what)
{
    fprintf(stderr, "wantlist: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int from_hex(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static int parse_id(const char *hex, unsigned char *id)
{
    for (int i = 0; i < ID_BYTES; i++) {
        int a = from_hex(hex[2 * i]), b = a < 0 ? -1 : from_hex(hex[2 * i + 1]);
        if (b < 0)
            return -1;
        id[i] = (unsigned char)(a << 4 | b);
    }
    return 0;
}

static void add_pack(struct store *st, const char *path, const struct stat *sb)
{
    struct pack *p;
    for (p = st->packs; p; p = p->next)
        if (!strcmp(p->path, path) && p->size == sb->st_size && p->mtime == sb->st_mtime)
            return;
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        die(path);
    p = calloc(1, sizeof *p);
    p->path = strdup(path);
    p->size = sb->st_size;
    p->mtime = sb->st_mtime;
    p->map = mmap(NULL, (size_t)p->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p->map == MAP_FAILED)
        die(path);
    close(fd);
    if (memcmp(p->map, "PIDX", 4)) {
        fprintf(stderr, "wantlist: %s is no pack index\n", path);
        exit(1);
    }
    p->count = ntohl(((const uint32_t *)p->map)[1]);
    p->fanout = (const uint32_t *)p->map + 2;
    p->ids = (const unsigned char *)(p->fanout + 256);
    p->next = st->packs;
    st->packs = p;
    st->n_packs++;
}

/* look which packs there are, and open those that are new */
static void prepare_packs(struct store *st)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/pack", st->dir);
    DIR *d = opendir(path);
    struct dirent *e;
    if (!d)
        die(path);
    while ((e = readdir(d))) {
        size_t n = strlen(e->d_name);
        struct stat sb;
        if (n < 5 || strcmp(e->d_name + n - 4, ".idx"))
            continue;
        snprintf(path, sizeof path, "%s/pack/%s", st->dir, e->d_name);
        if (!stat(path, &sb))
            add_pack(st, path, &sb);
    }
    closedir(d);
}

static int find_in_pack(const struct pack *p, const unsigned char *id)
{
    uint32_t lo = id[0] ? ntohl(p->fanout[id[0] - 1]) : 0, hi = ntohl(p->fanout[id[0]]);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = memcmp(id, p->ids + (size_t)mid * ID_BYTES, ID_BYTES);
        if (!c)
            return 1;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return 0;
}

static int find_packed(struct store *st, const unsigned char *id)
{
    if (st->last_found && find_in_pack(st->last_found, id)) {
        st->last_found->hits++;
        return 1;
    }
    for (struct pack *p = st->packs; p; p = p->next) {
        if (p == st->last_found || !find_in_pack(p, id))
            continue;
        p->hits++;
        st->last_found = p;
        return 1;
    }
    return 0;
}

static int find_loose(const struct store *st, const char *hex)
{
    char path[1024];
    struct stat sb;
    snprintf(path, sizeof path, "%s/%.2s/%.38s", st->dir, hex, hex + 2);
    return !stat(path, &sb) && sb.st_size > 0;
}

static int has_object(struct store *st, const unsigned char *id, const char *hex)
{
    if (find_packed(st, id) || find_loose(st, hex))
        return 1;
    /* somebody may have repacked the store in the meantime */
    prepare_packs(st);
    return find_packed(st, id);
}

static struct namespace_count *namespace_of(struct namespace_count *all, unsigned *n, const char *ref)
{
    const char *start = strncmp(ref, "refs/", 5) ? ref : ref + 5;
    size_t len = strcspn(start, "/\n");
    for (unsigned i = 0; i < *n; i++)
        if (strlen(all[i].name) == len && !memcmp(all[i].name, start, len))
            return &all[i];
    if (*n == MAX_NAMESPACES || len >= sizeof all->name)
        return NULL;
    memcpy(all[*n].name, start, len);
    return &all[(*n)++];
}

int main(int argc, char **argv)
{
    struct store st = { .dir = argc > 1 ? argv[1] : "data/objects" };
    static struct namespace_count spaces[MAX_NAMESPACES];
    unsigned n_spaces = 0;
    unsigned long refs = 0, wanted = 0, bad = 0;
    uint32_t sum = 0;
    FILE *f = fopen("data/advertised.txt", "r");
    char *line = NULL;
    size_t room = 0;
    if (!f)
        die("data/advertised.txt");
    prepare_packs(&st);
    while (getline(&line, &room, f) > 0) {
        unsigned char id[ID_BYTES];
        if (strlen(line) < 42 || parse_id(line, id) || line[40] != ' ') {
            bad++;
            continue;
        }
        struct namespace_count *space = namespace_of(spaces, &n_spaces, line + 41);
        refs++;
        if (space)
            space->refs++;
        if (has_object(&st, id, line))
            continue;
        wanted++;
        if (space)
            space->wanted++;
        for (int i = 0; i < ID_BYTES; i++)
            sum = (sum << 5 | sum >> 27) ^ id[i];
    }
    free(line);
    fclose(f);
    printf("%lu refs, %lu objects to fetch, %lu lines not understood, checksum %08x\n", refs, wanted, bad, sum);
    for (unsigned i = 0; i < n_spaces; i++)
        printf("%-16s %6lu refs %6lu to fetch\n", spaces[i].name, spaces[i].refs, spaces[i].wanted);
    unsigned long most = 0, hits = 0;
    for (struct pack *p = st.packs; p; p = p->next) {
        hits += p->hits;
        most = p->hits > most ? p->hits : most;
    }
    printf("%u packs, %lu objects found there, at most %lu in one\n", st.n_packs, hits, most);
    return 0;
}

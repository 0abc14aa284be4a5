/* packlog - stream a log through deflate in 64 KiB blocks, with a CRC per stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK 65536

struct stream {
    FILE *in, *out;
    unsigned char inbuf[BLOCK], outbuf[BLOCK];
    unsigned long long raw, packed;
    uLong crc;
};

static void fatal(const char *what)
{
    fprintf(stderr, "packlog: %s\n", what);
    exit(1);
}

static void write_block(struct stream *s, size_t n)
{
    if (n && fwrite(s->outbuf, 1, n, s->out) != n)
        fatal("write error");
    s->packed += n;
}

static void drain(struct stream *s, z_stream *z, int flush)
{
    do {
        z->next_out = s->outbuf;
        z->avail_out = BLOCK;
        if (deflate(z, flush) == Z_STREAM_ERROR)
            fatal("deflate");
        write_block(s, BLOCK - z->avail_out);
    } while (z->avail_out == 0);
}

static void pack(struct stream *s, int level)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (deflateInit(&z, level) != Z_OK)
        fatal("deflateInit");
    size_t n;
    while ((n = fread(s->inbuf, 1, BLOCK, s->in)) > 0) {
        s->crc = crc32(s->crc, s->inbuf, (uInt)n);
        s->raw += n;
        z.next_in = s->inbuf;
        z.avail_in = (uInt)n;
        drain(s, &z, Z_NO_FLUSH);
    }
    drain(s, &z, Z_FINISH);
    deflateEnd(&z);
}

static uLong verify(FILE *f, unsigned long long *size)
{
    static unsigned char in[BLOCK], out[BLOCK];
    uLong crc = crc32(0, NULL, 0);
    int rc = Z_OK;
    z_stream z;
    memset(&z, 0, sizeof z);
    if (inflateInit(&z) != Z_OK)
        fatal("inflateInit");
    rewind(f);
    while (rc != Z_STREAM_END) {
        z.avail_in = (uInt)fread(in, 1, BLOCK, f);
        z.next_in = in;
        if (!z.avail_in)
            break;
        do {
            z.next_out = out;
            z.avail_out = BLOCK;
            rc = inflate(&z, Z_NO_FLUSH);
            if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
                fatal("inflate");
            crc = crc32(crc, out, BLOCK - z.avail_out);
            *size += BLOCK - z.avail_out;
        } while (z.avail_out == 0);
    }
    inflateEnd(&z);
    return crc;
}

int main(int argc, char **argv)
{
    static struct stream s;
    unsigned long long size = 0;
    const char *tmp = getenv("TMPDIR");
    char path[300];
    snprintf(path, sizeof path, "%s/packlog-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    int fd = mkstemp(path);
    s.in = fopen(argc > 1 ? argv[1] : "data/service.log", "rb");
    if (fd < 0 || !s.in)
        fatal("cannot open files");
    s.out = fdopen(fd, "w+b");
    s.crc = crc32(0, NULL, 0);
    pack(&s, 9);
    fflush(s.out);
    uLong back = verify(s.out, &size);
    fclose(s.in);
    fclose(s.out);
    unlink(path);
    printf("%llu -> %llu bytes, crc %08lx, verify %s\n", s.raw, s.packed, s.crc,
           back == s.crc && size == s.raw ? "ok" : "FAILED");
    return 0;
}

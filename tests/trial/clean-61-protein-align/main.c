/* galign: optimal global alignment of pairs of protein sequences with affine
 * gap costs (Gotoh), BLOSUM62 scores.  Reads a FASTA file, aligns each record
 * with the one after it, prints score, identity and the alignment's shape. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP_OPEN 11 /* for the first residue of a gap */
#define GAP_EXTEND 1
#define NEG (INT32_MIN / 2)

static const char residues[] = "ARNDCQEGHILKMFPSTWYV";

static const int8_t blosum62[20][20] = {
    { 4, -1, -2, -2, 0, -1, -1, 0, -2, -1, -1, -1, -1, -2, -1, 1, 0, -3, -2, 0 },
    { -1, 5, 0, -2, -3, 1, 0, -2, 0, -3, -2, 2, -1, -3, -2, -1, -1, -3, -2, -3 },
    { -2, 0, 6, 1, -3, 0, 0, 0, 1, -3, -3, 0, -2, -3, -2, 1, 0, -4, -2, -3 },
    { -2, -2, 1, 6, -3, 0, 2, -1, -1, -3, -4, -1, -3, -3, -1, 0, -1, -4, -3, -3 },
    { 0, -3, -3, -3, 9, -3, -4, -3, -3, -1, -1, -3, -1, -2, -3, -1, -1, -2, -2, -1 },
    { -1, 1, 0, 0, -3, 5, 2, -2, 0, -3, -2, 1, 0, -3, -1, 0, -1, -2, -1, -2 },
    { -1, 0, 0, 2, -4, 2, 5, -2, 0, -3, -3, 1, -2, -3, -1, 0, -1, -3, -2, -2 },
    { 0, -2, 0, -1, -3, -2, -2, 6, -2, -4, -4, -2, -3, -3, -2, 0, -2, -2, -3, -3 },
    { -2, 0, 1, -1, -3, 0, 0, -2, 8, -3, -3, -1, -2, -1, -2, -1, -2, -2, 2, -3 },
    { -1, -3, -3, -3, -1, -3, -3, -4, -3, 4, 2, -3, 1, 0, -3, -2, -1, -3, -1, 3 },
    { -1, -2, -3, -4, -1, -2, -3, -4, -3, 2, 4, -2, 2, 0, -3, -2, -1, -2, -1, 1 },
    { -1, 2, 0, -1, -3, 1, 1, -2, -1, -3, -2, 5, -1, -3, -1, 0, -1, -3, -2, -2 },
    { -1, -1, -2, -3, -1, 0, -2, -3, -2, 1, 2, -1, 5, 0, -2, -1, -1, -1, -1, 1 },
    { -2, -3, -3, -3, -2, -3, -3, -3, -1, 0, 0, -3, 0, 6, -4, -2, -2, 1, 3, -1 },
    { -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7, -1, -1, -4, -3, -2 },
    { 1, -1, 1, 0, -1, 0, 0, 0, -1, -2, -2, 0, -1, -2, -1, 4, 1, -3, -2, -2 },
    { 0, -1, 0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1, 5, -2, -2, 0 },
    { -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1, -4, -3, -2, 11, 2, -3 },
    { -2, -2, -2, -3, -2, -1, -2, -3, 2, -1, -1, -2, -1, 3, -3, -2, -2, 2, 7, -1 },
    { 0, -3, -3, -3, -1, -2, -2, -3, -3, 3, 1, -2, 1, -1, -2, -2, 0, -3, -1, 4 },
};

struct seq {
    char name[64];
    uint8_t *code; /* indexes into residues */
    size_t len;
};

static void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- FASTA ------------------------------------------------------------------- */

static size_t read_fasta(const char *path, struct seq **out)
{
    FILE *f = fopen(path, "r");
    char line[1024];
    struct seq *v = NULL, *s = NULL;
    size_t n = 0, cap = 0;
    if (!f) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '>') {
            v = realloc(v, (n + 1) * sizeof *v);
            s = &v[n++];
            memset(s, 0, sizeof *s);
            snprintf(s->name, sizeof s->name, "%.*s", (int)strcspn(line + 1, " \n"), line + 1);
            cap = 0;
            continue;
        }
        for (const char *p = line; s && *p; p++) {
            const char *r = strchr(residues, toupper((unsigned char)*p));
            if (!r || !*r)
                continue;
            if (s->len == cap) {
                cap = cap ? cap * 2 : 1024;
                s->code = realloc(s->code, cap);
            }
            s->code[s->len++] = r - residues;
        }
    }
    fclose(f);
    *out = v;
    return n;
}

/* ---- alignment ---------------------------------------------------------------- */

/* trace bits of a cell: where the best score came from, and whether the gap
   states extend a gap that was open already */
enum { FROM_DIAG = 0, FROM_UP = 1, FROM_LEFT = 2, FROM_MASK = 3, UP_EXTENDS = 4, LEFT_EXTENDS = 8 };

struct alignment {
    int score;
    size_t columns, identical, positive, gaps, gap_residues;
};

static int fill_matrix(const struct seq *a, const struct seq *b, uint8_t *trace)
{
    const size_t m = b->len, stride = m + 1;
    int32_t *h = xmalloc(stride * sizeof *h); /* best scores of the row above */
    int32_t *up = xmalloc(stride * sizeof *up);
    h[0] = 0;
    for (size_t j = 1; j <= m; j++) {
        h[j] = -GAP_OPEN - GAP_EXTEND * (int)(j - 1);
        up[j] = NEG;
        trace[j] = FROM_LEFT | (j > 1 ? LEFT_EXTENDS : 0);
    }
    for (size_t i = 1; i <= a->len; i++) {
        uint8_t *t = trace + i * stride;
        const int8_t *score = blosum62[a->code[i - 1]];
        int32_t diag = h[0], left = NEG;
        h[0] = -GAP_OPEN - GAP_EXTEND * (int)(i - 1);
        t[0] = FROM_UP | (i > 1 ? UP_EXTENDS : 0);
        for (size_t j = 1; j <= m; j++) {
            uint8_t bits = 0;
            int32_t open = h[j] - GAP_OPEN, extend = up[j] - GAP_EXTEND;
            bits |= extend > open ? UP_EXTENDS : 0;
            up[j] = extend > open ? extend : open;
            open = h[j - 1] - GAP_OPEN;
            extend = left - GAP_EXTEND;
            bits |= extend > open ? LEFT_EXTENDS : 0;
            left = extend > open ? extend : open;
            int32_t best = diag + score[b->code[j - 1]];
            uint8_t from = up[j] > best ? FROM_UP : FROM_DIAG;
            best = up[j] > best ? up[j] : best;
            from = left > best ? FROM_LEFT : from;
            best = left > best ? left : best;
            diag = h[j];
            h[j] = best;
            t[j] = bits | from;
        }
    }
    int score = h[m];
    free(h);
    free(up);
    return score;
}

static void trace_back(const struct seq *a, const struct seq *b, const uint8_t *trace, struct alignment *al)
{
    const size_t stride = b->len + 1;
    size_t i = a->len, j = b->len;
    int state = FROM_DIAG, last = FROM_DIAG;
    while (i || j) {
        uint8_t t = trace[i * stride + j];
        if (state == FROM_DIAG)
            state = t & FROM_MASK;
        al->columns++;
        if (state == FROM_DIAG) {
            uint8_t x = a->code[--i], y = b->code[--j];
            al->identical += x == y;
            al->positive += blosum62[x][y] > 0;
            last = FROM_DIAG;
            continue;
        }
        al->gap_residues++;
        al->gaps += last != state;
        last = state;
        if (state == FROM_UP) {
            state = t & UP_EXTENDS ? FROM_UP : FROM_DIAG;
            i--;
        } else {
            state = t & LEFT_EXTENDS ? FROM_LEFT : FROM_DIAG;
            j--;
        }
    }
}

static struct alignment align(const struct seq *a, const struct seq *b)
{
    struct alignment al = { 0 };
    uint8_t *trace = xmalloc((a->len + 1) * (b->len + 1));
    al.score = fill_matrix(a, b, trace);
    trace_back(a, b, trace, &al);
    free(trace);
    return al;
}

int main(int argc, char **argv)
{
    struct seq *v;
    size_t n = read_fasta(argc > 1 ? argv[1] : "proteins.fa", &v);
    for (size_t i = 0; i + 1 < n; i++) {
        struct alignment al = align(&v[i], &v[i + 1]);
        printf("%s (%zu) : %s (%zu)\n", v[i].name, v[i].len, v[i + 1].name, v[i + 1].len);
        printf("  score %d, %zu columns, identity %.1f %%, positives %.1f %%, %zu gaps of %zu residues\n", al.score,
               al.columns, 100.0 * al.identical / al.columns, 100.0 * al.positive / al.columns, al.gaps, al.gap_residues);
    }
    for (size_t i = 0; i < n; i++)
        free(v[i].code);
    free(v);
    return 0;
}

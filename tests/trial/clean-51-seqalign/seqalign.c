/* seqalign - aligns pairs of long sequences with affine gap costs and prints the
 * score and the alignment's make-up. Linear space: Myers and Miller's division. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCH 5
#define MISMATCH (-4)
#define GAP_OPEN 8
#define GAP_EXT 1

struct row {
    int *cc, *dd;
};

struct summary {
    long same, different, inserted, deleted, gaps;
    char last;
};

static const char *A, *B;
static struct row fwd, rev;
static struct summary sum;
static uint64_t seed = 31337;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(seed >> 33) % n;
}

static int gap(int k)
{
    return k <= 0 ? 0 : -(GAP_OPEN + GAP_EXT * k);
}

static int max2(int a, int b)
{
    return a > b ? a : b;
}

static void emit(char kind, long n)
{
    if (n <= 0)
        return;
    if (kind == 'D')
        sum.deleted += n;
    else if (kind == 'I')
        sum.inserted += n;
    if (kind != 'R' && sum.last != kind)
        sum.gaps++;
    sum.last = kind;
}

static void emit_pair(char a, char b)
{
    if (a == b)
        sum.same++;
    else
        sum.different++;
    sum.last = 'R';
}

/* Scores of the best alignments of A[ai..] with all prefixes of B[bi..]. */
static void forward(int ai, int am, int bi, int bn, int tb)
{
    int t = -tb, *cc = fwd.cc, *dd = fwd.dd;
    cc[0] = 0;
    for (int j = 1; j <= bn; j++) {
        cc[j] = gap(j);
        dd[j] = cc[j] - GAP_OPEN;
    }
    for (int i = 1; i <= am; i++) {
        int s = cc[0], c, e;
        char a = A[ai + i - 1];
        const char *b = B + bi - 1;
        t -= GAP_EXT;
        cc[0] = c = t;
        e = t - GAP_OPEN;
        for (int j = 1; j <= bn; j++) {
            e = max2(e, c - GAP_OPEN) - GAP_EXT;
            dd[j] = max2(dd[j], cc[j] - GAP_OPEN) - GAP_EXT;
            c = max2(max2(dd[j], e), s + (a == b[j] ? MATCH : MISMATCH));
            s = cc[j];
            cc[j] = c;
        }
    }
    dd[0] = cc[0];
}

static void backward(int ai, int am, int bi, int bn, int te)
{
    int t = -te, *cc = rev.cc, *dd = rev.dd;
    cc[bn] = 0;
    for (int j = bn - 1; j >= 0; j--) {
        cc[j] = gap(bn - j);
        dd[j] = cc[j] - GAP_OPEN;
    }
    for (int i = am - 1; i >= 0; i--) {
        int s = cc[bn], c, e;
        char a = A[ai + i];
        const char *b = B + bi;
        t -= GAP_EXT;
        cc[bn] = c = t;
        e = t - GAP_OPEN;
        for (int j = bn - 1; j >= 0; j--) {
            e = max2(e, c - GAP_OPEN) - GAP_EXT;
            dd[j] = max2(dd[j], cc[j] - GAP_OPEN) - GAP_EXT;
            c = max2(max2(dd[j], e), s + (a == b[j] ? MATCH : MISMATCH));
            s = cc[j];
            cc[j] = c;
        }
    }
    dd[bn] = cc[bn];
}

static void align_one(int ai, int bi, int bn, int tb, int te)
{
    int best = -(tb < te ? tb : te) - GAP_EXT + gap(bn), at = -1;
    for (int j = 0; j < bn; j++) {
        int s = gap(j) + (A[ai] == B[bi + j] ? MATCH : MISMATCH) + gap(bn - 1 - j);
        if (s > best) {
            best = s;
            at = j;
        }
    }
    if (at < 0) {
        emit('D', 1);
        emit('I', bn);
        return;
    }
    emit('I', at);
    emit_pair(A[ai], B[bi + at]);
    emit('I', bn - 1 - at);
}

static void align(int ai, int am, int bi, int bn, int tb, int te)
{
    if (bn == 0) {
        emit('D', am);
        return;
    }
    if (am == 0) {
        emit('I', bn);
        return;
    }
    if (am == 1) {
        align_one(ai, bi, bn, tb, te);
        return;
    }
    int half = am / 2, best = INT_MIN, at = 0, kind = 1;
    forward(ai, half, bi, bn, tb);
    backward(ai + half, am - half, bi, bn, te);
    for (int j = 0; j <= bn; j++) {
        int c = fwd.cc[j] + rev.cc[j];
        if (c > best) {
            best = c;
            at = j;
            kind = 1;
        }
    }
    for (int j = bn; j >= 0; j--) {
        int c = fwd.dd[j] + rev.dd[j] + GAP_OPEN;
        if (c > best) {
            best = c;
            at = j;
            kind = 2;
        }
    }
    if (kind == 1) {
        align(ai, half, bi, at, tb, GAP_OPEN);
        align(ai + half, am - half, bi + at, bn - at, GAP_OPEN, te);
    } else {
        align(ai, half - 1, bi, at, tb, 0);
        emit('D', 2);
        align(ai + half + 1, am - half - 1, bi + at, bn - at, 0, te);
    }
}

static char *make_sequence(int n)
{
    char *s = malloc((size_t)n + 1);
    for (int i = 0; i < n; i++)
        s[i] = "ACGT"[rnd(4)];
    s[n] = 0;
    return s;
}

static char *mutate(const char *s, int *len)
{
    int n = (int)strlen(s), o = 0;
    char *d = malloc((size_t)n * 2 + 64);
    for (int i = 0; i < n; i++) {
        uint32_t r = rnd(200);
        if (r < 10)
            d[o++] = "ACGT"[rnd(4)];
        else if (r == 11)
            i += (int)rnd(12);
        else {
            if (r == 12)
                for (uint32_t k = rnd(12); k > 0; k--)
                    d[o++] = "ACGT"[rnd(4)];
            d[o++] = s[i];
        }
    }
    d[o] = 0;
    *len = o;
    return d;
}

int main(void)
{
    for (int p = 0; p < 3; p++) {
        int n = 9000 + (int)rnd(2500), m;
        char *a = make_sequence(n), *b = mutate(a, &m);
        size_t cells = (size_t)(m > n ? m : n) + 2;
        fwd.cc = malloc(cells * sizeof(int));
        fwd.dd = malloc(cells * sizeof(int));
        rev.cc = malloc(cells * sizeof(int));
        rev.dd = malloc(cells * sizeof(int));
        A = a;
        B = b;
        memset(&sum, 0, sizeof sum);
        align(0, n, 0, m, GAP_OPEN, GAP_OPEN);
        printf("pair %d: %d x %d, same %ld, different %ld, inserted %ld, deleted %ld in %ld gaps\n", p, n, m, sum.same,
               sum.different, sum.inserted, sum.deleted, sum.gaps);
        free(fwd.cc), free(fwd.dd), free(rev.cc), free(rev.dd), free(a), free(b);
    }
    return 0;
}

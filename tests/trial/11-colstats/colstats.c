/* colstats - read a CSV file into typed columns and print per-column statistics. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64

struct column {
    char name[32];
    double *values;
    size_t count;
    size_t empty;
};

struct table {
    struct column columns[MAX_COLUMNS];
    size_t ncolumns;
    size_t rows;
};

static void column_append(struct column *c, double v)
{
    double *p = malloc((c->count + 1) * sizeof *p);
    if (!p) {
        perror("colstats");
        exit(1);
    }
    if (c->count)
        memcpy(p, c->values, c->count * sizeof *p);
    free(c->values);
    c->values = p;
    c->values[c->count++] = v;
}

static size_t split_header(struct table *t, char *line)
{
    char *save = NULL;
    for (char *f = strtok_r(line, ",\n", &save); f; f = strtok_r(NULL, ",\n", &save)) {
        if (t->ncolumns == MAX_COLUMNS)
            break;
        snprintf(t->columns[t->ncolumns++].name, sizeof t->columns[0].name, "%s", f);
    }
    return t->ncolumns;
}

static void add_row(struct table *t, const char *line)
{
    const char *p = line;
    for (size_t i = 0; i < t->ncolumns; i++) {
        char *end;
        double v = strtod(p, &end);
        if (end == p) {
            t->columns[i].empty++;
            v = NAN;
        }
        column_append(&t->columns[i], v);
        p = end + (*end == ',');
    }
    t->rows++;
}

static int load_table(const char *path, struct table *t)
{
    static char line[8192];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    if (fgets(line, sizeof line, f))
        split_header(t, line);
    while (fgets(line, sizeof line, f))
        add_row(t, line);
    fclose(f);
    return 0;
}

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_column(const struct column *c)
{
    double *sorted = malloc((c->count + 1) * sizeof *sorted);
    double sum = 0, sq = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        if (!isnan(c->values[i])) {
            sorted[n++] = c->values[i];
            sum += c->values[i];
            sq += c->values[i] * c->values[i];
        }
    qsort(sorted, n, sizeof *sorted, cmp_double);
    double mean = n ? sum / n : 0;
    printf("%-8s n=%zu empty=%zu mean=%.4f sd=%.4f median=%.3f p90=%.3f\n", c->name, n, c->empty, mean,
           n ? sqrt(sq / n - mean * mean) : 0, n ? sorted[n / 2] : 0, n ? sorted[n * 9 / 10] : 0);
    free(sorted);
}

static double correlation(const struct column *a, const struct column *b)
{
    double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    size_t n = 0;
    for (size_t i = 0; i < a->count; i++) {
        double x = a->values[i], y = b->values[i];
        if (isnan(x) || isnan(y))
            continue;
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
        n++;
    }
    return n ? (n * sxy - sx * sy) / sqrt((n * sxx - sx * sx) * (n * syy - sy * sy)) : 0;
}

int main(int argc, char **argv)
{
    static struct table t;
    if (load_table(argc > 1 ? argv[1] : "data/metrics.csv", &t) < 0)
        return 1;
    for (size_t i = 0; i < t.ncolumns; i++)
        print_column(&t.columns[i]);
    double strongest = 0;
    size_t bi = 0, bj = 0;
    for (size_t i = 0; i < t.ncolumns; i++)
        for (size_t j = i + 1; j < t.ncolumns; j++) {
            double r = fabs(correlation(&t.columns[i], &t.columns[j]));
            if (r > strongest) {
                strongest = r;
                bi = i;
                bj = j;
            }
        }
    printf("%zu rows, strongest correlation %s/%s %.4f\n", t.rows, t.columns[bi].name, t.columns[bj].name, strongest);
    for (size_t i = 0; i < t.ncolumns; i++)
        free(t.columns[i].values);
    return 0;
}

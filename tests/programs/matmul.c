// Products of matrices of one size. Expect: nothing.

#include "support/program.h"

#include <stdio.h>

enum { N = 192 };

static void multiply(double (*restrict out)[N], double (*a)[N], double (*b)[N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            out[i][j] = 0;
        for (int k = 0; k < N; k++) {
            for (int j = 0; j < N; j++)
                out[i][j] += a[i][k] * b[k][j];
        }
    }
}

int main(int argc, char **argv)
{
    size_t products = scaled(950, argc, argv);
    double(*a)[N] = allocate(N, sizeof(*a));
    double(*b)[N] = allocate(N, sizeof(*b));
    double(*c)[N] = allocate(N, sizeof(*c));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = (i + j) % 7;
            b[i][j] = (i * j) % 5;
        }
    }
    double sum = 0;
    for (size_t i = 0; i < products; i++) {
        a[0][0] = (double)i; // another product each time
        multiply(c, a, b);
        sum += c[0][i % N];
    }
    printf("%g\n", sum);
    free(a);
    free(b);
    free(c);
    return 0;
}

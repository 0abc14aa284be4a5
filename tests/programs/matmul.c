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
    size_t products = scaled(500, argc, argv);
    double(*a)[N] = allocate(N, sizeof(*a));
    double(*b)[N] = allocate(N, sizeof(*b));
    double(*c)[N] = allocate(N, sizeof(*c));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = (i + j) % 7 / 21.0 / N;
            b[i][j] = (i * j) % 5 / 10.0;
        }
    }
    double trace = 0;
    for (size_t i = 0; i < products; i++) {
        multiply(c, a, b);
        trace += c[i % N][i % N];
        double(*swap)[N] = a;
        a = c;
        c = swap;
        a[0][0] = 1; // keeps the product away from denormal numbers, which are slow
        for (int j = 0; j < N; j++)
            a[j][j] += 0.01;
    }
    printf("%g\n", trace);
    free(a);
    free(b);
    free(c);
    return 0;
}

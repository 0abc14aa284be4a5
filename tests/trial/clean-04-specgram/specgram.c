/* specgram - spectrogram and mel-like filter bank of a synthetic recording. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N     2048
#define HOP   512
#define BANDS 80

struct plan {
    double complex twiddle[N / 2];
    unsigned reverse[N];
    double window[N];
    struct { int from, count; double weight[N / 2]; } bank[BANDS];
};

static void make_plan(struct plan *p)
{
    for (int i = 0; i < N / 2; i++)
        p->twiddle[i] = cexp(-2.0 * I * M_PI * i / N);
    for (unsigned i = 0; i < N; i++) {
        unsigned r = 0;
        for (unsigned b = 1, v = i; b < N; b <<= 1, v >>= 1)
            r = r << 1 | (v & 1);
        p->reverse[i] = r;
        p->window[i] = 0.5 - 0.5 * cos(2 * M_PI * i / (N - 1));
    }
    for (int b = 0; b < BANDS; b++) {
        double centre = pow(N / 2 - 1, (b + 1.0) / BANDS), width = centre * 0.12 + 1;
        p->bank[b].from = (int)fmax(0, ceil(centre - width));
        for (int k = p->bank[b].from; k < N / 2 && k < centre + width; k++)
            p->bank[b].weight[p->bank[b].count++] = 1 - fabs(k - centre) / width;
    }
}

static void fft(const struct plan *p, double complex *x)
{
    for (unsigned i = 0; i < N; i++)
        if (i < p->reverse[i]) {
            double complex t = x[i];
            x[i] = x[p->reverse[i]];
            x[p->reverse[i]] = t;
        }
    for (int len = 2; len <= N; len *= 2) {
        int half = len / 2, step = N / len;
        for (int i = 0; i < N; i += len)
            for (int k = 0; k < half; k++) {
                double complex a = x[i + k], w = p->twiddle[k * step], b = x[i + k + half];
                double re = creal(b) * creal(w) - cimag(b) * cimag(w), im = creal(b) * cimag(w) + cimag(b) * creal(w);
                x[i + k] = a + (re + im * I);
                x[i + k + half] = a - (re + im * I);
            }
    }
}

static void synthesise(double *out, size_t n)
{
    unsigned rng = 1;
    double phase = 0;
    for (size_t i = 0; i < n; i++) {
        rng = rng * 1664525u + 1013904223u;
        phase += 0.02 + 0.01 * (double)(i / 4000 % 17);
        out[i] = sin(phase) + 0.3 * sin(2.5 * phase) + 0.05 * ((rng >> 16) / 32768.0 - 1);
    }
}

static void analyse(const struct plan *p, const double *frame, double *bands)
{
    static double complex x[N];
    static double power[N / 2];
    for (int i = 0; i < N; i++)
        x[i] = frame[i] * p->window[i];
    fft(p, x);
    for (int k = 0; k < N / 2; k++)
        power[k] = creal(x[k]) * creal(x[k]) + cimag(x[k]) * cimag(x[k]);
    for (int b = 0; b < BANDS; b++) {
        double s = 1e-12;
        for (int k = 0; k < p->bank[b].count; k++)
            s += p->bank[b].weight[k] * power[p->bank[b].from + k];
        bands[b] = log(s);
    }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 22000000, frames = (n - N) / HOP;
    static struct plan plan;
    double *pcm = malloc(n * sizeof *pcm), mean[BANDS] = { 0 };
    if (!pcm)
        return 1;
    make_plan(&plan);
    synthesise(pcm, n);
    for (size_t f = 0; f < frames; f++) {
        double bands[BANDS];
        analyse(&plan, pcm + f * HOP, bands);
        for (int b = 0; b < BANDS; b++)
            mean[b] += bands[b];
    }
    for (int b = 0; b < BANDS; b += 8)
        printf("band %2d %9.4f\n", b, mean[b] / frames);
    printf("%zu frames\n", frames);
    free(pcm);
    return 0;
}

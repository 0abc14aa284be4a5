// Develops a sequence of synthetic grey pictures: blur in two passes with sliding sums, unsharp mask, median of the
// plus-shaped neighbourhood, tone curve through a table, histogram; prints a digest of each stage of the last one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

struct Image {
    int w, h;
    std::vector<uint16_t> px;
    Image(int w, int h) : w(w), h(h), px((size_t)w * h) {}
    uint16_t *row(int y) { return &px[(size_t)y * w]; }
    const uint16_t *row(int y) const { return &px[(size_t)y * w]; }
};

static void render(Image &im, uint32_t seed)
{
    for (int y = 0; y < im.h; y++) {
        uint16_t *r = im.row(y);
        for (int x = 0; x < im.w; x++) {
            uint32_t grain = ((uint32_t)x * 2654435761u ^ (uint32_t)y * 2246822519u ^ seed) * 3266489917u;
            int disc = (x - im.w / 2) * (x - im.w / 2) + (y - im.h / 3) * (y - im.h / 3) < im.h * im.h / 9 ? 900 : 0;
            r[x] = (uint16_t)(1200 + disc + ((x * 3 + y * 5) & 511) + (grain >> 25));
        }
    }
}

static void blur_rows(const Image &in, Image &out, int radius)
{
    const uint32_t n = 2 * radius + 1, scale = (1u << 20) / n;
    for (int y = 0; y < in.h; y++) {
        const uint16_t *s = in.row(y);
        uint16_t *d = out.row(y);
        uint32_t sum = s[0] * (radius + 1);
        for (int x = 1; x <= radius; x++) sum += s[std::min(x, in.w - 1)];
        for (int x = 0; x < in.w; x++) {
            d[x] = (uint16_t)((uint64_t)sum * scale >> 20);
            sum += s[std::min(x + radius + 1, in.w - 1)];
            sum -= s[std::max(x - radius, 0)];
        }
    }
}

static void blur_columns(const Image &in, Image &out, int radius, std::vector<uint32_t> &sums)
{
    const uint32_t n = 2 * radius + 1, scale = (1u << 20) / n;
    sums.assign(in.w, 0);
    for (int k = -radius; k <= radius; k++) {
        const uint16_t *s = in.row(std::clamp(k, 0, in.h - 1));
        for (int x = 0; x < in.w; x++) sums[x] += s[x];
    }
    for (int y = 0; y < in.h; y++) {
        uint16_t *d = out.row(y);
        const uint16_t *add = in.row(std::min(y + radius + 1, in.h - 1)), *sub = in.row(std::max(y - radius, 0));
        for (int x = 0; x < in.w; x++) {
            d[x] = (uint16_t)((uint64_t)sums[x] * scale >> 20);
            sums[x] += add[x] - sub[x];
        }
    }
}

static void unsharp(const Image &in, const Image &soft, Image &out, int amount)
{
    for (size_t i = 0; i < in.px.size(); i++) {
        int v = in.px[i] + ((int)in.px[i] - (int)soft.px[i]) * amount / 16;
        out.px[i] = (uint16_t)std::clamp(v, 0, 4095);
    }
}

static inline void order(uint16_t &a, uint16_t &b)
{
    uint16_t lo = std::min(a, b), hi = std::max(a, b);
    a = lo;
    b = hi;
}

static void median5(const Image &in, Image &out)
{
    for (int y = 0; y < in.h; y++) {
        const uint16_t *up = in.row(std::max(y - 1, 0)), *mid = in.row(y), *down = in.row(std::min(y + 1, in.h - 1));
        uint16_t *d = out.row(y);
        d[0] = mid[0];
        d[in.w - 1] = mid[in.w - 1];
        for (int x = 1; x + 1 < in.w; x++) {
            uint16_t a = up[x], b = mid[x - 1], c = mid[x], e = mid[x + 1], f = down[x];
            order(a, b);
            order(e, f);
            order(a, e);
            order(b, f);
            order(b, c);
            order(c, e);
            order(b, c);
            d[x] = c;
        }
    }
}

static std::vector<uint16_t> tone_curve(double gamma)
{
    std::vector<uint16_t> t(4096);
    for (int i = 0; i < 4096; i++) t[i] = (uint16_t)std::lround(4095 * std::pow(i / 4095.0, gamma));
    return t;
}

static void apply_curve(Image &im, const std::vector<uint16_t> &t)
{
    for (uint16_t &v : im.px) v = t[v & 4095];
}

static uint64_t digest(const Image &im)
{
    uint64_t h[4] = {1, 2, 3, 4};
    size_t n = im.px.size() & ~(size_t)15;
    for (size_t i = 0; i < n; i += 16)
        for (int k = 0; k < 4; k++) {
            uint64_t v;
            std::memcpy(&v, &im.px[i + 4 * k], 8);
            h[k] = (h[k] ^ v) * 0x9e3779b97f4a7c15ull;
        }
    return h[0] ^ h[1] >> 1 ^ h[2] >> 2 ^ h[3] >> 3;
}

static void histogram(const Image &im, uint64_t bins[16])
{
    uint32_t part[4][16] = {};
    size_t i = 0, n = im.px.size() & ~(size_t)3;
    for (; i < n; i += 4)
        for (int k = 0; k < 4; k++) part[k][im.px[i + k] >> 8 & 15]++;
    for (int b = 0; b < 16; b++)
        for (int k = 0; k < 4; k++) bins[b] += part[k][b];
}

int main()
{
    const int W = 2400, H = 1600, FRAMES = 100;
    Image src(W, H), a(W, H), b(W, H), c(W, H);
    std::vector<uint32_t> sums;
    std::vector<uint16_t> curve = tone_curve(0.82);
    uint64_t bins[16] = {}, all = 0;
    for (int f = 0; f < FRAMES; f++) {
        render(src, 31u + (uint32_t)f);
        blur_rows(src, a, 4 + f % 5);
        blur_columns(a, b, 4 + f % 5, sums);
        unsharp(src, b, c, 9);
        median5(c, a);
        apply_curve(a, curve);
        histogram(a, bins);
        all = all * 31 + digest(a);
    }
    std::printf("%d frames of %d x %d, digest %016llx\n", FRAMES, W, H, (unsigned long long)all);
    for (int i = 0; i < 16; i++) std::printf("%4d.. %llu\n", i * 256, (unsigned long long)bins[i]);
}

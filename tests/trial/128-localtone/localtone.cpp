// Develops raw strips of a line scanner: interpolates the colour mosaic to luminance, blurs it with a recursive Gaussian filter, uses the
// blurred plane for local contrast, applies a film curve and writes the histogram and a checksum of each picture.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct Plane {
    int width, height;
    std::vector<float> data;

    Plane(int w, int h) : width(w), height(h), data((size_t)w * h) {}
    float *row(int y) { return &data[(size_t)y * width]; }
    const float *row(int y) const { return &data[(size_t)y * width]; }
};

struct Job {
    std::string name;
    int width = 0, height = 0;
    uint32_t seed = 0;
    double sigma = 1, amount = 0.5, gamma = 2.2;
};

struct Coefficients {
    double B, b1, b2, b3;
};

// ---- input ----

static std::vector<Job> read_jobs(const char *path)
{
    std::vector<Job> jobs;
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        Job j;
        if (words >> j.name >> j.width >> j.height >> j.seed >> j.sigma >> j.amount >> j.gamma) jobs.push_back(j);
    }
    return jobs;
}

static std::vector<uint16_t> read_sensor(const Job &j)
{
    std::vector<uint16_t> raw((size_t)j.width * j.height);
    uint32_t state = j.seed;
    for (int y = 0; y < j.height; y++)
        for (int x = 0; x < j.width; x++) {
            state = state * 1664525u + 1013904223u;
            int scene = 3000 + (x * 5 + y * 3) % 4000 + ((x / 96 + y / 64) % 2 ? 2500 : 0);
            raw[(size_t)y * j.width + x] = (uint16_t)(scene + (state >> 24) * ((x + y) % 2 ? 2 : 1));
        }
    return raw;
}

// ---- luminance ----

static void luminance(const std::vector<uint16_t> &raw, Plane &out)
{
    const int w = out.width, h = out.height;
    for (int y = 0; y < h; y++) {
        const uint16_t *up = &raw[(size_t)std::max(y - 1, 0) * w], *mid = &raw[(size_t)y * w], *down = &raw[(size_t)std::min(y + 1, h - 1) * w];
        float *d = out.row(y);
        for (int x = 0; x < w; x++) {
            int l = std::max(x - 1, 0), r = std::min(x + 1, w - 1);
            int cross = up[x] + down[x] + mid[l] + mid[r], corners = up[l] + up[r] + down[l] + down[r];
            d[x] = (x + y) % 2 ? (mid[x] * 4 + cross + corners * 0.5f) / 10.0f : (mid[x] * 3 + cross * 1.25f + corners * 0.25f) / 9.0f;
        }
    }
}

// ---- Gaussian ----

static Coefficients coefficients(double sigma)
{
    double q = sigma < 2.5 ? 3.97156 - 4.14554 * std::sqrt(1.0 - 0.26891 * sigma) : 0.98711 * sigma - 0.96330;
    double b0 = 1.57825 + 2.44413 * q + 1.4281 * q * q + 0.422205 * q * q * q;
    Coefficients c;
    c.b1 = (2.44413 * q + 2.85619 * q * q + 1.26661 * q * q * q) / b0;
    c.b2 = -(1.4281 * q * q + 1.26661 * q * q * q) / b0;
    c.b3 = 0.422205 * q * q * q / b0;
    c.B = 1.0 - (c.b1 + c.b2 + c.b3);
    return c;
}

static void gauss_horizontal(const Plane &src, Plane &dst, const Coefficients &c)
{
    std::vector<double> t(src.width);
    for (int y = 0; y < src.height; y++) {
        const float *s = src.row(y);
        float *d = dst.row(y);
        const int n = src.width;
        t[0] = t[1] = t[2] = s[0];
        for (int x = 3; x < n; x++) t[x] = c.B * s[x] + c.b1 * t[x - 1] + c.b2 * t[x - 2] + c.b3 * t[x - 3];
        double p1 = t[n - 1], p2 = p1, p3 = p1;
        for (int x = n - 1; x >= 0; x--) {
            double v = c.B * t[x] + c.b1 * p1 + c.b2 * p2 + c.b3 * p3;
            d[x] = (float)v;
            p3 = p2;
            p2 = p1;
            p1 = v;
        }
    }
}

static void gauss_vertical(const Plane &src, Plane &dst, const Coefficients &c)
{
    const int n = src.height;
    std::vector<double> t(n);
    for (int x = 0; x < src.width; x++) {
        t[0] = t[1] = t[2] = src.row(0)[x];
        for (int y = 3; y < n; y++) t[y] = c.B * src.row(y)[x] + c.b1 * t[y - 1] + c.b2 * t[y - 2] + c.b3 * t[y - 3];
        double p1 = t[n - 1], p2 = p1, p3 = p1;
        for (int y = n - 1; y >= 0; y--) {
            double v = c.B * t[y] + c.b1 * p1 + c.b2 * p2 + c.b3 * p3;
            dst.row(y)[x] = (float)v;
            p3 = p2;
            p2 = p1;
            p1 = v;
        }
    }
}

static void gaussian_blur(const Plane &src, Plane &dst, Plane &work, double sigma)
{
    Coefficients c = coefficients(sigma);
    gauss_horizontal(src, work, c);
    gauss_vertical(work, dst, c);
}

// ---- output ----

static void local_contrast(Plane &l, const Plane &blurred, double amount)
{
    for (size_t i = 0; i < l.data.size(); i++) {
        float detail = l.data[i] - blurred.data[i];
        l.data[i] = std::clamp(l.data[i] + (float)amount * detail, 0.0f, 16383.0f);
    }
}

static std::vector<uint8_t> film_curve(double gamma)
{
    std::vector<uint8_t> table(16384);
    for (int i = 0; i < 16384; i++) table[i] = (uint8_t)std::lround(255 * std::pow(i / 16383.0, 1 / gamma));
    return table;
}

static void write_picture(const Job &j, const Plane &l)
{
    std::vector<uint8_t> table = film_curve(j.gamma);
    uint64_t h = 1469598103934665603ull, bins[8] = {};
    for (int y = 0; y < l.height; y++) {
        const float *s = l.row(y);
        for (int x = 0; x < l.width; x++) {
            uint8_t v = table[(int)s[x] & 16383];
            bins[v >> 5]++;
            h = (h ^ v) * 1099511628211ull;
        }
    }
    std::printf("%s: %d x %d, %016llx", j.name.c_str(), j.width, j.height, (unsigned long long)h);
    for (uint64_t b : bins) std::printf(" %llu", (unsigned long long)b);
    std::printf("\n");
}

static void develop(const Job &j)
{
    Plane l(j.width, j.height), blurred(j.width, j.height), work(j.width, j.height);
    luminance(read_sensor(j), l);
    gaussian_blur(l, blurred, work, j.sigma);
    local_contrast(l, blurred, j.amount);
    gaussian_blur(l, blurred, work, j.sigma / 3);
    local_contrast(l, blurred, j.amount / 2);
    gaussian_blur(l, blurred, work, j.sigma / 8);
    local_contrast(l, blurred, j.amount / 2);
    write_picture(j, l);
}

int main()
{
    std::vector<Job> jobs = read_jobs("data/jobs.txt");
    for (const Job &j : jobs) develop(j);
    std::printf("%zu pictures\n", jobs.size());
}

// Answers requests for slices of a volume (16 bit, gzip): mean and deviation, edges, histogram; then averages
// of the slices that were asked for most.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#include <zlib.h>

struct Header {
    char magic[4];
    uint32_t width, height, depth;
    float spacing;
    char reserved[44];
};

using Slice = std::vector<uint16_t>;

class Volume {
public:
    explicit Volume(const std::string &path);
    ~Volume() { gzclose(file); }
    Slice read_slice(uint32_t z);
    Header header{};

private:
    void read_at(z_off_t offset, void *out, size_t size);
    gzFile file;
};

Volume::Volume(const std::string &path)
{
    file = gzopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error("cannot open " + path);
    gzbuffer(file, 64 * 1024);
    read_at(0, &header, sizeof header);
    if (std::memcmp(header.magic, "VOL1", 4)) throw std::runtime_error("not a volume");
}

void Volume::read_at(z_off_t offset, void *out, size_t size)
{
    if (gzseek(file, offset, SEEK_SET) < 0 || gzread(file, out, (unsigned)size) != (int)size)
        throw std::runtime_error("short file");
}

Slice Volume::read_slice(uint32_t z)
{
    size_t n = (size_t)header.width * header.height;
    Slice s(n);
    read_at((z_off_t)(sizeof header + z * n * 2), s.data(), n * 2);
    return s;
}

struct Request {
    std::string kind;
    uint32_t z;
};

static std::vector<Request> read_requests(const std::string &path, uint32_t depth)
{
    std::ifstream in(path);
    std::vector<Request> all;
    Request r;
    while (in >> r.kind >> r.z)
        if (r.z < depth) all.push_back(r);
    return all;
}

struct Stats { double mean, deviation; uint16_t low, high; };

static Stats slice_stats(const Slice &s)
{
    double sum = 0, squares = 0;
    for (uint16_t v : s) {
        sum += v;
        squares += (double)v * v;
    }
    double mean = sum / s.size();
    auto [lo, hi] = std::minmax_element(s.begin(), s.end());
    return {mean, std::sqrt(squares / s.size() - mean * mean), *lo, *hi};
}

static int count_edges(const Slice &s, int w, int h, int limit)
{
    int edges = 0;
    for (int y = 1; y + 1 < h; y++)
        for (int x = 1; x + 1 < w; x++) {
            const uint16_t *p = &s[y * w + x];
            int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[-1 + w];
            int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
            edges += std::abs(gx) + std::abs(gy) > limit;
        }
    return edges;
}

static uint32_t histogram_digest(const Slice &s)
{
    uint32_t bins[64] = {}, h = 17;
    for (uint16_t v : s) bins[std::min(v >> 6, 63)]++;
    for (uint32_t b : bins) h = h * 31 + b;
    return h;
}

class Answers {
public:
    void add(const Volume &v, const Request &r, const Slice &s)
    {
        asked[r.z]++;
        if (r.kind == "mean") {
            Stats st = slice_stats(s);
            sum_of_means += st.mean;
            spread = std::max(spread, st.high - st.low);
        } else if (r.kind == "edge") {
            edges += count_edges(s, (int)v.header.width, (int)v.header.height, 2600);
        } else {
            digest = digest * 16777619u ^ histogram_digest(s);
        }
        done++;
    }
    std::vector<uint32_t> favourites(size_t n) const
    {
        std::vector<std::pair<int, uint32_t>> order;
        for (auto &a : asked) order.push_back({-a.second, a.first});
        std::sort(order.begin(), order.end());
        std::vector<uint32_t> z;
        for (size_t i = 0; i < n && i < order.size(); i++) z.push_back(order[i].second);
        return z;
    }
    void print() const
    {
        std::printf("requests %d, mean %.4f, spread %d, edges %ld, histograms %08x\n", done, sum_of_means / done, spread, edges, digest);
    }

private:
    std::map<uint32_t, int> asked;
    double sum_of_means = 0;
    int spread = 0, done = 0;
    long edges = 0;
    uint32_t digest = 1;
};

static void average(Volume &v, const std::vector<uint32_t> &which)
{
    std::vector<uint32_t> sum((size_t)v.header.width * v.header.height);
    for (uint32_t z : which) {
        Slice s = v.read_slice(z);
        for (size_t i = 0; i < s.size(); i++) sum[i] += s[i];
    }
    Slice mean(sum.size());
    for (size_t i = 0; i < sum.size(); i++) mean[i] = (uint16_t)(sum[i] / which.size());
    Stats st = slice_stats(mean);
    std::printf("average of %zu slices: %.4f +- %.4f, %u .. %u\n", which.size(), st.mean, st.deviation, st.low, st.high);
}

int main()
{
    try {
        Volume v("data/head.vol.gz");
        std::printf("%u x %u x %u, spacing %.2f\n", v.header.width, v.header.height, v.header.depth, v.header.spacing);
        Answers a;
        for (const Request &r : read_requests("data/requests.txt", v.header.depth)) a.add(v, r, v.read_slice(r.z));
        a.print();
        average(v, a.favourites(8));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "volslice: %s\n", e.what());
        return 1;
    }
}

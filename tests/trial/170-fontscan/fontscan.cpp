// fontscan - choose fonts for runs of text.  Font directories are scanned
// once and kept in a cache that is revalidated against the directory.
#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using Coverage = std::bitset<65536>;

struct Face {
    std::string family;
    int weight = 400;
    std::unique_ptr<Coverage> coverage = std::make_unique<Coverage>();
    size_t glyphs = 0;
};

using FontSet = std::vector<Face>;

class Reader {
public:
    explicit Reader(const std::string& data) : data_(data) {}
    uint16_t u16(size_t at) const
    {
        if (at + 2 > data_.size())
            throw std::runtime_error("truncated font");
        return static_cast<uint16_t>(static_cast<uint8_t>(data_[at]) << 8 | static_cast<uint8_t>(data_[at + 1]));
    }
    uint32_t u32(size_t at) const { return static_cast<uint32_t>(u16(at)) << 16 | u16(at + 2); }
    std::string text(size_t at, size_t n) const { return data_.substr(at, n); }

private:
    const std::string& data_;
};

static size_t findTable(const Reader& r, uint32_t tag)
{
    for (unsigned i = 0, n = r.u16(4); i < n; ++i)
        if (r.u32(8 + i * 12) == tag)
            return r.u32(8 + i * 12 + 4);
    throw std::runtime_error("missing table");
}

static void readCoverage(const Reader& r, size_t at, Face& face)
{
    unsigned segments = r.u16(at);
    for (unsigned s = 0; s < segments; ++s) {
        unsigned first = r.u16(at + 2 + s * 4), last = r.u16(at + 4 + s * 4);
        for (unsigned c = first; c <= last; ++c)
            face.coverage->set(c);
    }
    face.glyphs = face.coverage->count();
}

static Face loadFace(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string data((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    Reader r(data);
    if (r.u32(0) != 0x00010000)
        throw std::runtime_error("not a font: " + path);
    Face face;
    size_t name = findTable(r, 0x6e616d65);
    face.weight = r.u16(name);
    face.family = r.text(name + 4, r.u16(name + 2));
    readCoverage(r, findTable(r, 0x636d6170), face);
    return face;
}

static std::shared_ptr<const FontSet> scanDirectory(const std::string& dir)
{
    std::vector<std::string> names;
    DIR* d = opendir(dir.c_str());
    if (!d)
        throw std::runtime_error("cannot open " + dir);
    while (dirent* e = readdir(d))
        if (strstr(e->d_name, ".ttf"))
            names.push_back(e->d_name);
    closedir(d);
    std::sort(names.begin(), names.end());
    auto set = std::make_shared<FontSet>();
    for (const std::string& n : names)
        set->push_back(loadFace(dir + "/" + n));
    return set;
}

class FontCache {
public:
    std::shared_ptr<const FontSet> get(const std::string& dir);

private:
    struct Entry {
        int64_t mtime = 0;
        int64_t mtimeNano = 0;
        std::shared_ptr<const FontSet> fonts;
    };

    static bool valid(const Entry& e, const struct stat& st)
    {
        return e.fonts && e.mtime == st.st_mtim.tv_sec && e.mtimeNano == st.st_mtim.tv_nsec;
    }
    static void store(Entry& e, const struct stat& st, std::shared_ptr<const FontSet> fonts)
    {
        e.mtime = st.st_mtim.tv_sec;
        e.mtimeNano = st.st_mtim.tv_nsec / 1000;
        e.fonts = std::move(fonts);
    }

    std::map<std::string, Entry> entries_;
};

std::shared_ptr<const FontSet> FontCache::get(const std::string& dir)
{
    struct stat st;
    if (stat(dir.c_str(), &st))
        throw std::runtime_error("cannot stat " + dir);
    Entry& e = entries_[dir];
    if (!valid(e, st))
        store(e, st, scanDirectory(dir));
    return e.fonts;
}

struct Run {
    std::string family;
    int weight;
    std::vector<uint16_t> text;
};

static const Face* match(const FontSet& set, const Run& run)
{
    const Face* best = nullptr;
    long bestScore = -1;
    for (const Face& f : set) {
        long covered = 0;
        for (uint16_t c : run.text)
            covered += f.coverage->test(c);
        long score = covered * 1000 - labs(f.weight - run.weight) + (f.family == run.family ? 500 : 0);
        if (score > bestScore) {
            bestScore = score;
            best = &f;
        }
    }
    return best;
}

static uint32_t seed = 2121;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 9) % n;
}

static void put16(std::string& s, unsigned v)
{
    s += static_cast<char>(v >> 8);
    s += static_cast<char>(v);
}

static void writeFont(const std::string& path, int index)
{
    std::string family = "Family " + std::to_string(index / 3), name, cmap, head, body;
    put16(name, 300 + index % 3 * 200);
    put16(name, static_cast<unsigned>(family.size()));
    name += family;
    unsigned segments = 60 + rnd(60), at = 32;
    put16(cmap, segments);
    for (unsigned s = 0; s < segments; ++s) {
        unsigned first = at + rnd(200), last = first + rnd(150);
        put16(cmap, first);
        put16(cmap, last);
        at = last + 1;
    }
    auto entry = [&](unsigned tagHi, unsigned tagLo, size_t offset, size_t len) {
        put16(head, tagHi), put16(head, tagLo);
        put16(head, static_cast<unsigned>(offset >> 16)), put16(head, static_cast<unsigned>(offset));
        put16(head, static_cast<unsigned>(len >> 16)), put16(head, static_cast<unsigned>(len));
    };
    put16(head, 1), put16(head, 0), put16(head, 3), put16(head, 0);
    body.assign(12000, static_cast<char>(index));
    size_t base = 8 + 3 * 12;
    entry(0x676c, 0x7966, base, body.size());
    entry(0x6e61, 0x6d65, base + body.size(), name.size());
    entry(0x636d, 0x6170, base + body.size() + name.size(), cmap.size());
    std::ofstream(path, std::ios::binary) << head << body << name << cmap;
}

int main(int argc, char** argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 1800;
    char dir[] = "/tmp/fontscan-XXXXXX";
    if (!mkdtemp(dir))
        return 1;
    std::vector<std::string> files;
    for (int i = 0; i < 30; ++i) {
        files.push_back(std::string(dir) + "/face" + std::to_string(i) + ".ttf");
        writeFont(files.back(), i);
    }
    struct timespec stamp[2] = {{1472000000, 0}, {1472000000, 417330025}};
    utimensat(AT_FDCWD, dir, stamp, 0);

    FontCache cache;
    uint64_t h = 14695981039346656037ull;
    size_t glyphs = 0;
    for (int i = 0; i < runs; ++i) {
        Run run{"Family " + std::to_string(rnd(10)), 300 + static_cast<int>(rnd(3)) * 200, {}};
        for (unsigned n = 40 + rnd(400), base = rnd(12000); n; --n)
            run.text.push_back(static_cast<uint16_t>(base + rnd(300)));
        auto fonts = cache.get(dir);
        const Face* f = match(*fonts, run);
        glyphs += f->glyphs;
        for (unsigned char c : f->family)
            h = (h ^ c ^ static_cast<uint64_t>(f->weight) << 8) * 1099511628211ull;
    }
    printf("%d runs, %zu glyphs, digest %016llx\n", runs, glyphs, static_cast<unsigned long long>(h));
    for (const std::string& f : files)
        unlink(f.c_str());
    rmdir(dir);
    return 0;
}

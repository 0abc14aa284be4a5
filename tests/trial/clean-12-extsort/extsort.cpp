// extsort - external merge sort of a log file by its key column, runs spilled to temp files.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

static std::string_view keyOf(std::string_view line)
{
    size_t a = line.find('\t');
    if (a == std::string_view::npos)
        return line;
    size_t b = line.find('\t', a + 1);
    return line.substr(a + 1, b == std::string_view::npos ? b : b - a - 1);
}

static bool lineLess(const std::string &a, const std::string &b)
{
    int c = keyOf(a).compare(keyOf(b));
    return c != 0 ? c < 0 : a < b;
}

class TempDir {
public:
    TempDir()
    {
        std::string t = (fs::temp_directory_path() / "extsort-XXXXXX").string();
        if (!mkdtemp(t.data()))
            throw std::runtime_error("mkdtemp failed");
        path_ = t;
    }
    ~TempDir() { fs::remove_all(path_); }
    fs::path file(size_t n) const { return path_ / ("run" + std::to_string(n)); }

private:
    fs::path path_;
};

class RunReader {
public:
    explicit RunReader(const fs::path &p) : buffer_(1 << 16)
    {
        in_.rdbuf()->pubsetbuf(buffer_.data(), std::streamsize(buffer_.size()));
        in_.open(p);
        advance();
    }
    bool advance() { return ok_ = bool(std::getline(in_, line_)); }
    bool ok() const { return ok_; }
    const std::string &line() const { return line_; }

private:
    std::vector<char> buffer_;
    std::ifstream in_;
    std::string line_;
    bool ok_ = false;
};

static void spill(std::vector<std::string> &lines, const fs::path &path)
{
    std::sort(lines.begin(), lines.end(), lineLess);
    std::ofstream out(path);
    for (const auto &l : lines)
        out << l << '\n';
    lines.clear();
}

static size_t makeRuns(const std::string &input, const TempDir &dir, size_t limit)
{
    std::ifstream in(input);
    if (!in)
        throw std::runtime_error("cannot open " + input);
    std::vector<std::string> lines;
    std::string line;
    size_t bytes = 0, runs = 0;
    while (std::getline(in, line)) {
        bytes += line.size() + sizeof(std::string);
        lines.push_back(line);
        if (bytes > limit) {
            spill(lines, dir.file(runs++));
            bytes = 0;
        }
    }
    if (!lines.empty())
        spill(lines, dir.file(runs++));
    return runs;
}

static void mergeRuns(const TempDir &dir, size_t runs)
{
    std::vector<std::unique_ptr<RunReader>> readers;
    auto later = [](const RunReader *a, const RunReader *b) { return lineLess(b->line(), a->line()); };
    std::priority_queue<RunReader *, std::vector<RunReader *>, decltype(later)> heap(later);
    for (size_t i = 0; i < runs; i++) {
        readers.push_back(std::make_unique<RunReader>(dir.file(i)));
        if (readers.back()->ok())
            heap.push(readers.back().get());
    }
    std::ofstream out(dir.file(runs));
    uint64_t digest = 1469598103934665603ull, n = 0;
    while (!heap.empty()) {
        RunReader *r = heap.top();
        heap.pop();
        out << r->line() << '\n';
        for (unsigned char c : r->line())
            digest = (digest ^ c) * 1099511628211ull;
        n++;
        if (r->advance())
            heap.push(r);
    }
    std::cout << n << " lines from " << runs << " runs, digest " << std::hex << digest << '\n';
}

int main(int argc, char **argv)
try {
    TempDir dir;
    size_t runs = makeRuns(argc > 1 ? argv[1] : "data/events.tsv", dir, 12 << 20);
    mergeRuns(dir, runs);
    return 0;
} catch (const std::exception &e) {
    std::cerr << "extsort: " << e.what() << '\n';
    return 1;
}

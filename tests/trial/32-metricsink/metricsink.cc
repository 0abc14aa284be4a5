// metricsink: reads request samples and keeps one histogram for each combination of labels,
// as an exporter for a monitoring system does; prints a summary of the exposition.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

struct Sample {
    long time = 0;
    std::string_view route, method, pod;
    int status = 0;
    long micros = 0;
};

struct Histogram {
    static constexpr std::array<long, 8> bounds{500, 1000, 2500, 5000, 10000, 25000, 50000, 100000};
    std::array<uint64_t, 9> counts{};
    uint64_t sum = 0, total = 0;

    void observe(long v) {
        size_t i = std::lower_bound(bounds.begin(), bounds.end(), v) - bounds.begin();
        counts[i]++;
        sum += v;
        total++;
    }
};

bool parseLine(std::string_view line, Sample &s) {
    std::array<std::string_view, 6> f;
    size_t n = 0;
    while (n < f.size() && !line.empty()) {
        size_t sp = line.find(' ');
        f[n++] = line.substr(0, sp);
        if (sp == std::string_view::npos) break;
        line.remove_prefix(sp + 1);
    }
    if (n != f.size()) return false;
    auto num = [](std::string_view v) {
        long r = 0;
        for (char c : v) r = r * 10 + (c - '0');
        return r;
    };
    s.time = num(f[0]);
    s.route = f[1];
    s.method = f[2];
    s.status = int(num(f[3]));
    s.pod = f[4];
    s.micros = num(f[5]);
    return true;
}

std::string escapeLabel(std::string_view v) {
    std::ostringstream os;
    for (char c : v) {
        if (c == '"' || c == '\\') os << '\\';
        os << c;
    }
    return os.str();
}

std::string seriesKey(const std::string &name, const Sample &s) {
    std::ostringstream os;
    os << name << '{'
       << "method=\"" << escapeLabel(s.method) << "\","
       << "pod=\"" << escapeLabel(s.pod) << "\","
       << "route=\"" << escapeLabel(s.route) << "\","
       << "status=\"" << s.status / 100 << "xx\"}";
    return os.str();
}

class Registry {
  public:
    explicit Registry(std::string name) : name_(std::move(name)) {}

    void record(const Sample &s) {
        series_[seriesKey(name_, s)].observe(s.micros);
        first_ = std::min(first_, s.time);
        last_ = std::max(last_, s.time);
    }

    uint64_t expose(std::string &text) const {
        std::vector<const std::pair<const std::string, Histogram> *> all;
        for (auto &e : series_) all.push_back(&e);
        std::sort(all.begin(), all.end(), [](auto a, auto b) { return a->first < b->first; });
        uint64_t lines = 0;
        for (auto e : all) {
            for (size_t i = 0; i < e->second.counts.size(); i++, lines++)
                text += e->first + " bucket " + std::to_string(i) + " " + std::to_string(e->second.counts[i]) + "\n";
            text += e->first + " sum " + std::to_string(e->second.sum) + "\n";
            lines++;
        }
        return lines;
    }

    size_t size() const { return series_.size(); }
    long span() const { return last_ - first_ + 1; }

  private:
    std::string name_;
    std::unordered_map<std::string, Histogram> series_;
    long first_ = 1L << 60, last_ = 0;
};

} // namespace

int main(int argc, char **argv) {
    std::ifstream in(argc > 1 ? argv[1] : "data/samples.txt");
    if (!in) {
        std::cerr << "cannot open samples\n";
        return 1;
    }
    Registry reg("http_request_duration_micros");
    std::string line;
    uint64_t good = 0, bad = 0;
    while (std::getline(in, line)) {
        Sample s;
        if (parseLine(line, s)) {
            reg.record(s);
            good++;
        } else {
            bad++;
        }
    }
    std::string text;
    uint64_t lines = reg.expose(text);
    uint64_t h = 14695981039346656037ull;
    for (unsigned char c : text) h = (h ^ c) * 1099511628211ull;
    std::cout << "samples " << good << " bad " << bad << " seconds " << reg.span() << "\n"
              << "series " << reg.size() << " lines " << lines << " checksum " << std::hex << h << "\n";
}

// Rolls access events up per service and route. Events come in batches, as from a socket; each batch is parsed by the pool in chunks, then
// added up by the pool in shards, and only then the next batch is taken, so that a checkpoint can be written after every batch.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>
#include "task_pool_fixed.hpp"

constexpr size_t kBatchLines = 800;
constexpr unsigned kChunks = 4;
constexpr unsigned kShards = 4;

struct Event {
    int64_t time;
    std::string_view service, method, route;
    int status;
    int micros;
    uint64_t key;
    uint64_t client;   // pseudonym
};

struct Rollup {
    std::string service, route;
    uint64_t count = 0, errors = 0, micros = 0;
    int longest = 0;
    std::array<uint32_t, 24> histogram{};
    std::array<uint8_t, 64> clients{};   // registers of a HyperLogLog
};

struct Checkpoint {
    int64_t time = 0;
    uint64_t events = 0, digest = 0;
};

static uint64_t hash_text(std::string_view text, uint64_t h = 0xcbf29ce484222325ull) {
    for (unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
    return h;
}

// Addresses of clients must not be stored: they are replaced by a salted SHA-256, repeated so that it cannot be inverted by trying.
class Pseudonymizer {
public:
    explicit Pseudonymizer(std::string_view salt) : salt_(salt) {}

    uint64_t pseudonym(std::string_view address) const {
        std::array<uint8_t, 64> block{};
        size_t used = std::min<size_t>(salt_.size(), 24);
        std::memcpy(block.data(), salt_.data(), used);
        std::memcpy(block.data() + used, address.data(), std::min<size_t>(address.size(), 20));
        block[55] = 0x80;
        std::array<uint32_t, 8> h{};
        for (int round = 0; round < kRounds; round++) {
            h = compress(block);
            std::memcpy(block.data(), h.data(), sizeof h);
        }
        return static_cast<uint64_t>(h[0]) << 32 | h[1];
    }

private:
    static constexpr int kRounds = 6;

    static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

    static const std::array<uint32_t, 64> &constants() {
        static const std::array<uint32_t, 64> k = [] {
            std::array<uint32_t, 64> out{};
            for (unsigned prime = 2, n = 0; n < 64; prime++) {
                bool divisible = false;
                for (unsigned d = 2; d * d <= prime; d++) divisible |= prime % d == 0;
                if (divisible) continue;
                double root = std::cbrt(static_cast<double>(prime));
                out[n++] = static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0);
            }
            return out;
        }();
        return k;
    }

    static std::array<uint32_t, 8> compress(const std::array<uint8_t, 64> &block) {
        std::array<uint32_t, 8> h{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, s = h;
        std::array<uint32_t, 64> w{};
        std::memcpy(w.data(), block.data(), 64);
        for (size_t i = 16; i < 64; i++)
            w[i] = w[i - 16] + w[i - 7] + (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) +
                   (rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
        const auto &k = constants();
        for (size_t i = 0; i < 64; i++) {
            uint32_t t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
            uint32_t t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
        }
        for (size_t i = 0; i < 8; i++) h[i] += s[i];
        return h;
    }

    std::string salt_;
};

class EventSource {
public:
    explicit EventSource(const char *path) : in_(path) {
        if (!in_) {
            std::cerr << "eventroll: cannot read " << path << "\n";
            std::exit(1);
        }
    }

    bool next_batch(std::vector<std::string> &lines) {
        lines.clear();
        std::string line;
        while (lines.size() < kBatchLines && std::getline(in_, line)) lines.push_back(std::move(line));
        return !lines.empty();
    }

private:
    std::ifstream in_;
};

static std::string_view next_word(std::string_view &rest) {
    size_t end = rest.find(' ');
    auto word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return word;
}

static int64_t to_number(std::string_view word) {
    int64_t n = 0;
    for (char c : word) n = n * 10 + (c - '0');
    return n;
}

// "/api/v1/c/482" belongs to the route "/api/v1/c"
static std::string_view route_of(std::string_view path) {
    return path.substr(0, path.rfind('/'));
}

static Event parse_event(const Pseudonymizer &privacy, std::string_view line) {
    Event e;
    e.time = to_number(next_word(line));
    e.client = privacy.pseudonym(next_word(line));
    e.service = next_word(line);
    e.method = next_word(line);
    e.route = route_of(next_word(line));
    e.status = static_cast<int>(to_number(next_word(line)));
    e.micros = static_cast<int>(to_number(next_word(line)));
    e.key = hash_text(e.route, hash_text(e.service));
    return e;
}

static void parse_chunk(const Pseudonymizer &privacy, const std::vector<std::string> &lines, size_t begin, size_t end,
                        std::vector<Event> &out) {
    out.clear();
    for (size_t i = begin; i < end; i++) out.push_back(parse_event(privacy, lines[i]));
}

class Shard {
public:
    void add(const Event &e) {
        Rollup &r = rollups_[e.key];
        if (!r.count) {
            r.service = e.service;
            r.route = e.route;
        }
        r.count++;
        r.errors += e.status >= 500;
        r.micros += static_cast<uint64_t>(e.micros);
        r.longest = std::max(r.longest, e.micros);
        int bucket = 31 - __builtin_clz(static_cast<unsigned>(e.micros) | 1);
        r.histogram[static_cast<size_t>(bucket)]++;
        uint8_t rank = static_cast<uint8_t>(__builtin_clzll(e.client << 6 | 32) + 1);
        uint8_t &cell = r.clients[e.client >> 58];
        cell = std::max(cell, rank);
    }

    const std::unordered_map<uint64_t, Rollup> &rollups() const { return rollups_; }

private:
    std::unordered_map<uint64_t, Rollup> rollups_;
};

class Pipeline {
public:
    explicit Pipeline(unsigned threads) : pool_(threads) {}

    void run(EventSource &source) {
        std::vector<std::string> lines;
        while (source.next_batch(lines)) process_batch(lines);
    }

    std::vector<const Rollup *> results() const {
        std::vector<const Rollup *> all;
        for (const auto &shard : shards_)
            for (const auto &[key, rollup] : shard.rollups()) all.push_back(&rollup);
        std::sort(all.begin(), all.end(), [](const Rollup *a, const Rollup *b) {
            if (a->micros != b->micros) return a->micros > b->micros;
            return std::tie(a->service, a->route) < std::tie(b->service, b->route);
        });
        return all;
    }

    const Checkpoint &checkpoint() const { return checkpoint_; }

private:
    void process_batch(const std::vector<std::string> &lines) {
        parse_stage(lines);
        rollup_stage();
        write_checkpoint();
    }

    void parse_stage(const std::vector<std::string> &lines) {
        size_t step = (lines.size() + kChunks - 1) / kChunks;
        pool_.parallelize_loop(kChunks, [&](unsigned c) {
            parse_chunk(privacy_, lines, std::min(c * step, lines.size()), std::min((c + 1) * step, lines.size()), events_[c]);
        });
    }

    void rollup_stage() {
        pool_.parallelize_loop(kShards, [&](unsigned s) {
            for (const auto &chunk : events_)
                for (const auto &e : chunk)
                    if (e.key % kShards == s) shards_[s].add(e);
        });
    }

    void write_checkpoint() {
        for (const auto &chunk : events_)
            for (const auto &e : chunk) {
                checkpoint_.time = e.time;
                checkpoint_.events++;
                checkpoint_.digest = checkpoint_.digest * 31 + (e.key ^ static_cast<uint64_t>(e.micros));
            }
    }

    TaskPool pool_;
    Pseudonymizer privacy_{"8f2c-rollup"};
    std::array<std::vector<Event>, kChunks> events_;
    std::array<Shard, kShards> shards_;
    Checkpoint checkpoint_;
};

static int quantile(const Rollup &r, double q) {
    uint64_t want = static_cast<uint64_t>(q * static_cast<double>(r.count)), seen = 0;
    for (size_t b = 0; b < r.histogram.size(); b++) {
        seen += r.histogram[b];
        if (seen > want) return 2 << b;
    }
    return r.longest;
}

static double distinct_clients(const Rollup &r) {
    double sum = 0;
    int empty = 0;
    for (uint8_t rank : r.clients) {
        sum += std::ldexp(1.0, -rank);
        empty += rank == 0;
    }
    double estimate = 0.709 * 64 * 64 / sum;
    return estimate < 160 && empty ? 64 * std::log(64.0 / empty) : estimate;
}

static void print_results(const std::vector<const Rollup *> &all, const Checkpoint &checkpoint) {
    std::printf("%llu events until %lld, %zu rollups, digest %016llx\n", static_cast<unsigned long long>(checkpoint.events),
                static_cast<long long>(checkpoint.time), all.size(), static_cast<unsigned long long>(checkpoint.digest));
    for (size_t i = 0; i < all.size() && i < 15; i++) {
        const Rollup &r = *all[i];
        std::printf("%-16s %-12s %6llu %5llu errors %9.1f ms longest %d p50 %d p95 %d clients %.0f\n", r.service.c_str(), r.route.c_str(),
                    static_cast<unsigned long long>(r.count), static_cast<unsigned long long>(r.errors), static_cast<double>(r.micros) / 1000,
                    r.longest, quantile(r, 0.5), quantile(r, 0.95), distinct_clients(r));
    }
}

int main(int argc, char **argv) {
    EventSource source(argc > 1 ? argv[1] : "data/events.log");
    Pipeline pipeline(4);
    pipeline.run(source);
    print_results(pipeline.results(), pipeline.checkpoint());
    return 0;
}

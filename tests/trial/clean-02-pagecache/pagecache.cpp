// pagecache - replay a skewed block trace against an LRU page cache backed by a generated volume.
#include <cstdint>
#include <cmath>
#include <iostream>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

using Page = std::vector<uint8_t>;

class Volume {
public:
    explicit Volume(uint64_t seed) : seed_(seed) {}
    Page read(uint64_t number)
    {
        Page p(4096);
        uint64_t x = number * 0x9e3779b97f4a7c15ull ^ seed_;
        for (size_t i = 0; i < p.size(); i += 8) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            for (int k = 0; k < 8; k++)
                p[i + k] = uint8_t(x >> (8 * k));
        }
        reads_++;
        return p;
    }
    uint64_t reads() const { return reads_; }

private:
    uint64_t seed_;
    uint64_t reads_ = 0;
};

class PageCache {
public:
    PageCache(Volume &volume, size_t capacity) : volume_(volume), capacity_(capacity) { index_.reserve(capacity * 2); }

    const Page &get(uint64_t number)
    {
        auto it = index_.find(number);
        if (it != index_.end()) {
            hits_++;
            order_.splice(order_.begin(), order_, it->second);
            return it->second->page;
        }
        if (index_.size() >= capacity_) {
            index_.erase(order_.back().number);
            order_.pop_back();
            evictions_++;
        }
        order_.push_front({number, volume_.read(number)});
        index_[number] = order_.begin();
        return order_.front().page;
    }

    uint64_t hits() const { return hits_; }
    uint64_t evictions() const { return evictions_; }

private:
    struct Entry {
        uint64_t number;
        Page page;
    };
    Volume &volume_;
    size_t capacity_;
    std::list<Entry> order_;
    std::unordered_map<uint64_t, std::list<Entry>::iterator> index_;
    uint64_t hits_ = 0, evictions_ = 0;
};

class TraceGenerator {
public:
    explicit TraceGenerator(uint64_t blocks) : blocks_(blocks) {}
    uint64_t next()
    {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        double u = double(state_ >> 11) / 9007199254740992.0;
        if ((state_ >> 33) % 8 == 0)
            return uint64_t(u * double(blocks_));
        return uint64_t(std::pow(u, 10.0) * double(blocks_));
    }

private:
    uint64_t blocks_;
    uint64_t state_ = 42;
};

static uint32_t fletcher(const Page &p, size_t from, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = from; i < from + n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

int main(int argc, char **argv)
{
    const uint64_t requests = argc > 1 ? std::stoull(argv[1]) : 2200000;
    Volume volume(7);
    PageCache cache(volume, 20000);
    TraceGenerator trace(400000);
    uint64_t digest = 0;
    for (uint64_t i = 0; i < requests; i++) {
        uint64_t number = trace.next();
        const Page &p = cache.get(number);
        digest = digest * 31 + fletcher(p, number % 3968, 64);
    }
    std::cout << requests << " requests, " << cache.hits() << " hits, " << cache.evictions() << " evictions, "
              << volume.reads() << " reads, digest " << std::hex << digest << '\n';
    return 0;
}

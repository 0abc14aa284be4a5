// hubrank - finds the junctions of a road network that most shortest routes run
// through (exact betweenness, Brandes' accumulation over weighted routes).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <queue>
#include <vector>

struct Arc {
    uint32_t to;
    uint32_t length;
};

class RoadNetwork {
public:
    RoadNetwork(uint32_t w, uint32_t h) : n_(w * h), first_(n_ + 1) {
        uint32_t s = 2463534242u;
        auto rnd = [&s](uint32_t k) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            return s % k;
        };
        std::vector<std::vector<Arc>> adj(n_);
        auto join = [&](uint32_t a, uint32_t b, uint32_t len) {
            adj[a].push_back({b, len});
            adj[b].push_back({a, len});
        };
        for (uint32_t y = 0; y < h; ++y)
            for (uint32_t x = 0; x < w; ++x) {
                uint32_t at = y * w + x;
                if (x + 1 < w && rnd(12)) join(at, at + 1, 200 + rnd(900));
                if (y + 1 < h && rnd(12)) join(at, at + w, 200 + rnd(900));
                if (rnd(150) == 0) join(at, rnd(n_), 2500 + rnd(9000));
            }
        for (uint32_t i = 0; i < n_; ++i) {
            first_[i + 1] = first_[i] + static_cast<uint32_t>(adj[i].size());
            arcs_.insert(arcs_.end(), adj[i].begin(), adj[i].end());
        }
    }

    uint32_t size() const { return n_; }
    size_t arcs() const { return arcs_.size(); }
    const Arc* begin(uint32_t v) const { return arcs_.data() + first_[v]; }
    const Arc* end(uint32_t v) const { return arcs_.data() + first_[v + 1]; }

private:
    uint32_t n_;
    std::vector<uint32_t> first_;
    std::vector<Arc> arcs_;
};

// Binary heap with positions, so that a key can be lowered in place.
class VertexHeap {
public:
    VertexHeap(uint32_t n, const std::vector<uint32_t>& key) : key_(key), place_(n, kOut) { heap_.reserve(n); }

    bool empty() const { return heap_.empty(); }

    void push_or_lower(uint32_t v) {
        if (place_[v] == kOut) {
            place_[v] = static_cast<uint32_t>(heap_.size());
            heap_.push_back(v);
        }
        up(place_[v]);
    }

    uint32_t pop() {
        uint32_t top = heap_[0], last = heap_.back();
        heap_.pop_back();
        place_[top] = kOut;
        if (!heap_.empty()) {
            heap_[0] = last;
            place_[last] = 0;
            down(0);
        }
        return top;
    }

private:
    static constexpr uint32_t kOut = std::numeric_limits<uint32_t>::max();

    void up(uint32_t i) {
        uint32_t v = heap_[i];
        while (i > 0 && key_[heap_[(i - 1) / 4]] > key_[v]) {
            heap_[i] = heap_[(i - 1) / 4];
            place_[heap_[i]] = i;
            i = (i - 1) / 4;
        }
        heap_[i] = v;
        place_[v] = i;
    }

    void down(uint32_t i) {
        uint32_t v = heap_[i], n = static_cast<uint32_t>(heap_.size());
        for (;;) {
            uint32_t c = 4 * i + 1, best = i, bk = key_[v];
            for (uint32_t k = c; k < std::min(c + 4, n); ++k)
                if (key_[heap_[k]] < bk) {
                    best = k;
                    bk = key_[heap_[k]];
                }
            if (best == i) break;
            heap_[i] = heap_[best];
            place_[heap_[i]] = i;
            i = best;
        }
        heap_[i] = v;
        place_[v] = i;
    }

    const std::vector<uint32_t>& key_;
    std::vector<uint32_t> place_, heap_;
};

class Betweenness {
public:
    explicit Betweenness(const RoadNetwork& net)
        : net_(net), dist_(net.size()), paths_(net.size()), share_(net.size()), score_(net.size()), heap_(net.size(), dist_) {
        order_.reserve(net.size());
    }

    void run() {
        for (uint32_t s = 0; s < net_.size(); ++s) {
            search(s);
            accumulate(s);
        }
    }

    const std::vector<double>& score() const { return score_; }
    uint64_t farthest() const { return farthest_; }

private:
    void search(uint32_t s) {
        std::fill(dist_.begin(), dist_.end(), std::numeric_limits<uint32_t>::max());
        std::fill(paths_.begin(), paths_.end(), 0.0);
        order_.clear();
        dist_[s] = 0;
        paths_[s] = 1;
        heap_.push_or_lower(s);
        while (!heap_.empty()) {
            uint32_t v = heap_.pop();
            order_.push_back(v);
            for (const Arc* a = net_.begin(v); a != net_.end(v); ++a) {
                uint32_t d = dist_[v] + a->length;
                if (d < dist_[a->to]) {
                    dist_[a->to] = d;
                    paths_[a->to] = paths_[v];
                    heap_.push_or_lower(a->to);
                } else if (d == dist_[a->to]) {
                    paths_[a->to] += paths_[v];
                }
            }
        }
        farthest_ = std::max<uint64_t>(farthest_, dist_[order_.back()]);
    }

    void accumulate(uint32_t s) {
        std::fill(share_.begin(), share_.end(), 0.0);
        for (size_t i = order_.size(); i-- > 1;) {
            uint32_t w = order_[i];
            for (const Arc* a = net_.begin(w); a != net_.end(w); ++a)
                if (dist_[a->to] != std::numeric_limits<uint32_t>::max() && dist_[a->to] + a->length == dist_[w])
                    share_[a->to] += paths_[a->to] / paths_[w] * (1 + share_[w]);
            if (w != s) score_[w] += share_[w];
        }
    }

    const RoadNetwork& net_;
    std::vector<uint32_t> dist_;
    std::vector<double> paths_, share_, score_;
    std::vector<uint32_t> order_;
    VertexHeap heap_;
    uint64_t farthest_ = 0;
};

int main() {
    RoadNetwork net(72, 52);
    Betweenness b(net);
    b.run();
    std::vector<uint32_t> ids(net.size());
    std::iota(ids.begin(), ids.end(), 0u);
    auto& score = b.score();
    std::partial_sort(ids.begin(), ids.begin() + 10, ids.end(), [&](uint32_t x, uint32_t y) {
        return score[x] != score[y] ? score[x] > score[y] : x < y;
    });
    std::printf("%u junctions, %zu arcs, widest route %llu m\n", net.size(), net.arcs(),
                static_cast<unsigned long long>(b.farthest()));
    for (int i = 0; i < 10; ++i) std::printf("%5u %.1f\n", ids[i], score[ids[i]]);
    return 0;
}

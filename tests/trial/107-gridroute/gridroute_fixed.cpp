// Routes wires over a sparse grid with obstacles: a flood from each source gives the cost of every reachable cell,
// the nets are traced back from their pins, and cells that are used become more expensive for the next ones.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct Cell {
    int32_t x, y;
    bool operator==(const Cell &o) const { return x == o.x && y == o.y; }
};

namespace std {
template <> struct hash<Cell> {
    size_t operator()(const Cell &c) const noexcept
    {
        uint64_t v = (uint64_t)(uint32_t)c.x << 32 | (uint32_t)c.y;
        v *= 0x9e3779b97f4a7c15ull;
        return v ^ v >> 29;
    }
};
}

struct Random {
    uint32_t s;
    uint32_t next() { s = s * 1664525u + 1013904223u; return s >> 8; }
    int below(int n) { return (int)(next() % (uint32_t)n); }
};

struct Net {
    Cell source;
    std::vector<Cell> pins;
    int length = 0, bends = 0, failed = 0;
};

struct Board {
    int width, height;
    std::unordered_set<Cell> blocked;
    bool inside(const Cell &c) const { return c.x >= 0 && c.y >= 0 && c.x < width && c.y < height; }
    bool free(const Cell &c) const { return inside(c) && !blocked.count(c); }
};

static Board make_board(int w, int h, Random &r)
{
    Board b{w, h, {}};
    for (int i = 0; i < 700; i++) {
        int x = r.below(w), y = r.below(h), bw = 1 + r.below(14), bh = 1 + r.below(5);
        for (int j = 0; j < bh; j++)
            for (int k = 0; k < bw; k++)
                if (x + k < w && y + j < h) b.blocked.insert({x + k, y + j});
    }
    return b;
}

static Cell free_cell(const Board &b, Random &r)
{
    for (;;) {
        Cell c{r.below(b.width), r.below(b.height)};
        if (b.free(c)) return c;
    }
}

static std::vector<Net> make_nets(const Board &b, int count, Random &r)
{
    std::vector<Net> nets;
    for (int i = 0; i < count; i++) {
        Net n;
        n.source = free_cell(b, r);
        int pins = 4 + r.below(8);
        for (int p = 0; p < pins; p++) n.pins.push_back(free_cell(b, r));
        nets.push_back(n);
    }
    return nets;
}

class Router {
public:
    explicit Router(const Board &b) : board(b) {}
    void route(Net &n);
    size_t used_cells() const { return usage.size(); }
    uint64_t expanded = 0;
    int max_usage() const;

private:
    struct Entry { int cost; int dir; };
    struct Item {
        int cost;
        Cell at;
        bool operator<(const Item &o) const
        {
            if (cost != o.cost) return cost > o.cost;
            return at.y != o.at.y ? at.y > o.at.y : at.x > o.at.x;
        }
    };
    void flood(const Cell &source);
    void relax(const Cell &to, int cost, int dir, std::priority_queue<Item> &open);
    void trace(Net &n, const Cell &pin);

    const Board &board;
    std::unordered_map<Cell, Entry> reached;
    std::unordered_map<Cell, int> usage;
    static constexpr int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
};

void Router::relax(const Cell &to, int cost, int dir, std::priority_queue<Item> &open)
{
    auto [it, fresh] = reached.try_emplace(to, Entry{cost, dir});
    if (!fresh) {
        if (it->second.cost <= cost) return;
        it->second = {cost, dir};
    }
    open.push({cost, to});
}

void Router::flood(const Cell &source)
{
    std::priority_queue<Item> open;
    reached.clear();
    relax(source, 0, -1, open);
    while (!open.empty()) {
        Item i = open.top();
        open.pop();
        Entry e = reached.find(i.at)->second;
        if (e.cost < i.cost) continue;
        expanded++;
        for (int d = 0; d < 4; d++) {
            Cell to{i.at.x + dx[d], i.at.y + dy[d]};
            if (!board.free(to)) continue;
            int step = 4 + (e.dir >= 0 && e.dir != d ? 3 : 0);
            auto u = usage.find(to);
            if (u != usage.end()) step += 5 * std::min(u->second, 6);
            relax(to, i.cost + step, d, open);
        }
    }
}

void Router::trace(Net &n, const Cell &pin)
{
    Cell at = pin;
    int last = -1;
    auto it = reached.find(at);
    if (it == reached.end()) {
        n.failed++;
        return;
    }
    while (it->second.dir >= 0) {
        int d = it->second.dir;
        usage[at]++;
        n.length++;
        if (last >= 0 && last != d) n.bends++;
        last = d;
        at = {at.x - dx[d], at.y - dy[d]};
        it = reached.find(at);
    }
}

void Router::route(Net &n)
{
    flood(n.source);
    for (const Cell &p : n.pins) trace(n, p);
}

int Router::max_usage() const
{
    int m = 0;
    for (auto &u : usage) m = std::max(m, u.second);
    return m;
}

int main()
{
    Random r{4711};
    Board b = make_board(500, 420, r);
    std::vector<Net> nets = make_nets(b, 7, r);
    std::printf("board %d x %d, blocked %zu, nets %zu\n", b.width, b.height, b.blocked.size(), nets.size());
    Router router(b);
    long length = 0, bends = 0;
    for (size_t i = 0; i < nets.size(); i++) {
        Net &n = nets[i];
        router.route(n);
        length += n.length;
        bends += n.bends;
        std::printf("net %zu: %zu pins, length %d, bends %d, unreachable %d\n", i, n.pins.size(), n.length, n.bends, n.failed);
    }
    std::printf("length %ld, bends %ld, cells used %zu, busiest %d, expanded %llu\n", length, bends, router.used_cells(),
                router.max_usage(), (unsigned long long)router.expanded);
}

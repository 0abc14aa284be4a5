// tilemap: rasterises random walks of vehicles on a grid of map tiles, then looks for busy tiles and clusters of them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct Tile {
    int32_t x, y;
    bool operator==(const Tile &o) const { return x == o.x && y == o.y; }
    bool operator<(const Tile &o) const { return x != o.x ? x < o.x : y < o.y; }
};

struct TileHash {
    size_t operator()(const Tile &t) const noexcept {
        return std::hash<int32_t>()(t.x) ^ std::hash<int32_t>()(t.y);
    }
};

struct TileInfo {
    uint32_t visits = 0;
    uint32_t last_vehicle = UINT32_MAX;
    uint32_t vehicles = 0;
};

class Heatmap {
  public:
    void visit(Tile t, uint32_t vehicle) {
        TileInfo &i = tiles_[t];
        i.visits++;
        if (i.last_vehicle != vehicle) {
            i.last_vehicle = vehicle;
            i.vehicles++;
        }
        total_++;
    }

    const TileInfo *find(Tile t) const {
        auto it = tiles_.find(t);
        return it == tiles_.end() ? nullptr : &it->second;
    }

    std::vector<Tile> busy(uint32_t limit) const {
        std::vector<Tile> out;
        for (auto &e : tiles_)
            if (e.second.visits >= limit) out.push_back(e.first);
        std::sort(out.begin(), out.end());
        return out;
    }

    size_t size() const { return tiles_.size(); }
    uint64_t total() const { return total_; }

  private:
    std::unordered_map<Tile, TileInfo, TileHash> tiles_;
    uint64_t total_ = 0;
};

struct Track {
    uint32_t vehicle;
    int32_t x, y;
    std::string moves;
};

static std::vector<Track> loadTracks(const std::string &path) {
    std::vector<Track> out;
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream is(line);
        Track t;
        if (is >> t.vehicle >> t.x >> t.y >> t.moves) out.push_back(std::move(t));
    }
    return out;
}

static void replay(Heatmap &map, const Track &t) {
    Tile at{t.x, t.y};
    map.visit(at, t.vehicle);
    for (char m : t.moves) {
        switch (m) {
        case 'n': at.y--; break;
        case 's': at.y++; break;
        case 'w': at.x--; break;
        case 'e': at.x++; break;
        default: continue;
        }
        map.visit(at, t.vehicle);
    }
}

// size of the largest group of busy tiles that touch
static size_t largestCluster(const Heatmap &map, const std::vector<Tile> &busy, uint32_t limit) {
    std::vector<char> seen(busy.size(), 0);
    auto indexOf = [&](Tile t) { return size_t(std::lower_bound(busy.begin(), busy.end(), t) - busy.begin()); };
    size_t best = 0;
    for (size_t i = 0; i < busy.size(); i++) {
        if (seen[i]) continue;
        std::vector<size_t> stack{i};
        seen[i] = 1;
        size_t n = 0;
        while (!stack.empty()) {
            Tile t = busy[stack.back()];
            stack.pop_back();
            n++;
            const Tile around[4] = {{t.x - 1, t.y}, {t.x + 1, t.y}, {t.x, t.y - 1}, {t.x, t.y + 1}};
            for (Tile a : around) {
                const TileInfo *info = map.find(a);
                if (!info || info->visits < limit) continue;
                size_t k = indexOf(a);
                if (!seen[k]) {
                    seen[k] = 1;
                    stack.push_back(k);
                }
            }
        }
        best = std::max(best, n);
    }
    return best;
}

int main(int argc, char **argv) {
    auto tracks = loadTracks(argc > 1 ? argv[1] : "data/tracks.txt");
    if (tracks.empty()) {
        std::cerr << "no tracks\n";
        return 1;
    }
    Heatmap map;
    for (auto &t : tracks) replay(map, t);
    std::cout << "tracks " << tracks.size() << ", visits " << map.total() << ", tiles " << map.size() << "\n";
    for (uint32_t limit : {4u, 8u, 12u}) {
        auto busy = map.busy(limit);
        uint64_t h = 0;
        for (auto &t : busy) h = h * 1000003 + uint64_t(t.x) * 4096 + t.y;
        std::printf("at least %u visits: %zu tiles, largest cluster %zu, checksum %016llx\n", limit, busy.size(),
                    largestCluster(map, busy, limit), (unsigned long long)h);
    }
}

// chunkmap - load a sparse voxel heightmap, flood-fill the lakes and print their sizes.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

struct BlockPos {
    int x, z;
    bool operator==(const BlockPos &o) const { return x == o.x && z == o.z; }
};

struct BlockPosHash {
    size_t operator()(const BlockPos &p) const noexcept
    {
        uint64_t h = (uint64_t(uint32_t(p.x)) << 32) | uint32_t(p.z);
        h ^= h >> 33;
        h *= 0xff51afd7ed558ccdull;
        h ^= h >> 33;
        h *= 0xc4ceb9fe1a85ec53ull;
        return size_t(h ^ (h >> 33));
    }
};

struct Column {
    int16_t height = 0;
    int16_t water = 0;
    int lake = -1;
};

struct Lake {
    size_t area = 0;
    long volume = 0;
    int deepest = 0;
    BlockPos first{0, 0};
};

class TerrainMap {
public:
    bool load(const std::string &path);
    Column *find(BlockPos p)
    {
        auto it = columns_.find(p);
        return it == columns_.end() ? nullptr : &it->second;
    }
    const std::vector<BlockPos> &order() const { return order_; }
    size_t size() const { return columns_.size(); }

private:
    void addRun(int x, int z, int step, int count, uint32_t seed);

    std::unordered_map<BlockPos, Column, BlockPosHash> columns_;
    std::vector<BlockPos> order_;
};

void TerrainMap::addRun(int x, int z, int step, int count, uint32_t seed)
{
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        Column c;
        c.height = int16_t(40 + (seed >> 24) % 30);
        c.water = c.height < 62 ? 62 : 0;
        BlockPos p{x + i * step, z};
        if (columns_.emplace(p, c).second)
            order_.push_back(p);
    }
}

bool TerrainMap::load(const std::string &path)
{
    std::ifstream in(path);
    if (!in)
        return false;
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream ss(line);
        int x, z, step, count;
        uint32_t seed;
        if (ss >> x >> z >> step >> count >> seed)
            addRun(x, z, step, count, seed);
    }
    return true;
}

static Lake fillLake(TerrainMap &map, BlockPos start, int id, int step)
{
    Lake lake;
    lake.first = start;
    std::deque<BlockPos> queue{start};
    map.find(start)->lake = id;
    while (!queue.empty()) {
        BlockPos p = queue.front();
        queue.pop_front();
        const Column &c = *map.find(p);
        int depth = c.water - c.height;
        lake.area++;
        lake.volume += depth;
        lake.deepest = std::max(lake.deepest, depth);
        const BlockPos around[] = {{p.x + step, p.z}, {p.x - step, p.z}, {p.x, p.z + step}, {p.x, p.z - step}};
        for (const BlockPos &n : around) {
            Column *next = map.find(n);
            if (next && next->water > next->height && next->lake < 0) {
                next->lake = id;
                queue.push_back(n);
            }
        }
    }
    return lake;
}

static std::vector<Lake> findLakes(TerrainMap &map, int step)
{
    std::vector<Lake> lakes;
    for (const BlockPos &p : map.order()) {
        const Column *c = map.find(p);
        if (c->water > c->height && c->lake < 0)
            lakes.push_back(fillLake(map, p, int(lakes.size()), step));
    }
    return lakes;
}

static double roughness(TerrainMap &map, int step)
{
    double sum = 0;
    size_t n = 0;
    for (const BlockPos &p : map.order()) {
        const Column *here = map.find(p), *east = map.find({p.x + step, p.z});
        if (!east)
            continue;
        double d = here->height - east->height;
        sum += d * d;
        n++;
    }
    return n ? sum / double(n) : 0;
}

// Smooths a dense copy of the heights by thermal erosion and returns the moved volume.
static double erode(TerrainMap &map, int rounds)
{
    int minX = 0, minZ = 0, maxX = 0, maxZ = 0;
    for (const BlockPos &p : map.order()) {
        minX = std::min(minX, p.x);
        maxX = std::max(maxX, p.x);
        minZ = std::min(minZ, p.z);
        maxZ = std::max(maxZ, p.z);
    }
    const int w = maxX - minX + 1, h = maxZ - minZ + 1;
    std::vector<float> height(size_t(w) * h, 40.0f), delta(height.size());
    for (const BlockPos &p : map.order())
        height[size_t(p.z - minZ) * w + (p.x - minX)] = map.find(p)->height;
    double moved = 0;
    for (int r = 0; r < rounds; r++) {
        std::fill(delta.begin(), delta.end(), 0.0f);
        for (int z = 1; z + 1 < h; z++)
            for (int x = 1; x + 1 < w; x++) {
                size_t i = size_t(z) * w + x;
                for (size_t n : {i - 1, i + 1, i - w, i + w}) {
                    float d = height[i] - height[n];
                    if (d > 4.0f) {
                        delta[i] -= 0.05f * (d - 4.0f);
                        delta[n] += 0.05f * (d - 4.0f);
                        moved += d - 4.0f;
                    }
                }
            }
        for (size_t i = 0; i < height.size(); i++)
            height[i] += delta[i];
    }
    return moved;
}

int main(int argc, char **argv)
{
    const int step = 1;
    TerrainMap map;
    if (!map.load(argc > 1 ? argv[1] : "data/terrain.txt")) {
        std::cerr << "chunkmap: cannot read terrain\n";
        return 1;
    }
    std::vector<Lake> lakes = findLakes(map, step);
    std::sort(lakes.begin(), lakes.end(), [](const Lake &a, const Lake &b) {
        if (a.area != b.area)
            return a.area > b.area;
        return a.first.x != b.first.x ? a.first.x < b.first.x : a.first.z < b.first.z;
    });
    for (size_t i = 0; i < lakes.size() && i < 12; i++)
        std::cout << "lake at " << lakes[i].first.x << ',' << lakes[i].first.z << ": area " << lakes[i].area
                  << " volume " << lakes[i].volume << " deepest " << lakes[i].deepest << '\n';
    std::cout << "eroded " << erode(map, 120) << '\n';
    std::cout << map.size() << " columns, " << lakes.size() << " lakes, roughness " << roughness(map, step) << '\n';
    return 0;
}

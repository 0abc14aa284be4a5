// skirmish - the battlescape of a turn-based game: units of two sides move over
// a map with obstacles, spot each other along lines of sight and shoot.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

struct Position {
    int x = 0, y = 0;
};

struct Armor {
    std::string type;
    int front, side;
};

class MapDataSet {
public:
    struct Part {
        std::string sprite;
        int tuCost;
        bool blocksView;
    };

    explicit MapDataSet(const std::string& name) {
        for (int i = 0; i < 24; ++i)
            parts_.push_back({name + "_PART_" + std::to_string(i), 4 + i % 5, i % 11 == 10});
    }

    const std::vector<Part> getParts() const { return parts_; }

private:
    std::vector<Part> parts_;
};

class Random {
public:
    explicit Random(uint32_t s) : s_(s) {}
    int generate(int lo, int hi) {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 17;
        s_ ^= s_ << 5;
        return lo + static_cast<int>(s_ % static_cast<uint32_t>(hi - lo + 1));
    }

private:
    uint32_t s_;
};

class BattleUnit {
public:
    BattleUnit(int id, int side, Position pos, const Armor& armor)
        : id_(id), side_(side), pos_(pos), armor_(armor) {}

    int id() const { return id_; }
    int side() const { return side_; }
    Position position() const { return pos_; }
    void setPosition(Position p) { pos_ = p; }
    bool isOut() const { return health_ <= 0; }
    int health() const { return health_; }
    void damage(int power) {
        int d = power - armor_.front;
        if (d > 0) health_ -= d;
    }
    int tu = 60;

private:
    int id_, side_;
    Position pos_;
    Armor armor_;
    int health_ = 120;
};

class SavedBattle {
public:
    SavedBattle(int w, int h, Random& rng) : w_(w), h_(h), rng_(rng), cells_(w * h), smoke_(w * h) {
        sets_.emplace_back("FOREST");
        sets_.emplace_back("FARM");
        sets_.emplace_back("URBAN");
        for (auto& c : cells_) c = rng.generate(0, 71);
    }

    bool inside(Position p) const { return p.x >= 0 && p.y >= 0 && p.x < w_ && p.y < h_; }

    MapDataSet::Part partAt(Position p) const {
        int c = cells_[p.y * w_ + p.x];
        return sets_[c / 24].getParts()[c % 24];
    }

    int tuCostAt(Position p) const {
        int c = cells_[p.y * w_ + p.x];
        return sets_[c / 24].getParts()[c % 24].tuCost;
    }

    bool viewBlockedAt(Position p) const {
        int c = cells_[p.y * w_ + p.x];
        return smoke_[p.y * w_ + p.x] > 10 || sets_[c / 24].getParts()[c % 24].blocksView;
    }

    void addSmoke(Position p, int n) {
        int& s = smoke_[p.y * w_ + p.x];
        s = std::min(15, s + n);
    }

    void dissipate() {
        for (int& s : smoke_)
            if (s > 0) s -= 1;
    }

    void deploy(int perSide) {
        Armor kinds[3] = {{"STR_NONE", 8, 6}, {"STR_PERSONAL", 20, 15}, {"STR_POWER", 35, 30}};
        for (int i = 0; i < perSide * 2; ++i) {
            int side = i & 1;
            Position p{rng_.generate(0, w_ / 3) + (side ? w_ - w_ / 3 - 1 : 0), rng_.generate(0, h_ - 1)};
            units.emplace_back(i, side, p, kinds[rng_.generate(0, 2)]);
        }
    }

    int width() const { return w_; }
    int height() const { return h_; }
    std::vector<BattleUnit> units;

private:
    int w_, h_;
    Random& rng_;
    std::vector<MapDataSet> sets_;
    std::vector<int> cells_, smoke_;
};

class TileEngine {
public:
    explicit TileEngine(SavedBattle& save) : save_(save) {}

    bool lineOfSight(Position a, Position b) const {
        int dx = std::abs(b.x - a.x), dy = -std::abs(b.y - a.y);
        int sx = a.x < b.x ? 1 : -1, sy = a.y < b.y ? 1 : -1, err = dx + dy;
        while (a.x != b.x || a.y != b.y) {
            int e2 = 2 * err;
            if (e2 >= dy) {
                err += dy;
                a.x += sx;
            }
            if (e2 <= dx) {
                err += dx;
                a.y += sy;
            }
            if ((a.x != b.x || a.y != b.y) && save_.viewBlockedAt(a)) return false;
        }
        return true;
    }

    std::vector<int> visibleTo(const BattleUnit& u) const {
        std::vector<int> seen;
        for (auto& o : save_.units) {
            if (o.side() == u.side() || o.isOut()) continue;
            int dx = o.position().x - u.position().x, dy = o.position().y - u.position().y;
            if (dx * dx + dy * dy > 20 * 20) continue;
            if (lineOfSight(u.position(), o.position())) seen.push_back(o.id());
        }
        return seen;
    }

private:
    SavedBattle& save_;
};

class BattleGame {
public:
    BattleGame(SavedBattle& save, Random& rng) : save_(save), engine_(save), rng_(rng) {}

    void playTurn(int side) {
        for (auto& u : save_.units) {
            if (u.side() != side || u.isOut()) continue;
            u.tu = 60;
            walk(u);
            for (int id : engine_.visibleTo(u)) {
                ++spotted_;
                if (u.tu < 15) break;
                u.tu -= 15;
                shoot(save_.units[id]);
            }
        }
        save_.dissipate();
    }

    size_t spotted() const { return spotted_; }
    size_t steps() const { return steps_; }

private:
    void walk(BattleUnit& u) {
        for (int tries = 0; tries < 8 && u.tu > 35; ++tries) {
            Position p = u.position();
            p.x += (u.side() ? -1 : 1) * rng_.generate(0, 2) - rng_.generate(0, 1);
            p.y += rng_.generate(-1, 1);
            if (!save_.inside(p)) continue;
            int cost = save_.tuCostAt(p);
            if (cost > u.tu) continue;
            u.tu -= cost;
            u.setPosition(p);
            ++steps_;
        }
    }

    void shoot(BattleUnit& target) {
        if (rng_.generate(0, 99) < 35) target.damage(rng_.generate(10, 45));
        if (rng_.generate(0, 99) < 15) save_.addSmoke(target.position(), 8);
    }

    SavedBattle& save_;
    TileEngine engine_;
    Random& rng_;
    size_t spotted_ = 0, steps_ = 0;
};

int main() {
    Random rng(20121218);
    SavedBattle save(110, 110, rng);
    save.deploy(1000);
    BattleGame game(save, rng);
    for (int turn = 0; turn < 60; ++turn) {
        game.playTurn(0);
        game.playTurn(1);
    }
    int alive[2] = {0, 0};
    long health = 0;
    for (auto& u : save.units)
        if (!u.isOut()) {
            alive[u.side()]++;
            health += u.health();
        }
    std::map<std::string, int> under;
    for (auto& u : save.units) under[save.partAt(u.position()).sprite]++;
    std::printf("steps %zu, spotted %zu\n", game.steps(), game.spotted());
    std::printf("alive %d : %d, health %ld\n", alive[0], alive[1], health);
    for (auto& [name, n] : under) std::printf("%s %d\n", name.c_str(), n);
    return 0;
}

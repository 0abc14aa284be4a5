// towers - headless tower-defence match simulation used for balance checks.
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

struct Vec2 {
    float x = 0, y = 0;
};

struct Effect {
    std::string name;
    int ticks;
};

struct Unit {
    int id = 0;
    std::string kind;
    std::string owner;
    Vec2 pos;
    float hp = 0;
    float speed = 0;
    std::vector<Effect> effects;
};

struct Tower {
    Vec2 pos;
    float range = 0;
    float damage = 0;
    int cooldown = 0;
    int reload = 0;
    long shots = 0;
};

class World {
public:
    bool load(const std::string &path);
    void step();
    void damage(size_t index, float amount);

    std::vector<Unit> units() const { return units_; }
    std::vector<Tower> &towers() { return towers_; }
    int leaked() const { return leaked_; }
    int killed() const { return killed_; }

private:
    void removeDead();
    void separate();

    std::vector<Unit> units_;
    std::vector<Tower> towers_;
    std::vector<Unit> templates_;
    uint32_t rng_ = 12345;
    int nextId_ = 0;
    int leaked_ = 0;
    int killed_ = 0;
    void spawn(size_t n);
    uint32_t random() { return rng_ = rng_ * 1664525u + 1013904223u; }
};

bool World::load(const std::string &path)
{
    std::ifstream in(path);
    if (!in)
        return false;
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream ss(line);
        std::string tag;
        ss >> tag;
        if (tag == "tower") {
            Tower t;
            ss >> t.pos.x >> t.pos.y >> t.range >> t.damage >> t.reload;
            towers_.push_back(t);
        } else if (tag == "unit") {
            Unit u;
            ss >> u.kind >> u.owner >> u.hp >> u.speed;
            std::string effect;
            while (ss >> effect)
                u.effects.push_back({effect, 50});
            templates_.push_back(u);
        }
    }
    spawn(350);
    return !templates_.empty();
}

void World::spawn(size_t n)
{
    while (units_.size() < n) {
        Unit u = templates_[(random() >> 8) % templates_.size()];
        u.id = nextId_++;
        u.pos = {float((random() >> 8) % 40), float((random() >> 8) % 300)};
        units_.push_back(std::move(u));
    }
}

void World::damage(size_t index, float amount)
{
    units_[index].hp -= amount;
}

void World::removeDead()
{
    size_t keep = 0;
    for (size_t i = 0; i < units_.size(); i++) {
        Unit &u = units_[i];
        if (u.hp <= 0) {
            killed_++;
        } else if (u.pos.x > 500) {
            leaked_++;
        } else {
            if (keep != i)
                units_[keep] = std::move(u);
            keep++;
        }
    }
    units_.resize(keep);
}

void World::step()
{
    for (auto &u : units_) {
        float slow = 1.0f;
        for (auto &e : u.effects)
            if (e.ticks > 0) {
                e.ticks--;
                if (e.name == "slowed-by-frost")
                    slow *= 0.5f;
            }
        u.pos.x += u.speed * slow;
        u.pos.y += std::sin(u.pos.x * 0.05f);
    }
    separate();
    removeDead();
    spawn(350);
}

void World::separate()
{
    const float minimum = 3.0f;
    for (size_t i = 0; i < units_.size(); i++)
        for (size_t k = i + 1; k < units_.size(); k++) {
            float dx = units_[k].pos.x - units_[i].pos.x, dy = units_[k].pos.y - units_[i].pos.y;
            float d2 = dx * dx + dy * dy;
            if (d2 > minimum * minimum || d2 == 0)
                continue;
            float push = 0.05f * (minimum - std::sqrt(d2));
            units_[i].pos.y -= dy > 0 ? push : -push;
            units_[k].pos.y += dy > 0 ? push : -push;
        }
}

static int findTarget(const World &world, const Tower &tower)
{
    int best = -1;
    float bestX = -1;
    int index = 0;
    for (const auto &u : world.units()) {
        float dx = u.pos.x - tower.pos.x, dy = u.pos.y - tower.pos.y;
        if (u.hp > 0 && dx * dx + dy * dy <= tower.range * tower.range && u.pos.x > bestX) {
            best = index;
            bestX = u.pos.x;
        }
        index++;
    }
    return best;
}

static void fireTowers(World &world)
{
    for (auto &t : world.towers()) {
        if (t.cooldown > 0) {
            t.cooldown--;
            continue;
        }
        int target = findTarget(world, t);
        if (target < 0)
            continue;
        world.damage(size_t(target), t.damage);
        t.cooldown = t.reload;
        t.shots++;
    }
}

int main(int argc, char **argv)
{
    World world;
    if (!world.load(argc > 1 ? argv[1] : "data/match.txt")) {
        std::cerr << "towers: cannot load match\n";
        return 1;
    }
    const int ticks = 1200;
    for (int t = 0; t < ticks; t++) {
        world.step();
        fireTowers(world);
        if (t % 100 == 99)
            std::cout << "tick " << t + 1 << " killed " << world.killed() << " leaked " << world.leaked() << '\n';
    }
    long shots = 0;
    for (auto &t : world.towers())
        shots += t.shots;
    std::cout << "shots " << shots << '\n';
    return 0;
}

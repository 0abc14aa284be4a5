// eqclasses - congruence closure over ground terms: reads equations between
// applications of binary functions, merges classes, answers queries.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using TermId = uint32_t;

struct PairHash {
    size_t operator()(const std::pair<TermId, TermId>& p) const {
        return std::hash<TermId>()(p.first) ^ std::hash<TermId>()(p.second);
    }
};

using PairMap = std::unordered_map<std::pair<TermId, TermId>, TermId, PairHash>;

struct Term {
    int op;  // -1 for a constant
    TermId left, right;
};

class Random {
public:
    explicit Random(uint64_t s) : state_(s) {}
    uint32_t below(uint32_t n) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<uint32_t>(state_ >> 33) % n;
    }

private:
    uint64_t state_;
};

class TermStore {
public:
    explicit TermStore(int ops) : apps_(ops) {}

    TermId constant(const std::string& name) {
        auto it = names_.find(name);
        if (it != names_.end()) return it->second;
        TermId id = add({-1, 0, 0});
        names_.emplace(name, id);
        return id;
    }

    TermId apply(int op, TermId l, TermId r) {
        auto key = std::make_pair(l, r);
        auto it = apps_[op].find(key);
        if (it != apps_[op].end()) return it->second;
        TermId id = add({op, l, r});
        apps_[op].emplace(key, id);
        return id;
    }

    const Term& operator[](TermId t) const { return terms_[t]; }
    size_t size() const { return terms_.size(); }
    int ops() const { return static_cast<int>(apps_.size()); }

private:
    TermId add(Term t) {
        terms_.push_back(t);
        return static_cast<TermId>(terms_.size() - 1);
    }

    std::vector<Term> terms_;
    std::unordered_map<std::string, TermId> names_;
    std::vector<PairMap> apps_;
};

class Closure {
public:
    explicit Closure(const TermStore& store)
        : store_(store), parent_(store.size()), members_(store.size()), uses_(store.size()), signatures_(store.ops()) {
        for (TermId t = 0; t < store.size(); ++t) {
            parent_[t] = t;
            members_[t] = 1;
        }
        for (TermId t = 0; t < store.size(); ++t) {
            const Term& x = store[t];
            if (x.op < 0) continue;
            uses_[x.left].push_back(t);
            if (x.right != x.left) uses_[x.right].push_back(t);
            enter_signature(t);
        }
    }

    void assert_equal(TermId a, TermId b) {
        pending_.emplace_back(a, b);
        while (!pending_.empty()) {
            auto [x, y] = pending_.back();
            pending_.pop_back();
            merge(find(x), find(y));
        }
    }

    bool equal(TermId a, TermId b) { return find(a) == find(b); }
    size_t merges() const { return merges_; }

    TermId find(TermId t) {
        while (parent_[t] != t) {
            parent_[t] = parent_[parent_[t]];
            t = parent_[t];
        }
        return t;
    }

private:
    void enter_signature(TermId t) {
        const Term& x = store_[t];
        auto key = std::make_pair(find(x.left), find(x.right));
        auto [it, fresh] = signatures_[x.op].emplace(key, t);
        if (!fresh && find(it->second) != find(t)) pending_.emplace_back(it->second, t);
    }

    void merge(TermId a, TermId b) {
        if (a == b) return;
        if (uses_[a].size() > uses_[b].size()) std::swap(a, b);
        parent_[a] = b;
        members_[b] += members_[a];
        ++merges_;
        for (TermId u : uses_[a]) {
            enter_signature(u);
            uses_[b].push_back(u);
        }
        uses_[a].clear();
    }

    const TermStore& store_;
    std::vector<TermId> parent_;
    std::vector<uint32_t> members_;
    std::vector<std::vector<TermId>> uses_;
    std::vector<PairMap> signatures_;
    std::vector<std::pair<TermId, TermId>> pending_;
    size_t merges_ = 0;
};

struct Problem {
    std::vector<std::pair<TermId, TermId>> equations;
    std::vector<std::pair<TermId, TermId>> queries;
};

static Problem read_problem(TermStore& store, Random& rng) {
    const int constants = 1000, layers = 130000;
    Problem p;
    std::vector<TermId> base, apps;
    for (int i = 0; i < constants; ++i) base.push_back(store.constant("c" + std::to_string(i)));
    for (int i = 0; i < layers; ++i) {
        TermId l = base[rng.below(constants)], r = base[rng.below(constants)];
        apps.push_back(store.apply(static_cast<int>(rng.below(store.ops())), l, r));
    }
    for (int i = 0; i < 20000; ++i) {
        TermId l = apps[rng.below(apps.size())], r = base[rng.below(constants)];
        apps.push_back(store.apply(static_cast<int>(rng.below(store.ops())), l, r));
    }
    for (int i = 0; i < 600; ++i) p.equations.emplace_back(base[rng.below(constants)], base[rng.below(constants)]);
    for (int i = 0; i < 300; ++i) p.equations.emplace_back(apps[rng.below(apps.size())], apps[rng.below(apps.size())]);
    for (int i = 0; i < 50000; ++i) p.queries.emplace_back(apps[rng.below(apps.size())], apps[rng.below(apps.size())]);
    return p;
}

static size_t count_classes(Closure& c, size_t n) {
    size_t k = 0;
    for (TermId t = 0; t < n; ++t) k += c.find(t) == t;
    return k;
}

int main() {
    Random rng(4711);
    TermStore store(2);
    Problem p = read_problem(store, rng);
    Closure closure(store);
    for (auto& [a, b] : p.equations) closure.assert_equal(a, b);
    size_t valid = 0;
    for (auto& [a, b] : p.queries) valid += closure.equal(a, b);
    std::printf("terms: %zu\n", store.size());
    std::printf("merges: %zu\n", closure.merges());
    std::printf("classes: %zu\n", count_classes(closure, store.size()));
    std::printf("valid queries: %zu of %zu\n", valid, p.queries.size());
    return 0;
}

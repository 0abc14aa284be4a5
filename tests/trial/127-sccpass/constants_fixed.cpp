// Sparse conditional constants: values go from unknown over constant to overdefined until nothing changes.
#include "ir.h"
#include <cstddef>
#include <unordered_map>

// A set of pointers with open addressing.
class PtrSet {
    static constexpr uintptr_t Empty = 0, Tombstone = 1;
    std::vector<uintptr_t> slots;
    size_t used = 0, tombs = 0;

    static size_t hash(uintptr_t p) { return (p >> 4) ^ (p >> 9); }

    void grow(size_t n)
    {
        std::vector<uintptr_t> old(n, Empty);
        old.swap(slots);
        used = tombs = 0;
        for (uintptr_t p : old)
            if (p > Tombstone) insert(reinterpret_cast<Inst *>(p));
    }

public:
    class iterator {
        const uintptr_t *at, *stop;
        void skip() { while (at != stop && *at <= Tombstone) ++at; }
    public:
        iterator(const uintptr_t *a, const uintptr_t *s) : at(a), stop(s) { skip(); }
        Inst *operator*() const { return reinterpret_cast<Inst *>(*at); }
        iterator &operator++() { ++at; skip(); return *this; }
        bool operator!=(const iterator &o) const { return at != o.at; }
    };

    PtrSet() : slots(16, Empty) {}
    iterator begin() const { return iterator(slots.data(), slots.data() + slots.size()); }
    iterator end() const { return iterator(slots.data() + slots.size(), slots.data() + slots.size()); }
    size_t size() const { return used; }
    bool empty() const { return used == 0; }

    bool insert(Inst *i)
    {
        if ((used + tombs + 1) * 4 > slots.size() * 3) grow((used + 1) * 4 > slots.size() * 2 ? slots.size() * 2 : slots.size());
        uintptr_t p = reinterpret_cast<uintptr_t>(i);
        size_t mask = slots.size() - 1, at = hash(p) & mask, step = 1, free_at = SIZE_MAX;
        while (slots[at] != Empty) {
            if (slots[at] == p) return false;
            if (slots[at] == Tombstone && free_at == SIZE_MAX) free_at = at;
            at = (at + step++) & mask;
        }
        if (free_at != SIZE_MAX) { at = free_at; tombs--; }
        slots[at] = p;
        used++;
        return true;
    }

    bool erase(Inst *i)
    {
        uintptr_t p = reinterpret_cast<uintptr_t>(i);
        size_t mask = slots.size() - 1, at = hash(p) & mask, step = 1;
        while (slots[at] != Empty) {
            if (slots[at] == p) {
                slots[at] = Tombstone;
                used--;
                tombs++;
                return true;
            }
            at = (at + step++) & mask;
        }
        return false;
    }
};

struct Lattice {
    enum { Unknown, Constant, Overdefined } state = Unknown;
    int64_t value = 0;
    bool operator!=(const Lattice &o) const { return state != o.state || value != o.value; }
};

class Solver {
    const Function &fn;
    std::unordered_map<const Inst *, Lattice> values;
    PtrSet queued;
    std::vector<Inst *> worklist;

    void enqueue(Inst *i)
    {
        if (queued.insert(i)) worklist.push_back(i);
    }

    Inst *take_next()
    {
        Inst *i = worklist.back();
        worklist.pop_back();
        queued.erase(i);
        return i;
    }

    Lattice meet(const Inst *i)
    {
        Lattice r;
        for (const Inst *o : i->operands) {
            const Lattice &v = values[o];
            if (v.state == Lattice::Unknown) continue;
            if (v.state == Lattice::Overdefined) return v;
            if (r.state == Lattice::Constant && r.value != v.value) {
                r.state = Lattice::Overdefined;
                r.value = 0;
                return r;
            }
            r = v;
        }
        return r;
    }

    Lattice evaluate(const Inst *i)
    {
        Lattice r;
        switch (i->op) {
        case Inst::Const:
            r.state = Lattice::Constant;
            r.value = i->imm;
            return r;
        case Inst::Phi:
            return meet(i);
        case Inst::Arg: case Inst::Call: case Inst::Ret:
            r.state = Lattice::Overdefined;
            return r;
        default:
            break;
        }
        int64_t acc = i->op == Inst::Mul ? 1 : 0;
        for (const Inst *o : i->operands) {
            const Lattice &v = values[o];
            if (v.state != Lattice::Constant) return v;
            if (i->op == Inst::Add) acc = (acc + v.value) & 0xffffff;
            else if (i->op == Inst::Mul) acc = (acc * v.value) & 0xffffff;
            else acc ^= v.value;
        }
        r.state = Lattice::Constant;
        r.value = acc;
        return r;
    }

    void visit(Inst *i)
    {
        Lattice now = evaluate(i);
        Lattice &old = values[i];
        if (old.state == Lattice::Overdefined || !(now != old)) return;
        if (now.state == Lattice::Constant && old.state == Lattice::Constant) now = { Lattice::Overdefined, 0 };
        old = now;
        for (Inst *u : i->users) enqueue(u);
    }

public:
    explicit Solver(const Function &f) : fn(f) { values.reserve(f.body.size() * 2); }

    void solve()
    {
        for (Inst *i : fn.body) enqueue(i);
        while (!worklist.empty()) visit(take_next());
    }

    int rewrite()
    {
        int folded = 0;
        for (Inst *i : fn.body) {
            const Lattice &v = values[i];
            if (i->op == Inst::Const || v.state != Lattice::Constant) continue;
            i->op = Inst::Const;
            i->imm = v.value;
            i->operands.clear();
            folded++;
        }
        return folded;
    }
};

int propagate_constants(Function &f)
{
    Solver solver(f);
    solver.solve();
    return solver.rewrite();
}

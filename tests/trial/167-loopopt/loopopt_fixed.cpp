// loopopt - read a small three-address IR, build uniqued symbolic
// expressions and find instructions that can be hoisted out of their loop.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

enum class Op : uint8_t { Const, Param, Add, Mul, UDiv, Sub, Rec };

struct Expr {
    Op op;
    uint32_t id;
    int64_t value;
    const Expr* lhs;
    const Expr* rhs;
};

class ExprContext {
public:
    const Expr* constant(int64_t v) { return intern(Op::Const, v, nullptr, nullptr); }
    const Expr* param(int index) { return intern(Op::Param, index, nullptr, nullptr); }
    const Expr* recurrence(int loop, const Expr* start, const Expr* step) { return intern(Op::Rec, loop, start, step); }
    const Expr* binary(Op op, const Expr* a, const Expr* b);
    size_t size() const { return count_; }

private:
    struct Key {
        Op op;
        int64_t value;
        const Expr *lhs, *rhs;
        bool operator==(const Key& o) const
        {
            return op == o.op && value == o.value && lhs == o.lhs && rhs == o.rhs;
        }
    };
    struct KeyHash {
        size_t operator()(const Key& k) const
        {
            uint64_t h = static_cast<uint64_t>(k.op) * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(k.value);
            h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull + (k.lhs ? k.lhs->id + 1 : 0);
            h = (h ^ (h >> 32)) * 0x94d049bb133111ebull + (k.rhs ? k.rhs->id + 1 : 0);
            return h ^ (h >> 31);
        }
    };

    const Expr* intern(Op op, int64_t value, const Expr* a, const Expr* b)
    {
        auto ins = table_.try_emplace(Key{op, value, a, b});
        if (ins.second)
            ins.first->second = Expr{op, count_++, value, a, b};
        return &ins.first->second;
    }

    std::unordered_map<Key, Expr, KeyHash> table_;
    uint32_t count_ = 0;
};

const Expr* ExprContext::binary(Op op, const Expr* a, const Expr* b)
{
    if (a->op == Op::Const && b->op == Op::Const) {
        uint64_t x = static_cast<uint64_t>(a->value), y = static_cast<uint64_t>(b->value);
        uint64_t r = op == Op::Add ? x + y : op == Op::Sub ? x - y : op == Op::Mul ? x * y : y ? x / y : 0;
        return constant(static_cast<int64_t>(r));
    }
    if (op == Op::Mul && b->op == Op::Const && b->value == 1)
        return a;
    if ((op == Op::Add || op == Op::Mul) && a->id > b->id)
        std::swap(a, b);
    return intern(op, 0, a, b);
}

class LoopQuery {
public:
    explicit LoopQuery(const ExprContext& ctx) : ctx_(ctx) {}
    bool invariant(const Expr* e, int loop);

private:
    bool variesIn(const Expr* e, int loop);
    const ExprContext& ctx_;
    std::vector<uint32_t> visited_;
    uint32_t epoch_ = 0;
};

bool LoopQuery::variesIn(const Expr* e, int loop)
{
    switch (e->op) {
    case Op::Const:
    case Op::Param:
        return false;
    case Op::Rec:
        if (e->value == loop)
            return true;
        break;
    default:
        break;
    }
    if (visited_[e->id] == epoch_)
        return false;
    visited_[e->id] = epoch_;
    return variesIn(e->lhs, loop) || variesIn(e->rhs, loop);
}

bool LoopQuery::invariant(const Expr* e, int loop)
{
    visited_.resize(ctx_.size());
    ++epoch_;
    return !variesIn(e, loop);
}

struct Stats {
    size_t functions = 0, instructions = 0, hoisted = 0, exprs = 0;
    uint64_t digest = 14695981039346656037ull;
};

class FunctionPass {
public:
    explicit FunctionPass(Stats& stats) : stats_(stats), query_(ctx_) {}

    void line(const std::string& text)
    {
        std::istringstream in(text);
        std::string first, eq, op, a, b;
        in >> first;
        if (first == "loop") {
            in >> loop_;
            return;
        }
        in >> eq >> op >> a >> b;
        if (eq != "=")
            throw std::runtime_error("syntax error: " + text);
        define(first, op, operand(a), operand(b));
    }
    void done()
    {
        ++stats_.functions;
        stats_.exprs += ctx_.size();
    }

private:
    const Expr* operand(const std::string& s)
    {
        if (s[0] == '%') {
            auto it = names_.find(s);
            if (it == names_.end())
                throw std::runtime_error("undefined value " + s);
            return it->second;
        }
        if (s[0] == '$')
            return ctx_.param(atoi(s.c_str() + 1));
        return ctx_.constant(atoll(s.c_str()));
    }

    void define(const std::string& name, const std::string& op, const Expr* a, const Expr* b)
    {
        const Expr* e;
        if (op == "phi")
            e = ctx_.recurrence(loop_, a, b);
        else
            e = ctx_.binary(op == "add" ? Op::Add : op == "mul" ? Op::Mul : op == "udiv" ? Op::UDiv : Op::Sub, a, b);
        names_[name] = e;
        ++stats_.instructions;
        bool hoist = op != "phi" && query_.invariant(e, loop_);
        stats_.hoisted += hoist;
        stats_.digest = (stats_.digest ^ (e->id * 2 + hoist)) * 1099511628211ull;
    }

    Stats& stats_;
    ExprContext ctx_;
    LoopQuery query_;
    std::map<std::string, const Expr*> names_;
    int loop_ = 0;
};

static uint32_t seed = 4711;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 10) % n;
}

// an unrolled mixing function over a parameter inside a counted loop
static std::string makeFunction(int rounds)
{
    std::ostringstream s;
    s << "loop 1\n%i = phi 0 1\n%h0 = add $0 " << rnd(1000) + 2 << "\n";
    for (int r = 0; r < rounds; ++r) {
        s << "%s" << r << " = udiv %h" << r << " " << (2u << rnd(5)) << "\n"
          << "%x" << r << " = " << (rnd(2) ? "add" : "sub") << " %h" << r << " %s" << r << "\n"
          << "%h" << r + 1 << " = mul %x" << r << " " << rnd(90) + 3 << "\n";
    }
    s << "%p = mul %i 8\n%q = add %p $1\n%v = add %q %h" << rounds << "\n";
    return s.str();
}

int main(int argc, char** argv)
{
    int functions = argc > 1 ? atoi(argv[1]) : 4200;
    Stats stats;
    for (int f = 0; f < functions; ++f) {
        FunctionPass pass(stats);
        std::istringstream text(makeFunction(10 + static_cast<int>(rnd(6))));
        for (std::string l; std::getline(text, l);)
            pass.line(l);
        pass.done();
    }
    printf("%zu functions, %zu instructions, %zu expressions, %zu hoisted, digest %016llx\n", stats.functions,
           stats.instructions, stats.exprs, stats.hoisted, static_cast<unsigned long long>(stats.digest));
    return 0;
}

// Reads a module of a small intermediate language, propagates constants through it with a work list, removes the
// instructions whose results are not needed, and prints what is left of each function.
#include "ir.h"
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unordered_map>

// ---- reading ----

static Inst::Op parse_op(const std::string &s)
{
    static const std::unordered_map<std::string, Inst::Op> ops = {
        { "const", Inst::Const }, { "arg", Inst::Arg }, { "add", Inst::Add }, { "mul", Inst::Mul },
        { "xor", Inst::Xor }, { "phi", Inst::Phi }, { "call", Inst::Call }, { "ret", Inst::Ret } };
    auto it = ops.find(s);
    if (it == ops.end()) {
        std::fprintf(stderr, "sccpass: unknown instruction %s\n", s.c_str());
        std::exit(1);
    }
    return it->second;
}

static std::vector<Function> parse_module(const char *path)
{
    std::ifstream in(path);
    std::vector<Function> module;
    std::unordered_map<std::string, Inst *> names;
    std::vector<std::pair<Inst *, std::string>> pending;
    auto get = [&](const std::string &n) -> Inst * {
        Inst *&i = names[n];
        if (!i) i = new Inst{ Inst::Arg, n };
        return i;
    };
    std::string line, word;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        words >> word;
        if (word == "func") {
            words >> word;
            module.push_back({ word, {} });
            names.clear();
            continue;
        }
        Inst *i = get(word);
        words >> word;
        i->op = parse_op(word);
        while (words >> word) {
            if (word[0] != '%') { i->imm = std::stoll(word); continue; }
            Inst *o = get(word);
            i->operands.push_back(o);
            o->users.push_back(i);
        }
        module.back().body.push_back(i);
    }
    return module;
}

static void mark_live(Inst *root, std::vector<Inst *> &stack)
{
    stack.push_back(root);
    while (!stack.empty()) {
        Inst *i = stack.back();
        stack.pop_back();
        if (i->live) continue;
        i->live = true;
        for (Inst *o : i->operands) stack.push_back(o);
    }
}

static void optimize(Function &f)
{
    int folded = propagate_constants(f);
    std::vector<Inst *> stack, kept;
    for (Inst *i : f.body)
        if (i->op == Inst::Ret || i->op == Inst::Call) mark_live(i, stack);
    uint64_t digest = 7;
    for (Inst *i : f.body) {
        if (!i->live) continue;
        kept.push_back(i);
        digest = (digest ^ (uint64_t)i->op ^ (uint64_t)i->imm << 4) * 1099511628211ull;
    }
    std::printf("%s: %zu instructions, %d folded, %zu kept, %016llx\n", f.name.c_str(), f.body.size(), folded, kept.size(),
                (unsigned long long)digest);
    f.body.swap(kept);
}

int main()
{
    std::vector<Function> module = parse_module("data/module.ir");
    for (Function &f : module) optimize(f);
    std::printf("%zu functions\n", module.size());
}

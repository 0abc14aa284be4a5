// The rules: duplicate attributes, unknown references, unused variables; and the order of the resources.
#include "lint.h"
#include <algorithm>

void Linter::report(const Node& at, std::string message) {
    diagnostics.push_back({at.line, at.column, std::move(message)});
}

static std::string block_name(const Node& block) {
    std::string name = block.text == "variable" ? "var" : "";
    for (auto& c : block.children)
        if (c->kind == Kind::Label) name += (name.empty() ? "" : ".") + c->text;
    return name;
}

void Linter::collect(const Node& file) {
    for (auto& block : file.children) {
        auto name = block_name(*block);
        if (!symbols_.emplace(name, block.get()).second) report(*block, "duplicate block " + name);
    }
}

static size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++) row[j] = j;
    for (size_t i = 1; i <= a.size(); i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++) {
            size_t up = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = up;
        }
    }
    return row[b.size()];
}

std::string Linter::suggest(const std::string& name) const {
    size_t best = 4;
    std::string found;
    for (auto& [candidate, block] : symbols_) {
        size_t d = edit_distance(name, candidate);
        if (d < best) {
            best = d;
            found = candidate;
        }
    }
    return found;
}

void Linter::check_expr(const Node& expr, std::set<std::string>& deps) {
    if (expr.kind == Kind::Reference) {
        uses_[expr.text]++;
        if (symbols_.count(expr.text)) {
            deps.insert(expr.text);
        } else {
            auto other = suggest(expr.text);
            report(expr, "unknown reference " + expr.text + (other.empty() ? "" : ", did you mean " + other + "?"));
        }
    }
    if (expr.kind == Kind::Binary && expr.text == "/" && expr.children[1]->text == "0") report(expr, "division by zero");
    for (auto& c : expr.children) check_expr(*c, deps);
}

long Linter::evaluate(const Node& expr) {
    switch (expr.kind) {
    case Kind::Number: return atol(expr.text.c_str());
    case Kind::Binary: {
        long a = evaluate(*expr.children[0]), b = evaluate(*expr.children[1]);
        return expr.text == "+" ? a + b : expr.text == "-" ? a - b : expr.text == "*" ? a * b : b ? a / b : 0;
    }
    case Kind::Call: {
        long r = evaluate(*expr.children[0]);
        for (auto& c : expr.children) r = expr.text == "max" ? std::max(r, evaluate(*c)) : std::min(r, evaluate(*c));
        return r;
    }
    case Kind::Reference: {
        auto it = symbols_.find(expr.text);
        if (it == symbols_.end()) return 0;
        for (auto& c : it->second->children)
            if (c->kind == Kind::Attribute && c->text == "default") return evaluate(*c->children[0]);
        return 0;
    }
    default: return 0;
    }
}

void Linter::check_block(const Node& block) {
    std::set<std::string> seen;
    auto& deps = depends_[block_name(block)];
    for (auto& c : block.children) {
        if (c->kind == Kind::Block) check_block(*c);
        if (c->kind != Kind::Attribute) continue;
        if (!seen.insert(c->text).second) report(*c, "attribute " + c->text + " is set twice");
        check_expr(*c->children[0], deps);
        if (c->text == "size" || c->text == "limit") total_size += evaluate(*c->children[0]);
    }
}

void Linter::order(const std::string& name, std::map<std::string, int>& state) {
    int& s = state[name];
    if (s) return;
    s = 1;
    for (auto& d : depends_[name]) order(d, state);
    s = 2;
    plan.push_back(name);
}

void Linter::run(const Node& file) {
    collect(file);
    for (auto& block : file.children) check_block(*block);
    for (auto& [name, block] : symbols_)
        if (block->text == "variable" && !uses_.count(name)) report(*block, "unused variable " + name);
    std::map<std::string, int> state;
    for (auto& [name, block] : symbols_) order(name, state);
    std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
}

#pragma once
#include "ast.h"
#include <map>
#include <set>

struct Diagnostic { size_t line, column; std::string message; };

class Linter {
public:
    explicit Linter(std::string_view text) : text_(text) {}
    void run(const Node& file);
    std::vector<Diagnostic> diagnostics;
    long total_size = 0;
    std::vector<std::string> plan;
private:
    void report(const Node& at, std::string message);
    void collect(const Node& file);
    void check_block(const Node& block);
    void check_expr(const Node& expr, std::set<std::string>& deps);
    long evaluate(const Node& expr);
    std::string suggest(const std::string& name) const;
    void order(const std::string& name, std::map<std::string, int>& state);
    std::string_view text_;
    std::map<std::string, const Node*> symbols_;
    std::map<std::string, std::set<std::string>> depends_;
    std::map<std::string, int> uses_;
};

#pragma once
#include "ast.h"
#include <stdexcept>

struct ParseError : std::runtime_error { using std::runtime_error::runtime_error; };

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}
    NodePtr parse_file();
private:
    NodePtr make_node(Kind kind, std::string text, size_t at);
    NodePtr parse_item();
    NodePtr parse_body(NodePtr block);
    NodePtr parse_expr(int min_prec);
    NodePtr parse_primary();
    std::string parse_string();
    std::string parse_identifier();
    void skip_space();
    bool accept(char c);
    void expect(char c);
    [[noreturn]] void fail(const std::string& what);
    std::string_view text_;
    size_t pos_ = 0;
};

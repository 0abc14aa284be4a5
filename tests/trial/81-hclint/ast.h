// Syntax tree of the configuration language.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

enum class Kind { File, Block, Attribute, Number, String, Reference, Call, List, Binary, Label };

struct Node {
    Kind kind;
    std::string text;              // operator, name or literal
    size_t line = 0, column = 0;
    size_t offset = 0;
    std::vector<std::unique_ptr<Node>> children;
    Node(Kind k, std::string t) : kind(k), text(std::move(t)) {}
};

using NodePtr = std::unique_ptr<Node>;

// Line and column (from 1) of a position in the text.
std::pair<size_t, size_t> line_info(const char* start, const char* cur);

// Recursive descent parser: blocks, attributes and expressions with precedence.
#include "parser.h"
#include <cctype>

std::pair<size_t, size_t> line_info(const char* start, const char* cur) {
    const char* p = start;
    size_t line = 1, column = 1;
    while (p < cur) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else {
            column++;
        }
        p++;
    }
    return {line, column};
}

NodePtr Parser::make_node(Kind kind, std::string text, size_t at) {
    auto node = std::make_unique<Node>(kind, std::move(text));
    node->offset = at;
    return node;
}

void Parser::fail(const std::string& what) {
    auto [line, column] = line_info(text_.data(), text_.data() + pos_);
    throw ParseError(std::to_string(line) + ":" + std::to_string(column) + ": " + what);
}

void Parser::skip_space() {
    while (pos_ < text_.size()) {
        char c = text_[pos_];
        if (c == '#') {
            while (pos_ < text_.size() && text_[pos_] != '\n') pos_++;
        } else if (isspace((unsigned char)c)) {
            pos_++;
        } else {
            break;
        }
    }
}

bool Parser::accept(char c) {
    skip_space();
    if (pos_ < text_.size() && text_[pos_] == c) {
        pos_++;
        return true;
    }
    return false;
}

void Parser::expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
}

std::string Parser::parse_identifier() {
    skip_space();
    size_t start = pos_;
    while (pos_ < text_.size() && (isalnum((unsigned char)text_[pos_]) || text_[pos_] == '_' || text_[pos_] == '-')) pos_++;
    if (pos_ == start) fail("expected a name");
    return std::string(text_.substr(start, pos_ - start));
}

std::string Parser::parse_string() {
    std::string out;
    while (pos_ < text_.size() && text_[pos_] != '"') {
        char c = text_[pos_++];
        if (c == '\\' && pos_ < text_.size()) c = text_[pos_++] == 'n' ? '\n' : text_[pos_ - 1];
        out += c;
    }
    if (pos_ >= text_.size()) fail("string without an end");
    pos_++;
    return out;
}

NodePtr Parser::parse_primary() {
    skip_space();
    size_t at = pos_;
    if (pos_ >= text_.size()) fail("expected an expression");
    char c = text_[pos_];
    if (c == '"') {
        pos_++;
        return make_node(Kind::String, parse_string(), at);
    }
    if (isdigit((unsigned char)c)) {
        while (pos_ < text_.size() && isdigit((unsigned char)text_[pos_])) pos_++;
        return make_node(Kind::Number, std::string(text_.substr(at, pos_ - at)), at);
    }
    if (accept('(')) {
        auto inner = parse_expr(0);
        expect(')');
        return inner;
    }
    if (accept('[')) {
        auto list = make_node(Kind::List, "", at);
        while (!accept(']')) {
            list->children.push_back(parse_expr(0));
            if (!accept(',')) {
                expect(']');
                break;
            }
        }
        return list;
    }
    std::string name = parse_identifier();
    if (accept('(')) {
        auto call = make_node(Kind::Call, name, at);
        while (!accept(')')) {
            call->children.push_back(parse_expr(0));
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return call;
    }
    while (pos_ < text_.size() && text_[pos_] == '.') {
        pos_++;
        name += '.' + parse_identifier();
    }
    return make_node(Kind::Reference, name, at);
}

NodePtr Parser::parse_expr(int min_prec) {
    auto left = parse_primary();
    for (;;) {
        skip_space();
        if (pos_ >= text_.size()) return left;
        char op = text_[pos_];
        int prec = op == '+' || op == '-' ? 1 : op == '*' || op == '/' ? 2 : 0;
        if (prec == 0 || prec <= min_prec) return left;
        size_t at = pos_++;
        auto right = parse_expr(prec);
        auto binary = make_node(Kind::Binary, std::string(1, op), at);
        binary->children.push_back(std::move(left));
        binary->children.push_back(std::move(right));
        left = std::move(binary);
    }
}

NodePtr Parser::parse_body(NodePtr block) {
    while (!accept('}')) {
        if (pos_ >= text_.size()) fail("block without an end");
        block->children.push_back(parse_item());
    }
    return block;
}

NodePtr Parser::parse_item() {
    skip_space();
    size_t at = pos_;
    std::string name = parse_identifier();
    if (accept('=')) {
        auto attr = make_node(Kind::Attribute, name, at);
        attr->children.push_back(parse_expr(0));
        return attr;
    }
    auto block = make_node(Kind::Block, name, at);
    for (;;) {
        skip_space();
        size_t label = pos_;
        if (!accept('"')) break;
        block->children.push_back(make_node(Kind::Label, parse_string(), label));
    }
    expect('{');
    return parse_body(std::move(block));
}

NodePtr Parser::parse_file() {
    auto file = make_node(Kind::File, "", 0);
    for (skip_space(); pos_ < text_.size(); skip_space()) file->children.push_back(parse_item());
    return file;
}

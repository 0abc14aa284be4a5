#include "lexer.h"
#include <cctype>

namespace {

class Lexer {
public:
    explicit Lexer(const std::string& text) : text_(text) {}

    MinimizedFile run() {
        bool line_start = true;
        while (pos_ < text_.size()) {
            char c = text_[pos_];
            if (c == '\n') {
                line_start = true;
                pos_++;
            } else if (isspace((unsigned char)c)) {
                pos_++;
            } else if (skip_comment()) {
                continue;
            } else if (c == '#' && line_start) {
                pos_++;
                directive();
            } else {
                line_start = false;
                token();
            }
        }
        return std::move(out_);
    }

private:
    bool skip_comment() {
        if (text_.compare(pos_, 2, "//") == 0) {
            pos_ = std::min(text_.find('\n', pos_), text_.size());
            return true;
        }
        if (text_.compare(pos_, 2, "/*") == 0) {
            size_t end = text_.find("*/", pos_ + 2);
            pos_ = end == std::string::npos ? text_.size() : end + 2;
            return true;
        }
        return false;
    }

    std::string word() {
        size_t start = pos_;
        while (pos_ < text_.size() && (isalnum((unsigned char)text_[pos_]) || text_[pos_] == '_')) pos_++;
        return text_.substr(start, pos_ - start);
    }

    void blanks() {
        while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t')) pos_++;
    }

    void directive() {
        blanks();
        std::string name = word();
        blanks();
        if (name == "include" && pos_ < text_.size()) {
            char close = text_[pos_] == '<' ? '>' : '"';
            size_t end = text_.find(close, pos_ + 1);
            if (end != std::string::npos) {
                out_.includes.push_back({text_.substr(pos_ + 1, end - pos_ - 1), close == '>'});
                pos_ = end + 1;
            }
        } else if (name == "pragma") {
            out_.once |= word() == "once";
        }
        pos_ = std::min(text_.find('\n', pos_), text_.size());
    }

    void token() {
        out_.tokens++;
        char c = text_[pos_];
        if (c == '"' || c == '\'') {
            for (pos_++; pos_ < text_.size() && text_[pos_] != c && text_[pos_] != '\n'; pos_++)
                if (text_[pos_] == '\\') pos_++;
            pos_++;
        } else if (word().empty()) {
            pos_++;
        }
    }

    const std::string& text_;
    size_t pos_ = 0;
    MinimizedFile out_;
};

}

MinimizedFile minimize(const std::string& text) { return Lexer(text).run(); }

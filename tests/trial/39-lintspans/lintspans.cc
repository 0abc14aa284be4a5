// lintspans: tokenises a source file, runs a few lint checks and reports them with line and column.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

enum class Tok { Name, Number, String, Punct, Comment, End };

struct Token {
    Tok kind;
    size_t begin, end;
};

struct Position {
    int line, column;
};

class SourceBuffer {
  public:
    explicit SourceBuffer(std::string text) : text_(std::move(text)) {
    }

    std::string_view text() const { return text_; }
    std::string_view slice(const Token &t) const { return std::string_view(text_).substr(t.begin, t.end - t.begin); }

    Position position(size_t offset) const {
        Position p{1, 1};
        for (size_t i = 0; i < offset; i++) {
            if (text_[i] == '\n') {
                p.line++;
                p.column = 1;
            } else {
                p.column++;
            }
        }
        return p;
    }

  private:
    std::string text_;
};

class Lexer {
  public:
    explicit Lexer(const SourceBuffer &src) : s_(src.text()) {}

    Token next() {
        while (at_ < s_.size() && std::isspace((unsigned char)s_[at_])) at_++;
        size_t b = at_;
        if (b >= s_.size()) return {Tok::End, b, b};
        unsigned char c = s_[at_];
        if (std::isalpha(c) || c == '_') {
            while (at_ < s_.size() && (std::isalnum((unsigned char)s_[at_]) || s_[at_] == '_')) at_++;
            return {Tok::Name, b, at_};
        }
        if (std::isdigit(c)) {
            while (at_ < s_.size() && std::isalnum((unsigned char)s_[at_])) at_++;
            return {Tok::Number, b, at_};
        }
        if (c == '"') {
            at_++;
            while (at_ < s_.size() && s_[at_] != '"') at_ += s_[at_] == '\\' ? 2 : 1;
            at_ = std::min(at_ + 1, s_.size());
            return {Tok::String, b, at_};
        }
        if (c == '/' && at_ + 1 < s_.size() && s_[at_ + 1] == '/') {
            while (at_ < s_.size() && s_[at_] != '\n') at_++;
            return {Tok::Comment, b, at_};
        }
        at_++;
        return {Tok::Punct, b, at_};
    }

  private:
    std::string_view s_;
    size_t at_ = 0;
};

struct Finding {
    Position where;
    const char *rule;
    size_t length;
};

class Linter {
  public:
    explicit Linter(const SourceBuffer &src) : src_(src) {}

    void run() {
        Lexer lex(src_);
        Token prev{Tok::End, 0, 0};
        for (Token t = lex.next(); t.kind != Tok::End; t = lex.next()) {
            check(prev, t);
            kinds_[int(t.kind)]++;
            if (t.kind != Tok::Comment) prev = t;
        }
    }

    void print() const {
        std::map<std::string, size_t> per;
        uint64_t h = 1469598103934665603ull;
        for (auto &f : findings_) {
            per[f.rule]++;
            h = (h ^ (uint64_t(f.where.line) * 1000 + f.where.column + f.length)) * 1099511628211ull;
        }
        std::cout << "tokens " << kinds_[0] << " names, " << kinds_[1] << " numbers, " << kinds_[2] << " strings, "
                  << kinds_[4] << " comments\n";
        for (auto &p : per) std::cout << p.first << ": " << p.second << "\n";
        if (!findings_.empty())
            std::cout << "last at " << findings_.back().where.line << ":" << findings_.back().where.column << "\n";
        std::cout << "checksum " << std::hex << h << "\n";
    }

  private:
    void report(const Token &t, const char *rule) {
        findings_.push_back({src_.position(t.begin), rule, t.end - t.begin});
    }

    void check(const Token &prev, const Token &t) {
        std::string_view s = src_.slice(t);
        switch (t.kind) {
        case Tok::Name:
            if (s.size() > 14) report(t, "long-name");
            if (s == "goto") report(t, "no-goto");
            break;
        case Tok::Number:
            if (s.size() > 1 && s[0] == '0' && std::isdigit((unsigned char)s[1])) report(t, "octal");
            if (src_.slice(prev) == "*" && s.size() > 3) report(t, "magic-number");
            break;
        case Tok::Comment:
            if (s.find("TODO") != s.npos || s.find("FIXME") != s.npos) report(t, "todo");
            break;
        case Tok::Punct:
            if (s == "=" && src_.slice(prev) == "=" && prev.end != t.begin) report(t, "split-operator");
            break;
        default: break;
        }
    }

    const SourceBuffer &src_;
    std::vector<Finding> findings_;
    size_t kinds_[6] = {};
};

int main(int argc, char **argv) {
    std::ifstream in(argc > 1 ? argv[1] : "data/module.src");
    if (!in) {
        std::cerr << "no source\n";
        return 1;
    }
    SourceBuffer src(std::string(std::istreambuf_iterator<char>(in), {}));
    Linter lint(src);
    lint.run();
    lint.print();
}

// feedparse - a push parser for Atom feeds: the network layer hands over blocks
// of bytes as they come, the parser reports elements, attributes and text.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

enum class Tok { None, Partial, Start, Empty, End, Text, Comment, Cdata, Instruction };

struct Token {
    Tok kind = Tok::None;
    size_t length = 0;
};

class Handler {
public:
    virtual ~Handler() = default;
    virtual void start(const std::string& name, const std::map<std::string, std::string>& attrs) = 0;
    virtual void end(const std::string& name) = 0;
    virtual void text(const char* s, size_t n) = 0;
};

class PushParser {
public:
    explicit PushParser(Handler& h) : handler_(h) {}

    bool feed(const char* data, size_t n, bool last) {
        buffer_.append(data, n);
        if (!last && buffer_.size() < 2 * pending_) return true;
        size_t used = process(last);
        pending_ = used ? 0 : buffer_.size();
        buffer_.erase(0, used);
        return !last || (buffer_.empty() && open_.empty());
    }

private:
    size_t process(bool last) {
        size_t pos = 0;
        while (pos < buffer_.size()) {
            Token t = scan(pos);
            if (t.kind == Tok::Partial) {
                if (!last) break;
                handler_.text(buffer_.data() + pos, buffer_.size() - pos);
                return buffer_.size();
            }
            report(t, pos);
            pos += t.length;
        }
        return pos;
    }

    // Finds the token that begins at pos; checks the characters on the way.
    Token scan(size_t pos) {
        const char* p = buffer_.data() + pos;
        const char* e = buffer_.data() + buffer_.size();
        if (*p != '<') {
            const char* q = p;
            while (q < e && *q != '<' && static_cast<unsigned char>(*q) != 0) ++q;
            return {Tok::Text, static_cast<size_t>(q - p)};
        }
        if (e - p < 4) return {Tok::Partial, 0};
        if (std::memcmp(p, "<!--", 4) == 0) return scan_until(p, e, 4, "-->", Tok::Comment);
        if (e - p < 9) {
            if (p[1] == '!') return {Tok::Partial, 0};
        } else if (std::memcmp(p, "<![CDATA[", 9) == 0) {
            return scan_until(p, e, 9, "]]>", Tok::Cdata);
        }
        if (p[1] == '?') return scan_until(p, e, 2, "?>", Tok::Instruction);
        return scan_tag(p, e);
    }

    Token scan_until(const char* p, const char* e, size_t skip, const char* close, Tok kind) {
        size_t n = std::strlen(close);
        for (const char* q = p + skip; q + n <= e; ++q)
            if (*q == *close && std::memcmp(q, close, n) == 0) return {kind, static_cast<size_t>(q + n - p)};
        return {Tok::Partial, 0};
    }

    Token scan_tag(const char* p, const char* e) {
        char quote = 0;
        for (const char* q = p + 1; q < e; ++q) {
            if (quote) {
                if (*q == quote) quote = 0;
            } else if (*q == '"' || *q == '\'') {
                quote = *q;
            } else if (*q == '>') {
                Tok k = p[1] == '/' ? Tok::End : q[-1] == '/' ? Tok::Empty : Tok::Start;
                return {k, static_cast<size_t>(q + 1 - p)};
            }
        }
        return {Tok::Partial, 0};
    }

    void report(const Token& t, size_t pos) {
        const char* p = buffer_.data() + pos;
        switch (t.kind) {
        case Tok::Text:
            handler_.text(p, t.length);
            break;
        case Tok::Cdata:
            handler_.text(p + 9, t.length - 12);
            break;
        case Tok::End: {
            std::string name(p + 2, t.length - 3);
            handler_.end(name);
            if (!open_.empty()) open_.pop_back();
            break;
        }
        case Tok::Start:
        case Tok::Empty:
            report_start(p, t);
            break;
        default:
            break;
        }
    }

    void report_start(const char* p, const Token& t) {
        const char* e = p + t.length - (t.kind == Tok::Empty ? 2 : 1);
        const char* q = ++p;
        while (q < e && *q != ' ' && *q != '\n') ++q;
        std::string name(p, q);
        std::map<std::string, std::string> attrs;
        while (q < e) {
            while (q < e && (*q == ' ' || *q == '\n')) ++q;
            const char* k = q;
            while (q < e && *q != '=') ++q;
            if (q + 1 >= e) break;
            std::string key(k, q);
            char quote = *++q;
            const char* v = ++q;
            while (q < e && *q != quote) ++q;
            attrs.emplace(std::move(key), std::string(v, q));
            ++q;
        }
        handler_.start(name, attrs);
        if (t.kind == Tok::Start)
            open_.push_back(name);
        else
            handler_.end(name);
    }

    Handler& handler_;
    std::string buffer_;
    size_t pending_ = 0;
    std::vector<std::string> open_;
};

class FeedStats : public Handler {
public:
    void start(const std::string& name, const std::map<std::string, std::string>& attrs) override {
        ++elements_[name];
        for (auto& [k, v] : attrs) mix(k.data(), k.size()), mix(v.data(), v.size());
    }
    void end(const std::string& name) override { mix(name.data(), name.size()); }
    void text(const char* s, size_t n) override {
        chars_ += n;
        mix(s, n);
    }
    void print() const {
        for (auto& [k, n] : elements_) std::printf("%-12s %zu\n", k.c_str(), n);
        std::printf("characters %zu\ncheck %08x\n", chars_, sum_);
    }

private:
    void mix(const char* s, size_t n) {
        for (size_t i = 0; i < n; ++i) sum_ = (sum_ ^ static_cast<unsigned char>(s[i])) * 16777619u;
    }
    std::map<std::string, size_t> elements_;
    size_t chars_ = 0;
    uint32_t sum_ = 2166136261u;
};

static std::string make_feed() {
    static const char b64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t s = 12345;
    auto rnd = [&] { return (s = s * 1664525u + 1013904223u) >> 8; };
    std::string f = "<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n";
    for (int i = 0; i < 4000; ++i) {
        f += "<entry id=\"urn:e:" + std::to_string(i) + "\" rev='" + std::to_string(rnd() % 9) + "'>\n<title>Entry ";
        f += std::to_string(i) + "</title><link href=\"http://example.net/" + std::to_string(rnd()) + "\"/>\n<content>";
        for (unsigned k = rnd() % 40; k > 0; --k) f += "lorem ipsum " + std::to_string(rnd() % 1000) + " ";
        f += "</content>";
        if (i % 1000 == 500) {
            f += "<media type=\"image/png\"><![CDATA[";
            for (int k = 0; k < 1800000; ++k) f += b64[rnd() % 64];
            f += "]]></media>";
        }
        f += "</entry>\n";
    }
    return f + "</feed>\n";
}

int main() {
    std::string feed = make_feed();
    FeedStats stats;
    PushParser parser(stats);
    bool ok = true;
    const size_t block = 1448;
    for (size_t at = 0; at < feed.size(); at += block) {
        size_t n = std::min(block, feed.size() - at);
        ok = parser.feed(feed.data() + at, n, at + n == feed.size()) && ok;
    }
    std::printf("%s, %zu bytes\n", ok ? "well-formed" : "not well-formed", feed.size());
    stats.print();
    return 0;
}

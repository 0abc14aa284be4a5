// Cleans posts before they are stored: strips blanks at the ends of lines, normalizes quotes and links, counts
// words and code spans, and prints the statistics with a digest of the cleaned text.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Post {
    int number = 0;
    std::string author, text;
};

class Replacer {
public:
    Replacer(const char *pattern, const char *with, uint32_t options = 0) : replacement(with)
    {
        int error;
        PCRE2_SIZE at;
        code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &error, &at, nullptr);
        if (!code) throw std::runtime_error(std::string("bad pattern ") + pattern);
        match = pcre2_match_data_create_from_pattern(code, nullptr);
    }
    Replacer(const Replacer &) = delete;
    ~Replacer()
    {
        pcre2_match_data_free(match);
        pcre2_code_free(code);
    }
    std::string replace_all(const std::string &in, long *count)
    {
        std::string out;
        size_t at = 0;
        while (at <= in.size()) {
            int rc = pcre2_match(code, (PCRE2_SPTR)in.data(), in.size(), at, 0, match, nullptr);
            if (rc < 0) break;
            PCRE2_SIZE *v = pcre2_get_ovector_pointer(match);
            out.append(in, at, v[0] - at);
            out += replacement;
            ++*count;
            at = v[1] > v[0] ? v[1] : v[1] + 1;
        }
        if (at < in.size()) out.append(in, at, std::string::npos);
        return out;
    }

private:
    pcre2_code *code;
    pcre2_match_data *match;
    std::string replacement;
};

struct Counters {
    long posts = 0, stripped = 0, quotes = 0, links = 0, words = 0, code_spans = 0, lines = 0;
    uint64_t digest = 14695981039346656037ull;
    std::map<std::string, long> by_author;
};

static std::vector<Post> read_posts(const std::string &path)
{
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot open " + path);
    std::vector<Post> posts;
    std::string line;
    while (std::getline(in, line)) {
        char author[64];
        int number;
        if (std::sscanf(line.c_str(), "== post %d by %63s", &number, author) == 2) {
            posts.emplace_back();
            posts.back().number = number;
            posts.back().author = author;
        } else if (!posts.empty()) {
            posts.back().text += line;
            posts.back().text += '\n';
        }
    }
    return posts;
}

class Cleaner {
public:
    void clean_post(Post &p, Counters &c)
    {
        p.text = strip_trailing(p.text, c);
        p.text = quotes.replace_all(p.text, &c.quotes);
        p.text = links.replace_all(p.text, &c.links);
    }

private:
    std::string strip_trailing(const std::string &text, Counters &c)
    {
        return trailing.replace_all(text, &c.stripped);
    }
    Replacer trailing{"[ \\t]+$", "", PCRE2_MULTILINE};
    Replacer quotes{"`([^`\\n]{0,3})`", "'"};
    Replacer links{"https://example\\.org/q/(?=[0-9])", "q:"};
};

static void count_words(const std::string &text, Counters &c)
{
    bool in_word = false;
    for (char ch : text) {
        bool w = ch != ' ' && ch != '\n' && ch != '\t';
        if (w && !in_word) c.words++;
        in_word = w;
        c.lines += ch == '\n';
        c.code_spans += ch == '`';
        c.digest = (c.digest ^ (uint8_t)ch) * 1099511628211ull;
    }
}

static std::string busiest_author(const Counters &c)
{
    std::string name;
    long most = 0;
    for (auto &a : c.by_author)
        if (a.second > most) {
            most = a.second;
            name = a.first;
        }
    return name + " (" + std::to_string(most) + ")";
}

int main()
{
    try {
        std::vector<Post> posts = read_posts("data/posts.txt");
        Cleaner cleaner;
        Counters c;
        size_t before = 0, after = 0;
        for (Post &p : posts) {
            before += p.text.size();
            cleaner.clean_post(p, c);
            after += p.text.size();
            count_words(p.text, c);
            c.by_author[p.author] += (long)p.text.size();
            c.posts++;
        }
        std::printf("posts %ld, lines %ld, words %ld, code marks %ld\n", c.posts, c.lines, c.words, c.code_spans);
        std::printf("stripped %ld, quotes %ld, links %ld, bytes %zu -> %zu\n", c.stripped, c.quotes, c.links, before, after);
        std::printf("busiest %s, digest %016llx\n", busiest_author(c).c_str(), (unsigned long long)c.digest);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "postclean: %s\n", e.what());
        return 1;
    }
}

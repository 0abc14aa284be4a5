// termcount - count terms of a document collection with a pool of worker threads.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

struct Document {
    std::string title;
    std::string text;
};

struct TermStats {
    uint64_t count = 0;
    uint64_t inTitle = 0;
};

using TermMap = std::unordered_map<std::string, TermStats>;

class Indexer {
public:
    explicit Indexer(const std::vector<Document> &docs) : docs_(docs) {}

    void run(unsigned threads);
    const TermMap &terms() const { return terms_; }
    uint64_t totalTerms() const { return total_; }

private:
    void worker();
    void indexDocument(const Document &doc, TermMap &terms, uint64_t &total);
    void addTerm(TermMap &terms, const std::string &term, bool lead);

    const std::vector<Document> &docs_;
    std::atomic<size_t> next_{0};
    std::mutex mutex_;
    TermMap terms_;
    uint64_t total_ = 0;
};

static bool isStopWord(std::string_view w)
{
    static const char *const words[] = {"a", "an", "and", "are", "in", "is", "it", "of", "on", "or", "the", "to", "was"};
    return std::binary_search(std::begin(words), std::end(words), w);
}

static bool nextTerm(std::string_view text, size_t &pos, std::string &out)
{
    out.clear();
    while (pos < text.size() && !std::isalnum(static_cast<unsigned char>(text[pos])))
        pos++;
    while (pos < text.size() && std::isalnum(static_cast<unsigned char>(text[pos])))
        out.push_back(char(std::tolower(static_cast<unsigned char>(text[pos++]))));
    if (out.size() > 4 && out.compare(out.size() - 3, 3, "ing") == 0)
        out.resize(out.size() - 3);
    else if (out.size() > 3 && out.back() == 's')
        out.pop_back();
    return !out.empty();
}

void Indexer::addTerm(TermMap &terms, const std::string &term, bool lead)
{
    TermStats &st = terms[term];
    st.count++;
    st.inTitle += lead;
}

void Indexer::indexDocument(const Document &doc, TermMap &terms, uint64_t &total)
{
    std::string term;
    size_t pos = 0;
    while (nextTerm(doc.text, pos, term)) {
        if (isStopWord(term))
            continue;
        addTerm(terms, term, pos < 160);
        total++;
    }
}

void Indexer::worker()
{
    TermMap mine;
    uint64_t total = 0;
    for (;;) {
        size_t i = next_.fetch_add(1);
        if (i >= docs_.size())
            break;
        indexDocument(docs_[i], mine, total);
    }
    std::lock_guard<std::mutex> lock(mutex_);
    total_ += total;
    for (const auto &[term, st] : mine) {
        TermStats &all = terms_[term];
        all.count += st.count;
        all.inTitle += st.inTitle;
    }
}

void Indexer::run(unsigned threads)
{
    std::vector<std::thread> pool;
    for (unsigned i = 0; i < threads; i++)
        pool.emplace_back([this] { worker(); });
    for (auto &t : pool)
        t.join();
}

static std::vector<Document> loadDocuments(const std::string &path)
{
    std::ifstream in(path);
    std::vector<Document> docs;
    std::string line;
    while (std::getline(in, line)) {
        auto tab = line.find('\t');
        if (tab != std::string::npos)
            docs.push_back({line.substr(0, tab), line.substr(tab + 1)});
    }
    return docs;
}

int main(int argc, char **argv)
{
    auto docs = loadDocuments(argc > 1 ? argv[1] : "data/docs.tsv");
    if (docs.empty()) {
        std::cerr << "termcount: no documents\n";
        return 1;
    }
    Indexer indexer(docs);
    indexer.run(8);
    std::vector<std::pair<std::string, TermStats>> top(indexer.terms().begin(), indexer.terms().end());
    std::sort(top.begin(), top.end(), [](const auto &a, const auto &b) {
        return a.second.count != b.second.count ? a.second.count > b.second.count : a.first < b.first;
    });
    for (size_t i = 0; i < top.size() && i < 25; i++)
        std::cout << top[i].first << ' ' << top[i].second.count << ' ' << top[i].second.inTitle << '\n';
    std::cout << docs.size() << " documents, " << top.size() << " terms, " << indexer.totalTerms() << " occurrences\n";
    return 0;
}

// omnisuggest: replays typed queries against a browsing history and prints
// the suggestions that the address bar would show after the last keystroke.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

// ------------------------------------------------------------------ history

struct URLRow {
  int64_t id = 0;
  std::string url;
  std::string title;
  int visit_count = 0;
  int typed_count = 0;
  int last_visit_day = 0;
};

struct WordStart {
  uint32_t offset;
  uint32_t length;
};
using WordStarts = std::vector<WordStart>;

// What the index keeps for a row: the texts to be matched, folded to lower
// case, and where words begin in them.
struct HistoryEntry {
  URLRow row;
  std::string clean_url;
  std::string clean_title;
  WordStarts url_words;
  WordStarts title_words;
};

static std::string ToLower(const std::string& s) {
  std::string out(s);
  for (char& c : out) c = tolower(static_cast<unsigned char>(c));
  return out;
}

static WordStarts FindWordStarts(const std::string& text) {
  WordStarts starts;
  size_t i = 0;
  while (i < text.size()) {
    while (i < text.size() && !isalnum(static_cast<unsigned char>(text[i]))) ++i;
    size_t begin = i;
    while (i < text.size() && isalnum(static_cast<unsigned char>(text[i]))) ++i;
    if (i > begin) starts.push_back({uint32_t(begin), uint32_t(i - begin)});
  }
  return starts;
}

static std::string CleanUpUrlForMatching(const std::string& url) {
  std::string out;
  for (size_t i = 0; i < url.size(); ++i) {
    if (url[i] == '%' && i + 2 < url.size() && isxdigit(static_cast<unsigned char>(url[i + 1]))) {
      char hex[3] = {url[i + 1], url[i + 2], 0};
      out += char(strtol(hex, nullptr, 16));
      i += 2;
    } else {
      out += url[i];
    }
  }
  return ToLower(out);
}

// ------------------------------------------------------------------ matches

struct TermMatch {
  int term_num;
  size_t offset;
  size_t length;
};
using TermMatches = std::vector<TermMatch>;

// Finds all places of |term| in |text|.
static TermMatches MatchTermInString(const std::string& term, const std::string& text, int term_num) {
  TermMatches matches;
  for (size_t at = text.find(term); at != std::string::npos; at = text.find(term, at + term.size()))
    matches.push_back({term_num, at, term.size()});
  return matches;
}

static bool StartsWord(const WordStarts& starts, size_t offset) {
  auto it = std::lower_bound(starts.begin(), starts.end(), offset,
                             [](const WordStart& w, size_t o) { return w.offset < o; });
  return it != starts.end() && it->offset == offset;
}

// Is |host| the start of |url|'s host part?
static bool HostBeginsWith(const std::string& url, const std::string& term) {
  size_t at = url.find("://");
  std::string host = at == std::string::npos ? url : url.substr(at + 3);
  host = host.substr(0, host.find('/'));
  if (host.substr(0, 4) == "www.") host = host.substr(4);
  return host.substr(0, term.size()) == term;
}

// ------------------------------------------------------------------ scoring

struct ScoredMatch {
  int64_t id = 0;
  int score = 0;
};

static const int kToday = 16000;

static int ScoreForCount(int v) { return v >= 20 ? 100 : v >= 5 ? 60 + v : v * 10; }
static int ScoreForRecency(int day) {
  int age = kToday - day;
  return age <= 1 ? 100 : age <= 7 ? 80 : age <= 30 ? 50 : age <= 90 ? 20 : 5;
}

class InMemoryURLIndex {
 public:
  void Add(const URLRow& row) {
    HistoryEntry& e = entries_[row.id];
    e.row = row;
    e.clean_url = CleanUpUrlForMatching(row.url);
    e.clean_title = ToLower(row.title);
    e.url_words = FindWordStarts(e.clean_url);
    e.title_words = FindWordStarts(e.clean_title);
    for (const WordStart& w : e.url_words) IndexWord(e.clean_url.substr(w.offset, w.length), row.id);
    for (const WordStart& w : e.title_words) IndexWord(e.clean_title.substr(w.offset, w.length), row.id);
  }

  std::vector<ScoredMatch> HistoryItemsForTerms(const std::string& input, size_t max_matches) const {
    std::vector<std::string> terms = SplitTerms(input);
    std::vector<ScoredMatch> matches;
    if (terms.empty()) return matches;
    for (int64_t id : CandidatesFor(terms)) {
      int score = ScoreEntry(id, terms);
      if (score > 0) matches.push_back({id, score});
    }
    size_t n = std::min(max_matches, matches.size());
    std::partial_sort(matches.begin(), matches.begin() + n, matches.end(),
                      [](const ScoredMatch& a, const ScoredMatch& b) {
                        return a.score != b.score ? a.score > b.score : a.id < b.id;
                      });
    matches.resize(n);
    return matches;
  }

  HistoryEntry GetEntry(int64_t id) const { return entries_.find(id)->second; }
  size_t word_count() const { return words_.size(); }

 private:
  void IndexWord(const std::string& word, int64_t id) {
    std::vector<int64_t>& ids = words_[word];
    if (ids.empty() || ids.back() != id) ids.push_back(id);
  }

  static std::vector<std::string> SplitTerms(const std::string& input) {
    std::vector<std::string> terms;
    std::istringstream in(ToLower(input));
    std::string t;
    while (in >> t) terms.push_back(t);
    return terms;
  }

  // Rows that have a word beginning with each of the terms.
  std::vector<int64_t> CandidatesFor(const std::vector<std::string>& terms) const {
    std::vector<int64_t> result;
    for (size_t i = 0; i < terms.size(); ++i) {
      std::vector<int64_t> ids;
      for (auto it = words_.lower_bound(terms[i]);
           it != words_.end() && it->first.compare(0, terms[i].size(), terms[i]) == 0; ++it)
        ids.insert(ids.end(), it->second.begin(), it->second.end());
      std::sort(ids.begin(), ids.end());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      if (i == 0) {
        result.swap(ids);
      } else {
        std::vector<int64_t> both;
        std::set_intersection(result.begin(), result.end(), ids.begin(), ids.end(), std::back_inserter(both));
        result.swap(both);
      }
    }
    return result;
  }

  int ScoreEntry(int64_t id, const std::vector<std::string>& terms) const {
    HistoryEntry entry = GetEntry(id);
    int score = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      int term_score = 0;
      for (const TermMatch& m : MatchTermInString(terms[i].c_str(), entry.clean_url, i))
        term_score += StartsWord(entry.url_words, m.offset) ? 15 : 2;
      for (const TermMatch& m : MatchTermInString(terms[i].c_str(), entry.clean_title, i))
        term_score += StartsWord(entry.title_words, m.offset) ? 10 : 1;
      if (HostBeginsWith(entry.clean_url.c_str(), terms[i].c_str())) term_score += 50;
      if (!term_score) return 0;
      score += std::min(term_score, 100);
    }
    score = score * 4 / int(terms.size());
    score += ScoreForCount(entry.row.visit_count) * 2 + ScoreForCount(entry.row.typed_count) * 5;
    score += ScoreForRecency(entry.row.last_visit_day) * 2;
    return score;
  }

  std::unordered_map<int64_t, HistoryEntry> entries_;
  std::map<std::string, std::vector<int64_t>> words_;
};

// ------------------------------------------------------------------ provider

class HistoryProvider {
 public:
  explicit HistoryProvider(const InMemoryURLIndex& index) : index_(index) {}

  // Called for each keystroke with the text typed so far.
  void Start(const std::string& input) {
    matches_ = index_.HistoryItemsForTerms(input, 6);
    ++keystrokes_;
    for (const ScoredMatch& m : matches_) checksum_ = checksum_ * 31 + m.id * 7 + m.score;
  }
  void PrintMatches(const std::string& input) const {
    std::cout << input << "\n";
    for (const ScoredMatch& m : matches_)
      std::cout << "  " << m.score << " " << index_.GetEntry(m.id).row.url << "\n";
  }
  void PrintStatistics() const {
    std::cout << keystrokes_ << " keystrokes, checksum " << checksum_ << "\n";
  }

 private:
  const InMemoryURLIndex& index_;
  std::vector<ScoredMatch> matches_;
  long keystrokes_ = 0;
  uint64_t checksum_ = 0;
};

static bool LoadHistory(const char* path, InMemoryURLIndex* index) {
  std::ifstream in(path);
  std::string line;
  URLRow row;
  while (std::getline(in, line)) {
    std::istringstream f(line);
    std::string num;
    std::getline(f, row.url, '\t');
    std::getline(f, row.title, '\t');
    std::getline(f, num, '\t');
    row.visit_count = atoi(num.c_str());
    std::getline(f, num, '\t');
    row.typed_count = atoi(num.c_str());
    std::getline(f, num, '\t');
    row.last_visit_day = atoi(num.c_str());
    ++row.id;
    index->Add(row);
  }
  std::cout << row.id << " urls, " << index->word_count() << " words\n";
  return row.id > 0;
}

int main(int argc, char** argv) {
  InMemoryURLIndex index;
  if (!LoadHistory(argc > 1 ? argv[1] : "history.tsv", &index)) return 1;
  HistoryProvider provider(index);
  std::ifstream queries(argc > 2 ? argv[2] : "queries.txt");
  std::string query;
  while (std::getline(queries, query)) {
    for (size_t n = 1; n <= query.size(); ++n) provider.Start(query.substr(0, n));
    provider.PrintMatches(query);
  }
  provider.PrintStatistics();
  return 0;
}

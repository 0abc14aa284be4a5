// depscan: the dependencies of the sources of a build, as make rules, and a summary.
#include "scanner.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

static std::vector<TranslationUnit> load_commands(const char* path) {
    std::vector<TranslationUnit> units;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        TranslationUnit unit;
        words >> unit.source;
        for (std::string word; words >> word;)
            if (word.compare(0, 2, "-I") == 0) unit.search.push_back(word.substr(2));
        if (!unit.source.empty()) units.push_back(std::move(unit));
    }
    return units;
}

static std::string make_rule(const TranslationUnit& unit, const ScanResult& result) {
    std::string rule = unit.source.substr(0, unit.source.rfind('.')) + ".o:";
    size_t column = rule.size();
    for (auto& d : result.dependencies) {
        if (column + d.size() > 100) {
            rule += " \\\n ";
            column = 1;
        }
        rule += ' ' + d;
        column += d.size() + 1;
    }
    return rule + "\n";
}

static uint64_t fingerprint(const std::string& text) {
    uint64_t h = 14695981039346656037u;
    for (unsigned char c : text) h = (h ^ c) * 1099511628211u;
    return h;
}

int main(int argc, char** argv) {
    auto units = load_commands(argc > 1 ? argv[1] : "data/compile_commands.txt");
    CachingFilesystem fs;
    Scanner scanner(fs);
    std::map<std::string, size_t> users;
    size_t tokens = 0, edges = 0, deepest = 0, missing = 0;
    for (auto& unit : units) {
        ScanResult result = scanner.scan(unit);
        std::string rule = make_rule(unit, result);
        printf("%s %zu dependencies %016llx\n", unit.source.c_str(), result.dependencies.size(), (unsigned long long)fingerprint(rule));
        for (auto& d : result.dependencies) users[d]++;
        tokens += result.tokens;
        edges += result.dependencies.size();
        deepest = std::max(deepest, result.depth);
        missing += result.missing.size();
    }
    std::vector<std::pair<size_t, std::string>> top;
    for (auto& [path, n] : users) top.push_back({n, path});
    std::sort(top.rbegin(), top.rend());
    for (size_t i = 0; i < top.size() && i < 15; i++) printf("%s is used by %zu\n", top[i].second.c_str(), top[i].first);
    printf("%zu units, %zu files, %zu edges, %zu tokens, depth %zu, %zu missing\n", units.size(), fs.files(), edges, tokens, deepest, missing);
}

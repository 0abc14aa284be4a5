#pragma once
#include "filesystem.h"
#include <set>

struct TranslationUnit {
    std::string source;
    std::vector<std::string> search;
};

struct ScanResult {
    std::set<std::string> dependencies;
    std::vector<std::string> missing;
    size_t tokens = 0;
    size_t depth = 0;
};

class Scanner {
public:
    explicit Scanner(CachingFilesystem& fs) : fs_(fs) {}
    ScanResult scan(const TranslationUnit& unit);
private:
    void enter(const TranslationUnit& unit, const std::string& path, FileEntry& entry, size_t depth, ScanResult& result, std::set<long>& seen);
    std::pair<std::string, FileEntry*> lookup_file(const TranslationUnit& unit, const std::string& from, const Directive& directive);
    CachingFilesystem& fs_;
};

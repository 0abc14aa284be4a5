// Follows the includes of a translation unit.
#include "scanner.h"
#include <algorithm>

static std::string directory_of(const std::string& path) {
    auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::pair<std::string, FileEntry*> Scanner::lookup_file(const TranslationUnit& unit, const std::string& from, const Directive& directive) {
    std::string path;
    if (!directive.angled) {
        path = directory_of(from) + "/" + directive.name;
        if (auto* entry = fs_.status(path)) {
            if (entry->exists) return {path, entry};
        }
    }
    for (auto& dir : unit.search) {
        path.assign(dir).append("/").append(directive.name);
        auto* entry = fs_.status(path);
        if (entry && entry->exists) return {path, entry};
    }
    return {"", nullptr};
}

void Scanner::enter(const TranslationUnit& unit, const std::string& path, FileEntry& entry, size_t depth, ScanResult& result, std::set<long>& seen) {
    const MinimizedFile& file = fs_.minimized(path, entry);
    if (!seen.insert(entry.id).second && file.once) return;
    result.dependencies.insert(path);
    result.tokens += file.tokens;
    result.depth = std::max(result.depth, depth);
    if (depth > 200) return;
    for (auto& directive : file.includes) {
        auto [found, next] = lookup_file(unit, path, directive);
        if (next) enter(unit, found, *next, depth + 1, result, seen);
        else result.missing.push_back(directive.name);
    }
}

ScanResult Scanner::scan(const TranslationUnit& unit) {
    ScanResult result;
    std::set<long> seen;
    if (auto* entry = fs_.status(unit.source); entry && entry->exists) enter(unit, unit.source, *entry, 0, result, seen);
    else result.missing.push_back(unit.source);
    return result;
}

#include "filesystem.h"
#include "lexer.h"
#include <fstream>
#include <sstream>

FileEntry* CachingFilesystem::lookup(const std::string& path) {
    auto it = cache_.find(path);
    return it == cache_.end() ? nullptr : &it->second;
}

FileEntry* CachingFilesystem::status(const std::string& path) {
    if (auto* entry = lookup(path)) return entry;
    struct stat st;
    FileEntry entry;
    if (stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return &cache_.emplace(path, std::move(entry)).first->second;
    entry.exists = true;
    entry.size = (size_t)st.st_size;
    entry.id = next_id_++;
    return &cache_.emplace(path, std::move(entry)).first->second;
}

const MinimizedFile& CachingFilesystem::minimized(const std::string& path, FileEntry& entry) {
    if (!entry.minimized) {
        std::ifstream in(path, std::ios::binary);
        std::stringstream text;
        text << in.rdbuf();
        entry.minimized = minimize(text.str());
    }
    return *entry.minimized;
}

size_t CachingFilesystem::files() const {
    size_t n = 0;
    for (auto& [path, entry] : cache_) n += entry.exists;
    return n;
}

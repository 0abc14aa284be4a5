// What the scanner asks of the file system, with a cache that all translation units share.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
#include <sys/stat.h>

struct Directive { std::string name; bool angled; };

// A file reduced to what matters to the scan.
struct MinimizedFile {
    std::vector<Directive> includes;
    size_t tokens = 0;
    bool once = false;
};

struct FileEntry {
    bool exists = false;
    size_t size = 0;
    long id = 0;
    std::optional<MinimizedFile> minimized;
};

class CachingFilesystem {
public:
    // The entry of a path; without one if there is no such file.
    FileEntry* status(const std::string& path);
    const MinimizedFile& minimized(const std::string& path, FileEntry& entry);
    size_t files() const;
private:
    FileEntry* lookup(const std::string& path);
    std::unordered_map<std::string, FileEntry> cache_;
    long next_id_ = 1;
};

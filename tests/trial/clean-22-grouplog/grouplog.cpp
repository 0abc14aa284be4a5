// A durable key-value store whose log is written by group commit: many clients commit at a time, one of them writes and syncs the log for all
// that are waiting. Afterwards the log is replayed and compacted into a sorted table, and both are compared.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

constexpr unsigned kClients = 24;
constexpr unsigned kTransactions = 270;     // of each client
constexpr unsigned kWrites = 40;            // of each transaction
constexpr unsigned kStripes = 64;

[[noreturn]] static void fail(const char *what) {
    std::perror(what);
    std::exit(1);
}

// ---- records ----

class Crc32c {
public:
    Crc32c() {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++) c = c & 1 ? 0x82f63b78u ^ c >> 1 : c >> 1;
            table_[0][i] = c;
        }
        for (uint32_t i = 0; i < 256; i++)
            for (size_t t = 1; t < 8; t++) table_[t][i] = table_[0][table_[t - 1][i] & 255] ^ table_[t - 1][i] >> 8;
    }

    uint32_t operator()(std::string_view data) const {
        uint32_t c = ~0u;
        const char *p = data.data(), *end = p + data.size();
        for (; end - p >= 8; p += 8) {
            uint64_t v;
            std::memcpy(&v, p, 8);
            v ^= c;
            c = 0;
            for (size_t t = 0; t < 8; t++) c ^= table_[7 - t][v >> (8 * t) & 255];
        }
        for (; p < end; p++) c = table_[0][(c ^ static_cast<uint8_t>(*p)) & 255] ^ c >> 8;
        return ~c;
    }

private:
    std::array<std::array<uint32_t, 256>, 8> table_;
};

static const Crc32c crc32c;

static void put_u32(std::string &out, uint32_t v) { out.append(reinterpret_cast<const char *>(&v), 4); }

static uint32_t get_u32(std::string_view in, size_t at) {
    uint32_t v;
    std::memcpy(&v, in.data() + at, 4);
    return v;
}

struct Write {
    std::string key, value;
};

static std::string encode_batch(const std::vector<Write> &writes) {
    constexpr size_t kHeader = 8;
    size_t size = kHeader + 4;
    for (const auto &w : writes) size += 8 + w.key.size() + w.value.size();
    std::string record(kHeader, 0);
    record.reserve(size);
    put_u32(record, static_cast<uint32_t>(writes.size()));
    for (const auto &w : writes) {
        put_u32(record, static_cast<uint32_t>(w.key.size()));
        put_u32(record, static_cast<uint32_t>(w.value.size()));
        record += w.key;
        record += w.value;
    }
    const std::string_view body = std::string_view(record).substr(kHeader);
    const uint32_t header[2] = {static_cast<uint32_t>(body.size()), crc32c(body)};
    std::memcpy(record.data(), header, kHeader);
    return record;
}

template <typename Visit>
static void decode_batch(std::string_view body, const Visit &visit) {
    uint32_t count = get_u32(body, 0);
    size_t at = 4;
    while (count--) {
        uint32_t key = get_u32(body, at), value = get_u32(body, at + 4);
        visit(body.substr(at + 8, key), body.substr(at + 8 + key, value));
        at += 8 + key + value;
    }
}

// ---- the log ----

class GroupLog {
public:
    explicit GroupLog(const std::string &path) : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
        if (fd_ < 0) fail(path.c_str());
    }
    ~GroupLog() { close(fd_); }

    // Returns when the record is durable. The first of a group that finds nobody writing writes for all of it.
    void commit(std::string_view record) {
        std::unique_lock<std::mutex> lock(mutex_);
        pending_.append(record);
        const uint64_t mine = open_group_;
        while (durable_group_ < mine) {
            if (leader_)
                group_done_[mine % 2].wait(lock);
            else
                lead(lock);
        }
    }

    uint64_t groups() const { return durable_group_; }

private:
    void lead(std::unique_lock<std::mutex> &lock) {
        leader_ = true;
        writing_.swap(pending_);
        const uint64_t group = open_group_++;
        lock.unlock();
        write_group();
        lock.lock();
        writing_.clear();
        durable_group_ = group;
        leader_ = false;
        group_done_[group % 2].notify_all();
        group_done_[open_group_ % 2].notify_one();     // one of the next group leads
    }

    void write_group() {
        const char *p = writing_.data();
        size_t left = writing_.size();
        while (left) {
            ssize_t n = write(fd_, p, left);
            if (n < 0 && errno != EINTR) fail("write");
            if (n > 0) p += n, left -= static_cast<size_t>(n);
        }
        if (fdatasync(fd_) < 0) fail("fdatasync");
    }

    int fd_;
    std::mutex mutex_;
    std::array<std::condition_variable, 2> group_done_;     // for the group that is written and for the one that is open
    std::string pending_, writing_;
    uint64_t open_group_ = 1, durable_group_ = 0;
    bool leader_ = false;
};

// ---- the table in memory ----

class MemTable {
public:
    void put(std::string_view key, std::string_view value) {
        Stripe &s = stripe(key);
        std::unique_lock<std::shared_mutex> lock(s.mutex);
        auto [it, fresh] = s.map.try_emplace(std::string(key));
        it->second.assign(value);
    }

    bool get(std::string_view key, std::string &value) const {
        const Stripe &s = stripe(key);
        std::shared_lock<std::shared_mutex> lock(s.mutex);
        auto it = s.map.find(std::string(key));
        if (it == s.map.end()) return false;
        value = it->second;
        return true;
    }

    std::vector<std::pair<std::string_view, std::string_view>> sorted() const {
        std::vector<std::pair<std::string_view, std::string_view>> all;
        size_t count = 0;
        for (const auto &s : stripes_) count += s.map.size();
        all.reserve(count);
        for (const auto &s : stripes_)
            for (const auto &[key, value] : s.map) all.emplace_back(key, value);
        std::sort(all.begin(), all.end());
        return all;
    }

private:
    struct alignas(64) Stripe {
        mutable std::shared_mutex mutex;
        std::unordered_map<std::string, std::string> map;
    };
    Stripe &stripe(std::string_view key) { return stripes_[std::hash<std::string_view>{}(key) % kStripes]; }
    const Stripe &stripe(std::string_view key) const { return stripes_[std::hash<std::string_view>{}(key) % kStripes]; }
    std::array<Stripe, kStripes> stripes_;
};

// ---- clients ----

struct Accounts {
    std::vector<std::string> names, regions;
    std::vector<uint64_t> balances, seeds;
};

static Accounts load_accounts(const char *path) {
    Accounts a;
    std::ifstream in(path);
    if (!in) fail(path);
    std::string name, region, seed;
    uint64_t balance;
    while (in >> name >> balance >> region >> seed) {
        a.names.push_back(name);
        a.balances.push_back(balance);
        a.regions.push_back(region);
        a.seeds.push_back(std::stoull(seed, nullptr, 16));
    }
    return a;
}

static uint64_t next_random(uint64_t &state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

// The statement of an account: every entry is signed with the one before it.
static std::string make_statement(const Accounts &a, size_t account, uint64_t &rng) {
    std::string text = "{\"region\":\"" + a.regions[account] + "\",\"entries\":[";
    uint64_t balance = a.balances[account], signature = a.seeds[account];
    for (int i = 0; i < 24; i++) {
        uint64_t amount = next_random(rng) % 9000;
        balance += amount;
        for (int round = 0; round < 60; round++) signature = (signature ^ amount ^ signature >> 29) * 0xbf58476d1ce4e5b9ull;
        char entry[80];
        int n = std::snprintf(entry, sizeof entry, "%s[%llu,%llu,\"%08x\"]", i ? "," : "", static_cast<unsigned long long>(amount),
                              static_cast<unsigned long long>(balance), static_cast<unsigned>(signature >> 32));
        text.append(entry, static_cast<size_t>(n));
    }
    return text += "]}";
}

// Each client owns the accounts whose number is its own modulo the number of clients.
static uint64_t run_client(unsigned client, const Accounts &accounts, GroupLog &log, MemTable &table) {
    uint64_t rng = 0x9e3779b97f4a7c15ull * (client + 1), bytes = 0;
    std::vector<Write> writes(kWrites);
    std::string seen;
    for (unsigned t = 0; t < kTransactions; t++) {
        for (auto &w : writes) {
            size_t account = next_random(rng) % (accounts.names.size() / kClients) * kClients + client;
            w.key = accounts.names[account];
            w.value = make_statement(accounts, account, rng);
            if (table.get(w.key, seen)) bytes += seen.size();
        }
        log.commit(encode_batch(writes));
        for (const auto &w : writes) table.put(w.key, w.value);
    }
    return bytes;
}

// ---- recovery ----

static std::string read_all(const std::string &path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::string data(static_cast<size_t>(in.tellg()), 0);
    in.seekg(0);
    in.read(data.data(), static_cast<std::streamsize>(data.size()));
    return data;
}

static size_t replay(std::string_view log, MemTable &table) {
    size_t at = 0, records = 0;
    while (at + 8 <= log.size()) {
        uint32_t size = get_u32(log, at);
        std::string_view body = log.substr(at + 8, size);
        if (body.size() < size || crc32c(body) != get_u32(log, at + 4)) break;
        decode_batch(body, [&](std::string_view key, std::string_view value) { table.put(key, value); });
        at += 8 + size;
        records++;
    }
    return records;
}

int main() {
    const Accounts accounts = load_accounts("data/accounts.txt");
    const std::string path = "data/store.log";
    MemTable live;
    std::vector<uint64_t> bytes(kClients);
    {
        GroupLog log(path);
        std::vector<std::thread> clients;
        for (unsigned c = 0; c < kClients; c++) clients.emplace_back([&, c] { bytes[c] = run_client(c, accounts, log, live); });
        for (auto &c : clients) c.join();
        std::fprintf(stderr, "%llu groups\n", static_cast<unsigned long long>(log.groups()));
    }
    MemTable recovered;
    const std::string log = read_all(path);
    size_t records = replay(log, recovered);
    auto a = live.sorted(), b = recovered.sorted();
    uint64_t digest = 0, read = 0;
    for (const auto &[key, value] : b) digest = digest * 31 + crc32c(value) + key.size();
    for (uint64_t n : bytes) read += n;
    std::printf("%zu records, %zu bytes, %zu keys, %s, read %llu, digest %016llx\n", records, log.size(), b.size(), a == b ? "equal" : "DIFFERENT",
                static_cast<unsigned long long>(read), static_cast<unsigned long long>(digest));
    unlink(path.c_str());
    return a == b ? 0 : 1;
}

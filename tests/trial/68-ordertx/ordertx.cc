// ordertx: books orders of several sessions at once, each order as a transaction in a log on disk, then replays the log as a check.
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

constexpr int kSessions = 8;
constexpr int kItems = 60;
constexpr size_t kLogBytes = 2 << 20;

struct Order {
    int session = 0;
    long number = 0;
    int item = 0;
    int quantity = 0;
    long cents = 0;
};

static uint32_t crc32(const std::string& data)
{
    static const std::array<uint32_t, 256> table = [] {
        std::array<uint32_t, 256> made{};
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++)
                c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
            made[i] = c;
        }
        return made;
    }();
    uint32_t crc = ~0u;
    for (unsigned char c : data)
        crc = table[(crc ^ c) & 255] ^ crc >> 8;
    return ~crc;
}

static void fail(const std::string& what)
{
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

// Records of committed transactions, in the order of their commits.
class TransactionLog {
public:
    explicit TransactionLog(const std::string& path) : fd_(open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600))
    {
        if (fd_ < 0)
            fail(path);
        // Blocks that are there already make commits cheaper.
        std::string zeros(kLogBytes, '\0');
        if (write(fd_, zeros.data(), zeros.size()) != static_cast<ssize_t>(zeros.size()) || fsync(fd_))
            fail(path);
    }
    ~TransactionLog() { close(fd_); }

    // Returns when the record is on disk.
    void commit(const std::string& record)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        write_out(record);
        commits_++;
    }

    long commits() const { return commits_; }

private:
    void write_out(const std::string& data)
    {
        for (size_t done = 0; done < data.size();) {
            ssize_t n = pwrite(fd_, data.data() + done, data.size() - done, end_);
            if (n < 0)
                fail("log");
            done += static_cast<size_t>(n);
            end_ += n;
        }
        if (fdatasync(fd_))
            fail("log");
    }

    int fd_;
    off_t end_ = 0;
    std::mutex mutex_;
    long commits_ = 0;
};

// What one session has sold. Each has a warehouse of its own.
class Warehouse {
public:
    Warehouse() { stock_.fill(40); }

    bool take(int item, int quantity)
    {
        int& left = stock_.at(static_cast<size_t>(item));
        if (left < quantity)
            return false;
        left -= quantity;
        if (left < 5)
            left += 6, deliveries_++;
        return true;
    }
    int deliveries() const { return deliveries_; }

private:
    std::array<int, kItems> stock_{};
    int deliveries_ = 0;
};

struct SessionResult {
    long booked = 0, refused = 0, cents = 0;
    int deliveries = 0;
};

static std::string record_of(const Order& order, long total)
{
    std::ostringstream out;
    out << "order=" << order.number << " session=" << order.session << " item=" << order.item << " quantity=" << order.quantity << " total=" << total;
    std::string body = out.str();
    char crc[16];
    std::snprintf(crc, sizeof crc, " %08x\n", crc32(body));
    return body + crc;
}

static void run_session(const std::vector<Order>& orders, TransactionLog& log, SessionResult& result)
{
    Warehouse warehouse;
    for (const Order& order : orders) {
        if (order.quantity <= 0 || !warehouse.take(order.item, order.quantity)) {
            result.refused++;
            continue;
        }
        long total = order.cents * order.quantity;
        if (order.quantity >= 10)
            total -= total / 20;
        log.commit(record_of(order, total));
        result.booked++;
        result.cents += total;
    }
    result.deliveries = warehouse.deliveries();
}

static std::vector<std::vector<Order>> read_orders(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
        fail(path);
    std::vector<std::vector<Order>> sessions(kSessions);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        Order o;
        if (std::sscanf(line.c_str(), "%d,%ld,%d,%d,%ld", &o.session, &o.number, &o.item, &o.quantity, &o.cents) != 5)
            throw std::runtime_error("bad line " + line);
        sessions.at(static_cast<size_t>(o.session)).push_back(o);
    }
    return sessions;
}

static void replay(const std::string& path)
{
    std::ifstream file(path);
    std::map<int, std::pair<long, long>> items;
    long records = 0, damaged = 0;
    uint64_t sum = 0;
    for (std::string line; std::getline(file, line) && line[0];) {
        size_t space = line.rfind(' ');
        uint32_t crc = static_cast<uint32_t>(std::stoul(line.substr(space + 1), nullptr, 16));
        std::string body = line.substr(0, space);
        int item = 0, quantity = 0;
        long total = 0;
        if (crc32(body) != crc || std::sscanf(body.c_str(), "order=%*d session=%*d item=%d quantity=%d total=%ld", &item, &quantity, &total) != 3) {
            damaged++;
            continue;
        }
        records++;
        sum += crc;
        items[item].first += quantity;
        items[item].second += total;
    }
    std::printf("log: %ld records, %ld damaged, checksum %llx\n", records, damaged, static_cast<unsigned long long>(sum));
    for (const auto& [item, sold] : items)
        if (item % 10 == 0)
            std::printf("item %2d: %ld sold for %ld.%02ld\n", item, sold.first, sold.second / 100, sold.second % 100);
}

int main(int argc, char** argv)
{
    const char* folder = std::getenv("TMPDIR");
    std::string path = std::string(folder && *folder ? folder : "/tmp") + "/ordertx-XXXXXX";
    try {
        auto sessions = read_orders(argc > 1 ? argv[1] : "data/orders.csv");
        int fd = mkstemp(path.data());
        if (fd < 0)
            fail(path);
        close(fd);
        std::vector<SessionResult> results(kSessions);
        {
            TransactionLog log(path);
            std::vector<std::thread> threads;
            for (size_t i = 0; i < sessions.size(); i++)
                threads.emplace_back(run_session, std::cref(sessions[i]), std::ref(log), std::ref(results[i]));
            for (auto& thread : threads)
                thread.join();
            std::printf("%ld commits\n", log.commits());
        }
        for (size_t i = 0; i < results.size(); i++)
            std::printf("session %zu: %ld booked, %ld refused, %d deliveries, %ld cents\n", i, results[i].booked, results[i].refused, results[i].deliveries,
                        results[i].cents);
        replay(path);
        unlink(path.c_str());
    } catch (const std::exception& e) {
        std::cerr << "ordertx: " << e.what() << "\n";
        unlink(path.c_str());
        return 1;
    }
}

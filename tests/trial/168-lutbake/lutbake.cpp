// lutbake - apply chains of colour lookup tables to scanlines on several
// threads.  Tables come as text from an asset store and are cached.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Lut {
    float domainMax = 1.0f;
    std::vector<float> values;
};

// Serves "GET n" requests on one connection with the round trip time of a
// storage server in the same building.
class AssetServer {
public:
    explicit AssetServer(int fd) : fd_(fd), thread_([this] { serve(); }) {}
    ~AssetServer() { thread_.join(); }

private:
    void serve()
    {
        char req[64];
        ssize_t n;
        while ((n = read(fd_, req, sizeof req - 1)) > 0) {
            req[n] = '\0';
            std::string text = tableText(atoi(req + 4));
            std::this_thread::sleep_for(std::chrono::microseconds(1500));
            uint32_t len = static_cast<uint32_t>(text.size());
            text.insert(0, reinterpret_cast<const char*>(&len), sizeof len);
            for (size_t at = 0; at < text.size();) {
                ssize_t w = write(fd_, text.data() + at, text.size() - at);
                if (w <= 0)
                    return;
                at += static_cast<size_t>(w);
            }
        }
        close(fd_);
    }
    static std::string tableText(int n)
    {
        char line[64];
        int size = 64 + n % 5 * 16;
        double gamma = 0.6 + (n * 37 % 101) / 60.0;
        std::string s = "# generated table\nTITLE \"look " + std::to_string(n) + "\"\nDOMAIN_MAX 1.0\n";
        s += "LUT_1D_SIZE " + std::to_string(size) + "\n";
        for (int i = 0; i < size; ++i) {
            snprintf(line, sizeof line, "%.6f\n", pow(i / (size - 1.0), gamma));
            s += line;
        }
        return s;
    }

    int fd_;
    std::thread thread_;
};

class AssetClient {
public:
    AssetClient()
    {
        int sv[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
            throw std::runtime_error("socketpair failed");
        fd_ = sv[0];
        server_ = std::make_unique<AssetServer>(sv[1]);
    }
    ~AssetClient() { close(fd_); }

    std::string fetch(int id)
    {
        std::string req = "GET " + std::to_string(id);
        if (write(fd_, req.data(), req.size()) != static_cast<ssize_t>(req.size()))
            throw std::runtime_error("asset store went away");
        uint32_t len;
        readFully(reinterpret_cast<char*>(&len), sizeof len);
        std::string text(len, '\0');
        readFully(&text[0], len);
        return text;
    }

private:
    void readFully(char* p, size_t n)
    {
        while (n) {
            ssize_t r = read(fd_, p, n);
            if (r <= 0)
                throw std::runtime_error("asset store went away");
            p += r;
            n -= static_cast<size_t>(r);
        }
    }

    std::unique_ptr<AssetServer> server_;
    int fd_;
};

static std::shared_ptr<const Lut> parseLut(const std::string& text)
{
    auto lut = std::make_shared<Lut>();
    size_t expected = 0;
    for (size_t pos = 0, end; pos < text.size(); pos = end + 1) {
        end = text.find('\n', pos);
        if (end == std::string::npos)
            end = text.size();
        const char* line = text.c_str() + pos;
        if (end == pos || line[0] == '#' || !strncmp(line, "TITLE", 5))
            continue;
        if (!strncmp(line, "DOMAIN_MAX", 10))
            lut->domainMax = strtof(line + 10, nullptr);
        else if (!strncmp(line, "LUT_1D_SIZE", 11))
            expected = strtoul(line + 11, nullptr, 10);
        else
            lut->values.push_back(strtof(line, nullptr));
    }
    if (lut->values.size() != expected || expected < 2)
        throw std::runtime_error("malformed table");
    return lut;
}

class LutCache {
public:
    std::shared_ptr<const Lut> get(int id, AssetClient& store);
    size_t loads() const { return loads_; }

private:
    std::mutex mutex_;
    std::map<int, std::shared_ptr<const Lut>> entries_;
    std::atomic<size_t> loads_{0};
};

std::shared_ptr<const Lut> LutCache::get(int id, AssetClient& store)
{
    std::lock_guard<std::mutex> guard(mutex_);
    std::shared_ptr<const Lut>& lut = entries_[id];
    if (!lut) {
        lut = parseLut(store.fetch(id));
        ++loads_;
    }
    return lut;
}

static void applyLut(const Lut& lut, std::vector<float>& row)
{
    float scale = static_cast<float>(lut.values.size() - 1) / lut.domainMax;
    for (float& v : row) {
        float x = v * scale;
        size_t i = static_cast<size_t>(x);
        if (i >= lut.values.size() - 1)
            i = lut.values.size() - 2;
        float t = x - static_cast<float>(i);
        v = lut.values[i] + t * (lut.values[i + 1] - lut.values[i]);
    }
}

static uint64_t bakeRow(int job, LutCache& cache, AssetClient& store)
{
    std::vector<float> row(1920 * 3);
    uint32_t s = static_cast<uint32_t>(job) * 2654435761u + 1;
    for (float& v : row) {
        s = s * 1664525u + 1013904223u;
        v = static_cast<float>(s >> 8) / 16777216.0f;
    }
    applyLut(*cache.get(job, store), row);
    applyLut(*cache.get(job / 2, store), row);
    applyLut(*cache.get(job % 16, store), row);
    uint64_t h = 14695981039346656037ull;
    for (float v : row)
        h = (h ^ static_cast<uint64_t>(lrintf(v * 4095.0f))) * 1099511628211ull;
    return h;
}

int main(int argc, char** argv)
{
    int jobs = argc > 1 ? atoi(argv[1]) : 1200;
    LutCache cache;
    std::vector<uint64_t> result(jobs);
    std::atomic<int> next{0};
    std::vector<std::thread> workers;

    for (int w = 0; w < 8; ++w)
        workers.emplace_back([&] {
            AssetClient store;
            for (int job; (job = next++) < jobs;)
                result[job] = bakeRow(job, cache, store);
        });
    for (std::thread& t : workers)
        t.join();
    uint64_t h = 0;
    for (uint64_t r : result)
        h = h * 31 + r;
    printf("%d rows, %zu tables loaded, digest %016llx\n", jobs, cache.loads(), static_cast<unsigned long long>(h));
    return 0;
}

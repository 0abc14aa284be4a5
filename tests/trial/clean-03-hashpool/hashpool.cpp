// hashpool - hash the chunks of a file set with a pool of threads and a short-locked queue.
#include <openssl/evp.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class ThreadPool {
public:
    explicit ThreadPool(unsigned n)
    {
        for (unsigned i = 0; i < n; i++)
            threads_.emplace_back([this] { loop(); });
    }
    ~ThreadPool()
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            closing_ = true;
        }
        wake_.notify_all();
        for (auto &t : threads_)
            t.join();
    }
    void submit(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        wake_.notify_one();
    }

private:
    void loop()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
                if (jobs_.empty())
                    return;
                job = std::move(jobs_.front());
                jobs_.pop_front();
            }
            job();
        }
    }
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> jobs_;
    std::vector<std::thread> threads_;
    bool closing_ = false;
};

struct Digest {
    size_t chunk;
    std::string hex;
};

class Results {
public:
    void add(Digest d)
    {
        std::lock_guard<std::mutex> lock(mutex_);
        items_.push_back(std::move(d));
    }
    std::vector<Digest> sorted()
    {
        std::sort(items_.begin(), items_.end(), [](const Digest &a, const Digest &b) { return a.chunk < b.chunk; });
        return items_;
    }

private:
    std::mutex mutex_;
    std::vector<Digest> items_;
};

static std::vector<uint8_t> makeChunk(size_t n)
{
    std::vector<uint8_t> data(384 * 1024);
    uint32_t x = uint32_t(n) * 2654435761u + 1;
    for (auto &b : data) {
        x = x * 1664525u + 1013904223u;
        b = uint8_t(x >> 24);
    }
    return data;
}

static std::string hashChunk(const std::vector<uint8_t> &data)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_Digest(data.data(), data.size(), md, &n, EVP_sha512(), nullptr);
    static const char *hex = "0123456789abcdef";
    std::string out;
    for (unsigned i = 0; i < n; i++) {
        out += hex[md[i] >> 4];
        out += hex[md[i] & 15];
    }
    return out;
}

int main(int argc, char **argv)
{
    const size_t chunks = argc > 1 ? std::stoul(argv[1]) : 2200;
    Results results;
    {
        ThreadPool pool(2);
        for (size_t i = 0; i < chunks; i++)
            pool.submit([i, &results] { results.add({i, hashChunk(makeChunk(i))}); });
    }
    std::string all;
    for (const auto &d : results.sorted())
        all += d.hex;
    std::cout << chunks << " chunks, root " << hashChunk(std::vector<uint8_t>(all.begin(), all.end())).substr(0, 32) << '\n';
    return 0;
}

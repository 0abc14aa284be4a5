// A front end's request log: worker threads take batches of requests, write the log lines with local time,
// duration and flags into their buffers, and keep counters by hour of the day; the main thread joins all.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

static const int WORKERS = 4;
static const int BATCHES = 5000;
static const int BATCH_SIZE = 3000;

struct Request {
    int64_t at_ms;
    uint32_t client, duration_us;
    uint16_t status, backend;
    uint32_t bytes;
};

static uint32_t next_random(uint32_t &s)
{
    s = s * 1664525u + 1013904223u;
    return s >> 7;
}

static void make_batch(int number, std::vector<Request> &out)
{
    static const uint16_t status[8] = {200, 200, 200, 200, 304, 404, 301, 503};
    uint32_t s = (uint32_t)number * 2654435761u + 1;
    int64_t at = 1711800000000ll + number * 590000ll;
    out.resize(BATCH_SIZE);
    for (Request &r : out) {
        at += next_random(s) % 400;
        r.at_ms = at;
        r.client = next_random(s) % 5000;
        r.duration_us = next_random(s) % 90000;
        r.status = status[next_random(s) % 8];
        r.backend = (uint16_t)(next_random(s) % 12);
        r.bytes = next_random(s) % 70000;
    }
}

static void local_time(int64_t seconds, struct tm *out)
{
    time_t t = (time_t)seconds;
    localtime_r(&t, out);
}

static char *put_number(char *p, unsigned v, int width)
{
    char digits[12];
    int n = 0;
    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    while (n < width) digits[n++] = '0';
    while (n) *p++ = digits[--n];
    return p;
}

static char *put_text(char *p, const char *s)
{
    while (*s) *p++ = *s++;
    return p;
}

struct Totals {
    uint64_t lines = 0, bytes = 0, digest = 0, errors = 0;
    uint64_t by_hour[24] = {}, by_day[7] = {};
    uint64_t slow_by_backend[12] = {};
};

class Worker {
public:
    void run(std::atomic<int> &next)
    {
        std::vector<Request> batch;
        for (int n; (n = next.fetch_add(1)) < BATCHES;) {
            make_batch(n, batch);
            uint64_t h = 1469598103934665603ull;
            for (const Request &r : batch) h = handle(r, h);
            totals.digest ^= h * (uint64_t)(n + 1);
        }
    }
    Totals totals;

private:
    uint64_t handle(const Request &r, uint64_t h)
    {
        struct tm tm;
        size_t n = format_entry(r, tm);
        for (size_t i = 0; i + 8 <= n; i += 8) {
            uint64_t v;
            std::memcpy(&v, line + i, 8);
            h = (h ^ v) * 1099511628211ull;
        }
        totals.lines++;
        totals.bytes += n;
        totals.errors += r.status >= 500;
        totals.by_hour[tm.tm_hour]++;
        totals.by_day[tm.tm_wday]++;
        if (r.duration_us > 80000) totals.slow_by_backend[r.backend]++;
        return h;
    }
    size_t format_entry(const Request &r, struct tm &tm)
    {
        static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
        local_time(r.at_ms / 1000, &tm);
        char *p = line;
        p = put_text(p, "10.1.");
        p = put_number(p, r.client / 250, 1);
        *p++ = '.';
        p = put_number(p, r.client % 250, 1);
        p = put_text(p, " [");
        p = put_number(p, (unsigned)tm.tm_mday, 2);
        *p++ = '/';
        p = std::copy(months + 3 * tm.tm_mon, months + 3 * tm.tm_mon + 3, p);
        *p++ = '/';
        p = put_number(p, (unsigned)tm.tm_year + 1900, 4);
        *p++ = ':';
        p = put_number(p, (unsigned)tm.tm_hour, 2);
        *p++ = ':';
        p = put_number(p, (unsigned)tm.tm_min, 2);
        *p++ = ':';
        p = put_number(p, (unsigned)tm.tm_sec, 2);
        *p++ = '.';
        p = put_number(p, (unsigned)(r.at_ms % 1000), 3);
        p = put_text(p, "] be");
        p = put_number(p, r.backend, 2);
        *p++ = ' ';
        p = put_number(p, r.duration_us, 1);
        *p++ = ' ';
        p = put_number(p, r.status, 3);
        *p++ = ' ';
        p = put_number(p, r.bytes, 1);
        *p++ = '\n';
        size_t n = (size_t)(p - line);
        std::memset(p, 0, 8);
        return n;
    }
    char line[256];
};

static void add(Totals &all, const Totals &t)
{
    all.lines += t.lines;
    all.bytes += t.bytes;
    all.digest ^= t.digest;
    all.errors += t.errors;
    for (int i = 0; i < 24; i++) all.by_hour[i] += t.by_hour[i];
    for (int i = 0; i < 7; i++) all.by_day[i] += t.by_day[i];
    for (int i = 0; i < 12; i++) all.slow_by_backend[i] += t.slow_by_backend[i];
}

int main()
{
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    std::atomic<int> next{0};
    std::vector<Worker> workers(WORKERS);
    std::vector<std::thread> threads;
    for (Worker &w : workers) threads.emplace_back([&] { w.run(next); });
    for (std::thread &t : threads) t.join();
    Totals all;
    for (const Worker &w : workers) add(all, w.totals);
    for (int i = 0; i < 24; i++) std::printf("%02d:00 %llu\n", i, (unsigned long long)all.by_hour[i]);
    for (int i = 0; i < 7; i++) std::printf("day %d: %llu\n", i, (unsigned long long)all.by_day[i]);
    for (int i = 0; i < 12; i++) std::printf("be%02d long %llu\n", i, (unsigned long long)all.slow_by_backend[i]);
    std::printf("lines %llu, bytes %llu, errors %llu, digest %016llx\n", (unsigned long long)all.lines,
                (unsigned long long)all.bytes, (unsigned long long)all.errors, (unsigned long long)all.digest);
}

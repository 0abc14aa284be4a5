// Packs a log that another process writes into a pipe: takes what is there, finds repetitions with hash chains in a sliding
// window, codes literals and matches with an adaptive range coder, then unpacks everything and compares the checksums.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static constexpr uint32_t Lines = 390000, Window = 1 << 16, HashBits = 15, MinMatch = 4, MaxMatch = 258;
static constexpr int ChainLimit = 48;

// ---- the writer of the log ----

static void write_log(int fd)
{
    static const char *units[] = { "sshd", "cron", "kernel", "nginx", "postfix", "systemd" };
    static const char *texts[] = { "accepted connection from", "closed session of", "started job", "queued message for", "rejected packet from" };
    uint32_t seed = 42;
    char line[200];
    for (uint32_t i = 0; i < Lines; i++) {
        seed = seed * 1664525 + 1013904223;
        int n = std::snprintf(line, sizeof line, "2026-03-%02u %02u:%02u:%02u host%u %s[%u]: %s 10.%u.%u.%u port %u\n", 1 + i / 20000 % 28,
                              i / 170 % 24, i / 3 % 60, i % 60, seed >> 29, units[(seed >> 8) % 6], seed >> 17 & 4095, texts[(seed >> 13) % 5],
                              seed >> 24 & 15, seed >> 16 & 255, seed >> 9 & 255, seed & 65535);
        if (write(fd, line, n) != n) _exit(1);
    }
    _exit(0);
}

// ---- range coder with adaptive bits ----

class Encoder {
    uint64_t low = 0;
    uint32_t range = 0xffffffffu, pending = 0;
    uint8_t cache = 0;
    bool first = true;

    void shift()
    {
        if (low < 0xff000000u || low >> 32) {
            if (!first) out.push_back((uint8_t)(cache + (low >> 32)));
            for (; pending; pending--) out.push_back((uint8_t)(0xff + (low >> 32)));
            first = false;
            cache = (uint8_t)(low >> 24);
        } else {
            pending++;
        }
        low = (low & 0x00ffffffu) << 8;
    }

public:
    std::vector<uint8_t> out;

    void bit(uint16_t &p, int b)
    {
        uint32_t bound = (range >> 12) * p;
        if (!b) {
            range = bound;
            p += (4096 - p) >> 5;
        } else {
            low += bound;
            range -= bound;
            p -= p >> 5;
        }
        while (range < 1u << 24) {
            range <<= 8;
            shift();
        }
    }

    void finish() { for (int i = 0; i < 5; i++) shift(); }
};

class Decoder {
    const std::vector<uint8_t> &in;
    size_t at = 0;
    uint32_t range = 0xffffffffu, code = 0;

    uint8_t next() { return at < in.size() ? in[at++] : 0; }

public:
    explicit Decoder(const std::vector<uint8_t> &in) : in(in) { for (int i = 0; i < 4; i++) code = code << 8 | next(); }

    int bit(uint16_t &p)
    {
        uint32_t bound = (range >> 12) * p;
        int b = code >= bound;
        if (!b) {
            range = bound;
            p += (4096 - p) >> 5;
        } else {
            code -= bound;
            range -= bound;
            p -= p >> 5;
        }
        while (range < 1u << 24) {
            range <<= 8;
            code = code << 8 | next();
        }
        return b;
    }
};

struct Model {
    std::vector<uint16_t> literal, length, slot[2];
    uint16_t match[2] = { 2048, 2048 };

    Model() : literal(256 * 256, 2048), length(512, 2048), slot{ std::vector<uint16_t>(256, 2048), std::vector<uint16_t>(256 * 256, 2048) } {}
};

static void put_tree(Encoder &e, uint16_t *p, int bits, uint32_t v)
{
    for (uint32_t node = 1, i = bits; i-- > 0;) {
        int b = v >> i & 1;
        e.bit(p[node], b);
        node = node << 1 | b;
    }
}

static uint32_t get_tree(Decoder &d, uint16_t *p, int bits)
{
    uint32_t node = 1;
    for (int i = 0; i < bits; i++) node = node << 1 | d.bit(p[node]);
    return node - (1u << bits);
}

// ---- packing ----

class Packer {
    std::vector<uint8_t> data;
    std::vector<int32_t> head, previous;
    size_t done = 0;
    int last = 0;
    Model model;
    Encoder encoder;

    uint32_t hash(size_t i) const
    {
        uint32_t v;
        std::memcpy(&v, &data[i], 4);
        return v * 2654435761u >> (32 - HashBits);
    }

    void remember(size_t i)
    {
        uint32_t h = hash(i);
        previous[i & (Window - 1)] = head[h];
        head[h] = (int32_t)i;
    }

    uint32_t find(size_t i, size_t limit, uint32_t &distance) const
    {
        uint32_t best = 0;
        int32_t at = head[hash(i)];
        for (int tries = ChainLimit; at >= 0 && i - at < Window && tries; tries--, at = previous[at & (Window - 1)]) {
            uint32_t n = 0;
            if (data[at + best] != data[i + best]) continue;
            while (n < limit && data[at + n] == data[i + n]) n++;
            if (n > best) {
                best = n;
                distance = (uint32_t)(i - at);
                if (best == limit) break;
            }
        }
        return best;
    }

public:
    size_t reads = 0;

    Packer() : head(1 << HashBits, -1), previous(Window, -1) {}

    void pack_until(size_t end)
    {
        while (done < end) {
            uint32_t distance = 0, length = 0;
            size_t limit = data.size() - done < MaxMatch ? data.size() - done : MaxMatch;
            if (limit > MinMatch) length = find(done, limit, distance);
            if (length >= MinMatch) {
                encoder.bit(model.match[last], 1);
                put_tree(encoder, model.length.data(), 8, length - MinMatch + 0);
                put_tree(encoder, model.slot[0].data(), 8, distance >> 8);
                put_tree(encoder, &model.slot[1][(distance >> 8) * 256], 8, distance & 255);
                last = 1;
            } else {
                encoder.bit(model.match[last], 0);
                put_tree(encoder, &model.literal[(done ? data[done - 1] : 0) * 256], 8, data[done]);
                last = 0;
                length = 1;
            }
            for (; length; length--, done++)
                if (done + MinMatch <= data.size()) remember(done);
        }
    }

    void feed(const uint8_t *p, size_t n)
    {
        reads++;
        data.insert(data.end(), p, p + n);
        if (data.size() > done + 2 * MaxMatch) pack_until(data.size() - MaxMatch - MinMatch);
    }

    const std::vector<uint8_t> &finish()
    {
        pack_until(data.size());
        encoder.finish();
        return encoder.out;
    }

    size_t size() const { return data.size(); }

    uint64_t checksum() const
    {
        uint64_t h = 1469598103934665603ull;
        for (uint8_t b : data) h = (h ^ b) * 1099511628211ull;
        return h;
    }
};

static uint64_t unpack(const std::vector<uint8_t> &packed, size_t size)
{
    std::vector<uint8_t> out;
    out.reserve(size + MaxMatch);
    Model model;
    Decoder d(packed);
    int last = 0;
    while (out.size() < size) {
        if (d.bit(model.match[last])) {
            uint32_t length = get_tree(d, model.length.data(), 8) + MinMatch, high = get_tree(d, model.slot[0].data(), 8);
            uint32_t distance = high << 8 | get_tree(d, &model.slot[1][high * 256], 8);
            for (; length; length--) out.push_back(out[out.size() - distance]);
            last = 1;
        } else {
            uint8_t context = out.empty() ? 0 : out.back();
            out.push_back((uint8_t)get_tree(d, &model.literal[context * 256], 8));
            last = 0;
        }
    }
    uint64_t h = 1469598103934665603ull;
    for (uint8_t b : out) h = (h ^ b) * 1099511628211ull;
    return h;
}

int main()
{
    int ends[2];
    if (pipe(ends) < 0) return 1;
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        close(ends[0]);
        write_log(ends[1]);
    }
    close(ends[1]);
    Packer packer;
    uint8_t buffer[65536];
    ssize_t n;
    while ((n = read(ends[0], buffer, sizeof buffer)) > 0) packer.feed(buffer, (size_t)n);
    waitpid(child, nullptr, 0);
    const std::vector<uint8_t> &packed = packer.finish();
    uint64_t before = packer.checksum(), after = unpack(packed, packer.size());
    std::printf("%zu bytes, %s, checksum %016llx\n", packer.size(), before == after ? "unpacked the same" : "DIFFERENT", (unsigned long long)before);
    return before != after;
}

// wirelog - replay a captured MQTT-style byte stream and summarise the traffic per topic.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace wirelog {

enum class PacketType : uint8_t { Connect = 1, Publish = 3, Subscribe = 8, Ping = 12 };

struct Packet {
    PacketType type;
    std::string topic;
    std::vector<uint8_t> payload;
};

class PacketReader {
public:
    void feed(const uint8_t *data, size_t n) { buffer_.insert(buffer_.end(), data, data + n); }

    std::optional<Packet> next();
    size_t pending() const
    {
        return buffer_.size();
    }

private:
    bool decodeLength(size_t &length, size_t &header) const;
    void consume(size_t n);
    uint8_t at(size_t i) const
    {
        return buffer_[i];
    }

    std::vector<uint8_t> buffer_;
};

bool PacketReader::decodeLength(size_t &length, size_t &header) const
{
    length = 0;
    unsigned shift = 0;
    for (size_t i = 1; i < 5; i++) {
        if (i >= pending())
            return false;
        uint8_t b = at(i);
        length |= size_t(b & 0x7f) << shift;
        shift += 7;
        if (!(b & 0x80)) {
            header = i + 1;
            return pending() >= header + length;
        }
    }
    throw std::runtime_error("malformed remaining length");
}

void PacketReader::consume(size_t n)
{
    buffer_.erase(buffer_.begin(), buffer_.begin() + n);
}

std::optional<Packet> PacketReader::next()
{
    size_t length, header;
    if (pending() < 2 || !decodeLength(length, header))
        return std::nullopt;
    Packet p;
    p.type = PacketType(at(0) >> 4);
    size_t i = header, end = header + length;
    if (p.type == PacketType::Publish && length >= 2) {
        size_t tl = size_t(at(i)) << 8 | at(i + 1);
        i += 2;
        for (size_t k = 0; k < tl && i < end; k++)
            p.topic.push_back(char(at(i++)));
    }
    p.payload.reserve(end - i);
    while (i < end)
        p.payload.push_back(at(i++));
    consume(end);
    return p;
}

struct TopicStats {
    uint64_t messages = 0;
    uint64_t bytes = 0;
    double entropy = 0;
    uint32_t digest = 2166136261u;
};

static double entropyOf(const std::vector<uint8_t> &data)
{
    unsigned counts[256] = {};
    for (uint8_t b : data)
        counts[b]++;
    double h = 0;
    for (unsigned c : counts)
        if (c) {
            double p = double(c) / double(data.size());
            h -= p * std::log2(p);
        }
    return h;
}

class Session {
public:
    void handle(const Packet &p)
    {
        packets_++;
        switch (p.type) {
        case PacketType::Publish: publish(p); break;
        case PacketType::Ping: pings_++; break;
        default: other_++; break;
        }
    }

    void report(std::ostream &os) const
    {
        for (const auto &[topic, st] : topics_)
            os << topic << ' ' << st.messages << ' ' << st.bytes << ' ' << std::hex << st.digest << std::dec << ' ' << st.entropy / double(st.messages) << '\n';
        os << "packets " << packets_ << " pings " << pings_ << " other " << other_ << '\n';
    }

private:
    void publish(const Packet &p)
    {
        TopicStats &st = topics_[p.topic];
        st.messages++;
        st.bytes += p.payload.size();
        for (uint8_t b : p.payload)
            st.digest = (st.digest ^ b) * 16777619u;
        st.entropy += entropyOf(p.payload);
    }

    std::map<std::string, TopicStats> topics_;
    uint64_t packets_ = 0, pings_ = 0, other_ = 0;
};

std::vector<uint8_t> loadCapture(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        std::cerr << "wirelog: cannot open " << path << '\n';
        std::exit(1);
    }
    return std::vector<uint8_t>(std::istreambuf_iterator<char>(in), {});
}

void replay(const std::vector<uint8_t> &capture, Session &session)
{
    PacketReader reader;
    reader.feed(capture.data(), capture.size());
    while (auto packet = reader.next())
        session.handle(*packet);
    if (reader.pending())
        std::cout << "truncated: " << reader.pending() << " bytes left\n";
}

} // namespace wirelog

int main(int argc, char **argv)
{
    auto capture = wirelog::loadCapture(argc > 1 ? argv[1] : "data/capture.bin");
    wirelog::Session session;
    wirelog::replay(capture, session);
    session.report(std::cout);
    return 0;
}

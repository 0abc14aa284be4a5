// connpool: workers look up prices at a local server over pooled connections. A connection is opened by a handshake in which the
// server takes its time; connections age out after a few uses.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

class Socket {
  public:
    explicit Socket(int fd) : fd_(fd) {
        int one = 1;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    ~Socket() { ::close(fd_); }
    Socket(const Socket &) = delete;

    void send(const std::string &s) const {
        if (::send(fd_, s.data(), s.size(), MSG_NOSIGNAL) != ssize_t(s.size())) throw std::runtime_error("send");
    }

    // reads up to a newline; empty if the other side has closed
    std::string line() const {
        std::string s;
        char c;
        while (::recv(fd_, &c, 1, 0) == 1) {
            if (c == '\n') return s;
            s.push_back(c);
        }
        return {};
    }

  private:
    int fd_;
};

class Server {
  public:
    Server() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t n = sizeof a;
        if (bind(listener_, (sockaddr *)&a, n) || listen(listener_, 64) || getsockname(listener_, (sockaddr *)&a, &n))
            throw std::runtime_error("listen");
        port_ = ntohs(a.sin_port);
        std::thread([this] { accept(); }).detach();
    }

    uint16_t port() const { return port_; }

  private:
    void accept() {
        for (;;) {
            int fd = ::accept(listener_, nullptr, nullptr);
            if (fd >= 0) std::thread([fd] { session(fd); }).detach();
        }
    }

    static void session(int fd) {
        Socket s(fd);
        if (s.line().rfind("HELLO", 0) != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(9)); // checks the credentials
        s.send("OK\n");
        for (std::string q = s.line(); !q.empty(); q = s.line()) {
            uint32_t h = 2166136261u;
            for (unsigned char c : q) h = (h ^ c) * 16777619u;
            s.send(std::to_string(h % 100000) + "\n");
        }
    }

    int listener_;
    uint16_t port_;
};

struct Connection {
    explicit Connection(int fd) : socket(fd) {}
    Socket socket;
    int uses = 0;
};

class Pool {
  public:
    Pool(uint16_t port, int maxUses) : port_(port), maxUses_(maxUses) {}

    std::unique_ptr<Connection> acquire() {
        {
            std::lock_guard<std::mutex> g(mutex_);
            if (!idle_.empty()) {
                auto c = std::move(idle_.front());
                idle_.pop_front();
                return c;
            }
            opened_++;
        }
        return open();
    }

    void release(std::unique_ptr<Connection> c) {
        std::lock_guard<std::mutex> g(mutex_);
        if (++c->uses < maxUses_) idle_.push_back(std::move(c));
    }

    int opened() const { return opened_; }

  private:
    std::unique_ptr<Connection> open() {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        a.sin_port = htons(port_);
        if (fd < 0 || connect(fd, (sockaddr *)&a, sizeof a)) throw std::runtime_error("connect");
        auto c = std::make_unique<Connection>(fd);
        c->socket.send("HELLO user=report\n");
        if (c->socket.line() != "OK") throw std::runtime_error("handshake");
        return c;
    }

    std::mutex mutex_;
    std::deque<std::unique_ptr<Connection>> idle_;
    uint16_t port_;
    int maxUses_;
    int opened_ = 0;
};

static long price(Pool &pool, const std::string &item) {
    auto c = pool.acquire();
    c->socket.send("PRICE " + item + "\n");
    long v = std::stol(c->socket.line());
    pool.release(std::move(c));
    return v;
}

int main() {
    constexpr int workers = 10, orders = 1200;
    Server server;
    Pool pool(server.port(), 8);
    std::atomic<int> next{0};
    std::vector<long> totals(orders);
    std::vector<std::thread> threads;
    for (int w = 0; w < workers; w++)
        threads.emplace_back([&] {
            for (int o = next++; o < orders; o = next++) totals[o] = (o % 7 + 1) * price(pool, "item-" + std::to_string(o * 37 % 900));
        });
    for (auto &t : threads) t.join();
    long sum = 0, best = 0;
    uint64_t h = 0;
    for (long t : totals) {
        sum += t;
        best = std::max(best, t);
        h = h * 31 + t;
    }
    std::cout << "orders " << orders << ", total " << sum << ", largest " << best << ", checksum " << std::hex << h << std::endl;
    if (pool.opened() < orders / 8) return 1;
    _exit(0);
}

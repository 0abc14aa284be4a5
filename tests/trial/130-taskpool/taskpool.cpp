// A pool of tasks that serves the requests of a few clients. A client prepares a message, hands it to the pool, waits for
// the answer, and then checks and books it. Prints what each client booked.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static constexpr int Threads = 64, Clients = 2, Messages = 26000;

class TaskQueue;

struct Task {
    std::function<void()> run;
    uint64_t dispatched = 0;
};

class TaskQueue {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Task *> ready;
    std::vector<std::thread> threads;
    bool stopping = false;
    uint64_t count = 0;

    void worker()
    {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            while (ready.empty()) {
                if (stopping) return;
                wake.wait(lock);
            }
            Task *t = ready.front();
            ready.pop_front();
            lock.unlock();
            t->run();
            lock.lock();
        }
    }

public:
    explicit TaskQueue(int n)
    {
        for (int i = 0; i < n; i++) threads.emplace_back([this] { worker(); });
    }

    ~TaskQueue()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            stopping = true;
        }
        wake.notify_all();
        for (auto &t : threads) t.join();
    }

    void dispatch(Task *t)
    {
        std::lock_guard<std::mutex> lock(mutex);
        t->dispatched++;
        count++;
        ready.push_back(t);
        wake.notify_all();
    }

    uint64_t dispatched()
    {
        std::lock_guard<std::mutex> lock(mutex);
        return count;
    }
};

struct Message {
    uint32_t id, kind;
    char body[56];
    uint64_t sum;
};

class Client {
    TaskQueue &queue;
    int number;
    uint32_t sent = 0, seed;
    Message message{};
    Task task;
    std::mutex mutex;
    std::condition_variable answered;
    bool answer_ready = false;
    std::thread thread;

    uint32_t draw()
    {
        seed = seed * 1664525 + 1013904223;
        return seed >> 12;
    }

    void encode()
    {
        message.id = sent++;
        message.kind = draw() % 5;
        std::snprintf(message.body, sizeof message.body, "%d:%u:%x:%x", number, message.id, draw(), draw());
    }

    void serve()
    {
        uint64_t h = 1469598103934665603ull;
        for (const char *p = message.body; *p; p++) h = (h ^ (uint8_t)*p) * 1099511628211ull;
        std::lock_guard<std::mutex> lock(mutex);
        message.sum = h;
        answer_ready = true;
        answered.notify_one();
    }

    void wait_answer()
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (!answer_ready) answered.wait(lock);
        answer_ready = false;
    }

    void account()
    {
        unsigned n, id, a, b;
        if (std::sscanf(message.body, "%u:%u:%x:%x", &n, &id, &a, &b) != 4 || id != message.id) std::abort();
        values[message.kind] += a % 1000 + b % 100;
        kinds[message.kind]++;
        digest = digest * 31 + message.sum;
    }

    void run()
    {
        while (sent < Messages) {
            encode();
            queue.dispatch(&task);
            wait_answer();
            account();
        }
    }

public:
    uint64_t kinds[5] = {}, values[5] = {}, digest = 0;

    Client(TaskQueue &q, int n) : queue(q), number(n), seed(1000 + n)
    {
        task.run = [this] { serve(); };
        thread = std::thread([this] { run(); });
    }

    void join() { thread.join(); }

    void print() const
    {
        std::printf("client %d:", number);
        for (int k = 0; k < 5; k++) std::printf(" %llu/%llu", (unsigned long long)kinds[k], (unsigned long long)values[k]);
        std::printf(", digest %016llx\n", (unsigned long long)digest);
    }
};

int main()
{
    TaskQueue queue(Threads);
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < Clients; i++) clients.push_back(std::make_unique<Client>(queue, i));
    for (auto &c : clients) c->join();
    for (auto &c : clients) c->print();
    std::printf("%llu dispatched\n", (unsigned long long)queue.dispatched());
}

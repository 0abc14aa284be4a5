// A small pool of threads for the stages of the pipeline.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class TaskPool {
public:
    explicit TaskPool(unsigned count) {
        for (unsigned i = 0; i < count; i++) threads_.emplace_back(&TaskPool::worker, this);
    }

    ~TaskPool() {
        wait_for_tasks();
        running_ = false;
        for (auto &t : threads_) t.join();
    }

    void push_task(std::function<void()> task) {
        tasks_total_++;
        std::lock_guard<std::mutex> lock(mutex_);
        tasks_.push(std::move(task));
    }

    // Returns when all tasks that were pushed are done.
    void wait_for_tasks() {
        while (tasks_total_ != 0) sleep_or_yield();
    }

    // Calls body(i) for i in [0, count) on the threads of the pool and waits for all of them.
    template <typename Body>
    void parallelize_loop(unsigned count, const Body &body) {
        for (unsigned i = 0; i < count; i++) push_task([&body, i] { body(i); });
        wait_for_tasks();
    }

    std::chrono::microseconds sleep_duration{3000};

private:
    bool pop_task(std::function<void()> &task) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (tasks_.empty()) return false;
        task = std::move(tasks_.front());
        tasks_.pop();
        return true;
    }

    void sleep_or_yield() {
        if (sleep_duration.count())
            std::this_thread::sleep_for(sleep_duration);
        else
            std::this_thread::yield();
    }

    void worker() {
        while (running_) {
            std::function<void()> task;
            if (pop_task(task)) {
                task();
                tasks_total_--;
            } else {
                sleep_or_yield();
            }
        }
    }

    std::atomic<bool> running_{true};
    std::atomic<unsigned> tasks_total_{0};
    std::mutex mutex_;
    std::queue<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
};

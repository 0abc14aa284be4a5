// A small pool of threads for the stages of the pipeline.
#pragma once
#include <condition_variable>
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
        {
            std::lock_guard<std::mutex> lock(mutex_);
            running_ = false;
        }
        task_available_.notify_all();
        for (auto &t : threads_) t.join();
    }

    void push_task(std::function<void()> task) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            tasks_total_++;
            tasks_.push(std::move(task));
        }
        task_available_.notify_one();
    }

    // Returns when all tasks that were pushed are done.
    void wait_for_tasks() {
        std::unique_lock<std::mutex> lock(mutex_);
        tasks_done_.wait(lock, [this] { return tasks_total_ == 0; });
    }

    // Calls body(i) for i in [0, count) on the threads of the pool and waits for all of them.
    template <typename Body>
    void parallelize_loop(unsigned count, const Body &body) {
        for (unsigned i = 0; i < count; i++) push_task([&body, i] { body(i); });
        wait_for_tasks();
    }

private:
    void worker() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            task_available_.wait(lock, [this] { return !tasks_.empty() || !running_; });
            if (tasks_.empty()) return;
            auto task = std::move(tasks_.front());
            tasks_.pop();
            lock.unlock();
            task();
            lock.lock();
            if (--tasks_total_ == 0) tasks_done_.notify_all();
        }
    }

    bool running_ = true;
    unsigned tasks_total_ = 0;
    std::mutex mutex_;
    std::condition_variable task_available_, tasks_done_;
    std::queue<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
};

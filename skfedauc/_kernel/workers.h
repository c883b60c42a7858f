// Tasks done by several threads, until one fails or the user interrupts.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

class Workers {
   public:
    // The calling thread calls `check_signals` about 20 times a second; it throws to interrupt.
    Workers(std::size_t n_threads, std::function<void()> check_signals)
        : n_threads(n_threads), check_signals_(std::move(check_signals)) {}

    // Call `task(number, thread)` for each number below `n_tasks`, in any order.
    template <class Task>
    void run(std::size_t n_tasks, Task task) {
        std::atomic<std::size_t> next{0};
        std::exception_ptr failure;
        std::mutex failing;
        auto work = [&](std::size_t thread) {
            try {
                for (std::size_t number; (number = next++) < n_tasks;) {
                    task(number, thread);
                    if (thread == 0) poll();
                }
            } catch (...) {
                next = n_tasks;
                std::lock_guard<std::mutex> lock(failing);
                if (!failure) failure = std::current_exception();
            }
        };
        std::vector<std::thread> others;
        try {
            others.reserve(std::min(n_threads, n_tasks));
            for (std::size_t thread = 1; thread < std::min(n_threads, n_tasks); ++thread)
                others.emplace_back(work, thread);
        } catch (const std::exception&) {
            // The system has no more threads, or memory: those that there are do the work.
        }
        work(0);
        for (std::thread& other : others) other.join();
        if (failure) std::rethrow_exception(failure);
    }

    const std::size_t n_threads;

   private:
    void poll() {
        const auto now = std::chrono::steady_clock::now();
        if (!check_signals_ || now - polled_ < std::chrono::milliseconds(50)) return;
        polled_ = now;
        check_signals_();
    }

    std::function<void()> check_signals_;
    std::chrono::steady_clock::time_point polled_ = std::chrono::steady_clock::now();
};

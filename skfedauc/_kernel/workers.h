// Run tasks in several threads until a task fails or the user interrupts.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

// Throw if the user interrupts. Workers call this function about 20 times a second.
void check_signals();

class Workers {
   public:
    explicit Workers(std::size_t n_threads) : n_threads(n_threads) {}

    // Call `task(number, thread)` for each number below `n_tasks`, in any order.
    void run(std::size_t n_tasks, auto task) {
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
            // Without more threads or memory, the threads that have started do the work.
        }
        work(0);
        for (std::thread& other : others) other.join();
        if (failure) std::rethrow_exception(failure);
    }

    const std::size_t n_threads;

   private:
    void poll() {
        const auto now = std::chrono::steady_clock::now();
        if (now - polled_ < std::chrono::milliseconds(50)) return;
        polled_ = now;
        check_signals();
    }

    std::chrono::steady_clock::time_point polled_ = std::chrono::steady_clock::now();
};

// Smallest number of items for which a second thread saves time
constexpr std::size_t FEW = std::size_t(1) << 16;

// Call `see(number, thread)` for each stretch of items. Stretch k is places[k] to places[k + 1]. A
// task takes stretches until the sum reaches 32,768 items.
void in_stretches(Workers& workers, const std::vector<std::size_t>& places, auto see) {
    constexpr std::size_t of_task = std::size_t(1) << 15;
    const std::size_t n_tasks = places.back() < FEW ? 1 : places.back() / of_task + 1;
    const auto first = [&](std::size_t task) {
        if (task == n_tasks) return places.size() - 1;
        return std::size_t(std::lower_bound(places.begin(), places.end() - 1, task * of_task) - places.begin());
    };
    workers.run(n_tasks, [&](std::size_t task, std::size_t thread) {
        for (std::size_t number = first(task), end = first(task + 1); number < end; ++number) see(number, thread);
    });
}

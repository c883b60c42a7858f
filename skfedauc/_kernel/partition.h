// Items put into buckets, those of a bucket in the order in which they came.
#pragma once
#include <cassert>
#include <vector>

#include "workers.h"

// Items that one task counts or moves, of many.
constexpr std::size_t CHUNK = std::size_t(1) << 22;
// Fewer items are not worth a second thread.
constexpr std::size_t FEW = std::size_t(1) << 16;
// Items of stretches that one task has.
constexpr std::size_t TASK = std::size_t(1) << 15;

// Call `see(number, thread)` for each stretch of items, of which number k has places[k] to
// places[k + 1]; short ones share a task.
template <class See>
void in_stretches(Workers& workers, const std::vector<std::size_t>& places, See see) {
    const std::size_t n = places.size() - 1, n_tasks = places.back() < FEW ? 1 : places.back() / TASK + 1;
    const auto first = [&](std::size_t task) {
        if (task == 0 || task == n_tasks) return task ? n : 0;
        return std::size_t(std::lower_bound(places.begin(), places.end() - 1, task * TASK) - places.begin());
    };
    workers.run(n_tasks, [&](std::size_t task, std::size_t thread) {
        for (std::size_t number = first(task), end = first(task + 1); number < end; ++number) see(number, thread);
    });
}

// Call `move(i, place)` for each of `n` items; bucket b gets places starts[b] to starts[b + 1].
// Chunks of items are counted, and then moved, by different threads; what a chunk has in a
// bucket goes behind what earlier chunks have there, so that threads never change the result.
template <class BucketOf, class Move>
std::vector<std::size_t> partition(Workers& workers, std::size_t n, std::size_t n_buckets,
                                   BucketOf bucket_of, Move move) {
    const std::size_t least = n < FEW ? 1 : workers.n_threads;
    const std::size_t n_chunks = std::max(least, n / CHUNK);
    // Rows that another thread changes meanwhile may be counted wrongly, and write nowhere else.
    const auto bucket = [&](std::size_t i) { return std::min(bucket_of(i), n_buckets - 1); };
    const auto begin = [&](std::size_t chunk) { return n / n_chunks * chunk + std::min(chunk, n % n_chunks); };
    std::vector<std::size_t> places(n_chunks * n_buckets);
    workers.run(n_chunks, [&](std::size_t chunk, std::size_t) {
        std::size_t* counts = places.data() + chunk * n_buckets;
        for (std::size_t i = begin(chunk), end = begin(chunk + 1); i < end; ++i) {
            ++counts[bucket(i)];
        }
    });
    std::vector<std::size_t> starts(n_buckets + 1);
    std::size_t place = 0;
    for (std::size_t number = 0; number < n_buckets; ++number) {
        starts[number] = place;
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
            std::size_t& count = places[chunk * n_buckets + number];
            const std::size_t n_here = count;
            count = place;
            place += n_here;
        }
    }
    starts[n_buckets] = place;
    workers.run(n_chunks, [&](std::size_t chunk, std::size_t) {
        std::size_t* next = places.data() + chunk * n_buckets;
        for (std::size_t i = begin(chunk), end = begin(chunk + 1); i < end; ++i)
            if (const std::size_t place = next[bucket(i)]++; place < n) move(i, place);
    });
    return starts;
}

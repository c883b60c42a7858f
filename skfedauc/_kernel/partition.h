// Items put into buckets; those of a bucket keep the order in which they came.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "buffer.h"
#include "keys.h"
#include "workers.h"

// Items that one task counts or moves, at most.
constexpr std::size_t CHUNK = std::size_t(1) << 22;
// Up to so many buckets are filled in one step; the processor's caches hold the ends of no more.
constexpr std::size_t MOST_BUCKETS = std::size_t(1) << 12;

// Call `move(i, place)` for each of `n` items; bucket b gets places starts[b] to starts[b + 1].
// Threads count, and then move, chunks of items. The items of a chunk follow those of earlier
// chunks in each bucket, so the result does not depend on the threads.
template <class BucketOf, class Move>
std::vector<std::size_t> partition(Workers& workers, std::size_t n, std::size_t n_buckets, BucketOf bucket_of,
                                   Move move) {
    const std::size_t n_chunks = std::max(n < FEW ? std::size_t(1) : workers.n_threads, n / CHUNK);
    // If another thread changes the rows meanwhile, counts are wrong, but nothing is written elsewhere.
    const auto bucket = [&](std::size_t i) { return std::min(bucket_of(i), n_buckets - 1); };
    const auto begin = [&](std::size_t chunk) { return n / n_chunks * chunk + std::min(chunk, n % n_chunks); };
    std::vector<std::size_t> places(n_chunks * n_buckets), starts(n_buckets + 1);
    workers.run(n_chunks, [&](std::size_t chunk, std::size_t) {
        std::size_t* counts = places.data() + chunk * n_buckets;
        for (std::size_t i = begin(chunk), end = begin(chunk + 1); i < end; ++i) ++counts[bucket(i)];
    });
    std::size_t place = 0;
    for (std::size_t number = 0; number < n_buckets; ++number) {
        starts[number] = place;
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk)
            place += std::exchange(places[chunk * n_buckets + number], place);
    }
    starts[n_buckets] = place;
    workers.run(n_chunks, [&](std::size_t chunk, std::size_t) {
        std::size_t* next = places.data() + chunk * n_buckets;
        for (std::size_t i = begin(chunk), end = begin(chunk + 1); i < end; ++i)
            if (const std::size_t place = next[bucket(i)]++; place < n) move(i, place);
    });
    return starts;
}

// Write the records of all items to `to`, bucket after bucket; return where buckets start.
template <class Record, class BucketOf, class RecordOf>
std::vector<std::size_t> scatter(Workers& workers, Span<Record> to, std::size_t n_buckets, BucketOf bucket_of,
                                 RecordOf record_of) {
    if (n_buckets <= MOST_BUCKETS)
        return partition(workers, to.size, n_buckets, bucket_of,
                         [&](std::size_t i, std::size_t place) { to[place] = record_of(i); });
    // By the upper bits of the bucket's number, and then each part by the lower bits.
    struct Routed { Record record; std::uint32_t low; };
    const int shift = std::max(bit_width(n_buckets - 1) - 10, 0);
    const std::size_t n_low = std::size_t(1) << shift, n_parts = ((n_buckets - 1) >> shift) + 1;
    Buffer<Routed> routed(to.size);
    const std::vector<std::size_t> parts = partition(
        workers, to.size, n_parts, [&](std::size_t i) { return bucket_of(i) >> shift; },
        [&](std::size_t i, std::size_t place) {
            routed[place] = {record_of(i), std::uint32_t(bucket_of(i) & (n_low - 1))};
        });
    std::vector<std::size_t> starts(n_parts * n_low);
    workers.run(n_parts, [&](std::size_t part, std::size_t) {
        Workers alone(1);
        const Span<Routed> from = routed.span().part(parts[part], parts[part + 1]);
        const Span<Record> room = to.part(parts[part], parts[part + 1]);
        const auto starts_here = partition(
            alone, from.size, n_low, [&](std::size_t i) { return std::size_t(from[i].low); },
            [&](std::size_t i, std::size_t place) { room[place] = from[i].record; });
        for (std::size_t low = 0; low < n_low; ++low) starts[part * n_low + low] = parts[part] + starts_here[low];
    });
    starts.resize(n_buckets + 1, to.size);
    return starts;
}

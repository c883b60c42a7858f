// Move items to buckets without changing the order within a bucket.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "buffer.h"
#include "keys.h"
#include "workers.h"

// Largest number of items that one task counts or moves
constexpr std::size_t CHUNK = std::size_t(1) << 22;
// Largest number of buckets to fill in one step, because caches hold the ends of no more buckets
constexpr std::size_t MOST_BUCKETS = std::size_t(1) << 15;

// Call `move(i, place)` for each of `n` items. Bucket b gets places starts[b] to starts[b + 1].
// Threads count the items of each chunk, and then move the items. In each bucket, chunks keep their
// order, so the result does not depend on the number of threads.
std::vector<std::size_t> partition(Workers& workers, std::size_t n, std::size_t n_buckets, auto bucket_of, auto move) {
    assert(n == 0 || n_buckets > 0);
    const std::size_t n_chunks = std::max(n < FEW ? std::size_t(1) : workers.n_threads, n / CHUNK);
    // If another thread changes the rows, counts are wrong, but writes stay within the arrays.
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

// Write the records of all items to `to` in the order of buckets, and return the buckets' starts.
template <class Record>
std::vector<std::size_t> scatter(Workers& workers, Span<Record> to, std::size_t n_buckets, auto bucket_of, auto record_of) {
    if (n_buckets <= MOST_BUCKETS)
        return partition(workers, to.size, n_buckets, bucket_of,
                         [&](std::size_t i, std::size_t place) { to[place] = record_of(i); });
    // Move by the upper bits of the bucket's number, and then move each part by the lower bits.
    struct Routed { Record record; std::uint32_t low; };
    const int shift = std::max(int(std::bit_width(n_buckets - 1)) - 10, 0);
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

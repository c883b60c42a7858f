// Stable sort of records by key.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "buffer.h"
#include "keys.h"

// Largest number of records to sort by insertion
constexpr std::size_t INSERTION = 24;
constexpr int DIGIT_BITS = 11;

// `to` may be equal to `from`.
template <class Record>
void insertion_sort(Span<Record> from, Span<Record> to) {
    for (std::size_t i = 0; i < from.size; ++i) {
        const Record record = from[i];
        std::size_t place = i;
        for (; place > 0 && to[place - 1].key > record.key; --place) to[place] = to[place - 1];
        to[place] = record;
    }
}

// Buckets are ranges of keys of equal width, except the first and the last bucket.
struct Digits {
    std::uint64_t floor, ceiling, base;  // `of` clamps keys to the floor and the ceiling
    int shift;
    bool is_narrowed;  // whether keys can be below the floor or above the ceiling

    std::size_t of(std::uint64_t key) const { return std::size_t((std::clamp(key, floor, ceiling) - base) >> shift); }
    std::size_t n_buckets() const { return of(ceiling) + 1; }
};

// Call `see(record, bucket)` for all records. Unneeded clamping would take 3 to 9 % of the time.
template <class Record>
void for_digits(Span<Record> records, const Digits& digits, auto see) {
    if (digits.is_narrowed)
        for (const Record& record : records) see(record, digits.of(record.key));
    else
        for (const Record& record : records) see(record, std::size_t((record.key - digits.base) >> digits.shift));
}

struct Bucket { std::size_t number; std::uint32_t size; };

// Count the records of each bucket, set the start of each bucket, and return the largest bucket.
template <class Record>
Bucket count_digits(Span<Record> records, const Digits& digits, std::uint32_t* starts) {
    const std::size_t n_buckets = digits.n_buckets();
    std::fill_n(starts, n_buckets, 0u);
    for_digits(records, digits, [&](const Record&, std::size_t bucket) { ++starts[bucket]; });
    Bucket largest{0, 0};
    std::uint32_t place = 0;
    for (std::size_t bucket = 0; bucket < n_buckets; ++bucket) {
        if (starts[bucket] > largest.size) largest = {bucket, starts[bucket]};
        place += std::exchange(starts[bucket], place);
    }
    return largest;
}

constexpr std::size_t MOST_DIGITS = (std::size_t(1) << DIGIT_BITS) + 2;

// Choose digits in which the keys of most records differ, and count the records of each bucket.
template <class Record>
Digits choose_digits(Span<Record> records, std::uint32_t (&starts)[MOST_DIGITS], Bucket& largest) {
    // With more buckets than records, insertion moves few records.
    const int bits = std::min(int(std::bit_width(records.size)) + 1, DIGIT_BITS);
    auto lowest = records[0].key, highest = lowest;
    for (std::size_t i = 1; i < records.size; ++i) {
        const auto key = records[i].key;
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
    Digits digits{lowest, highest, lowest, std::max(int(std::bit_width(highest - lowest)) - bits, 0), false};
    largest = count_digits(records, digits, starts);
    // While one bucket has most records, divide this bucket instead. One bucket then holds all
    // lower keys, and one bucket holds all higher keys.
    while (digits.shift > 0 && largest.size > records.size / 4 * 3) {
        const std::uint64_t first = digits.base + (std::uint64_t(largest.number) << digits.shift);
        const std::uint64_t width = std::min(highest - first, (std::uint64_t(1) << digits.shift) - 1);
        const std::uint64_t floor = first - 1, ceiling = first + width + 1;
        if (width == 0 || ceiling < floor) break;
        const int shift = std::max(int(std::bit_width(width)) - bits, 0);
        digits = {floor, ceiling, first - (std::uint64_t(1) << shift), shift, true};
        largest = count_digits(records, digits, starts);
    }
    return digits;
}

// Sort `from`, with less than 2**32 records, into `other` or into `from`, and overwrite both. One
// pass moves the records to buckets, and a recursive call sorts each bucket.
template <class Record>
void sort_records(Span<Record> from, Span<Record> other, bool into_other) {
    const Span<Record> to = into_other ? other : from;
    if (from.size <= INSERTION) return insertion_sort(from, to);
    std::uint32_t ends[MOST_DIGITS];
    Bucket largest;
    const Digits digits = choose_digits(from, ends, largest);
    for_digits(from, digits, [&](const Record& record, std::size_t bucket) { other[ends[bucket]++] = record; });
    // For small buckets, insertion moves each record only within the bucket.
    if (largest.size <= INSERTION) return insertion_sort(other, to);
    if (digits.shift == 0 && !digits.is_narrowed) {  // the keys of a bucket are equal
        if (!into_other) std::copy_n(other.data, other.size, from.data);
        return;
    }
    std::size_t begin = 0;
    for (std::size_t bucket = 0; bucket < digits.n_buckets(); ++bucket) {
        const std::size_t end = ends[bucket];
        if (begin < end) sort_records(other.part(begin, end), from.part(begin, end), !into_other);
        begin = end;
    }
}

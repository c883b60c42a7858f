// A stable sort of records by their keys, from the bits in which the keys differ.
#pragma once
#include <algorithm>

#include "buffer.h"
#include "keys.h"

// So few records are sorted by insertion.
constexpr std::size_t INSERTION = 24;
constexpr int MOST_DIGIT_BITS = 11;

// Where the keys of some records differ: digits of the distance from the lowest key.
struct Digits {
    std::uint64_t lowest, highest;
    int shift;
    std::size_t n;  // possible digits

    template <class Record>
    Digits(Span<Record> records, int most_bits) : Digits(range_of(records), most_bits) {}
    Digits(std::pair<std::uint64_t, std::uint64_t> range, int most_bits)
        : lowest(range.first), highest(range.second) {
        shift = std::max(bit_width(highest - lowest) - most_bits, 0);
        n = std::size_t((highest - lowest) >> shift) + 1;
    }
    template <class Record>
    std::size_t of(const Record& record) const {
        return std::size_t((record.key - lowest) >> shift);
    }
    template <class Record>
    static std::pair<std::uint64_t, std::uint64_t> range_of(Span<Record> records) {
        auto low = records[0].key, high = low;
        for (std::size_t i = 1; i < records.size; ++i) {
            const auto key = records[i].key;
            low = key < low ? key : low;
            high = key > high ? key : high;
        }
        return {low, high};
    }
};

// `to` may be `from` itself.
template <class Record>
void insertion_sort(Span<Record> from, Span<Record> to) {
    for (std::size_t i = 0; i < from.size; ++i) {
        const Record record = from[i];
        std::size_t place = i;
        for (; place > 0 && to[place - 1].key > record.key; --place) to[place] = to[place - 1];
        to[place] = record;
    }
}

// Sort `from` into `to`, or into itself where that is asked; `other` is overwritten too.
// One pass puts the records into as many buckets as there are digits, the next one sorts each
// bucket by its own range of keys: however keys are spread, passes get on with those in which
// records differ.
template <class Record>
void radix_sort(Span<Record> from, Span<Record> other, bool into_other) {
    const Span<Record> to = into_other ? other : from;
    if (from.size <= INSERTION) return insertion_sort(from, to);
    const int most_bits = std::min(bit_width(from.size), MOST_DIGIT_BITS);
    const Digits digits(from, most_bits);
    if (digits.lowest == digits.highest) {
        if (into_other) std::copy(from.data, from.data + from.size, other.data);
        return;
    }
    assert(from.size >> 32 == 0);
    std::uint32_t ends[1 << MOST_DIGIT_BITS];
    std::fill(ends, ends + digits.n, 0u);
    for (std::size_t i = 0; i < from.size; ++i) ++ends[digits.of(from[i])];
    std::uint32_t end = 0, largest = 0;
    for (std::size_t digit = 0; digit < digits.n; ++digit) {
        const std::uint32_t count = ends[digit];
        largest = std::max(largest, count);
        ends[digit] = end;
        end += count;
    }
    for (std::size_t i = 0; i < from.size; ++i) other[ends[digits.of(from[i])]++] = from[i];
    // Where buckets are small, insertion moves no record further than its bucket is long.
    if (largest <= INSERTION) return insertion_sort(other, to);
    std::size_t begin = 0;
    for (std::size_t digit = 0; digit < digits.n; ++digit) {
        const std::size_t stop = ends[digit];
        if (begin < stop) radix_sort(other.part(begin, stop), from.part(begin, stop), !into_other);
        begin = stop;
    }
}

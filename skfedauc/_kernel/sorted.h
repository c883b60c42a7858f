// Records sorted by group, class and key.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "partition.h"
#include "sort.h"

struct KeyOnly32 { std::uint32_t key; };
struct KeyOnly64 { std::uint64_t key; };
struct Weighted { std::uint64_t key; double weight; };
struct Numbered { std::uint64_t key; std::uint64_t number; };

// Up to so many buckets are filled at once, more of them in two steps.
constexpr std::size_t MOST_BUCKETS = std::size_t(1) << 12;
// A group of more records is cut into pieces by score, which threads share.
constexpr std::size_t LARGE = std::size_t(1) << 18;

// A piece is a stretch of one group's scores. It holds the records of class 0, then those of class
// 1; piece after piece they fill one array. Records of equal key keep the order that they came in.
template <class Record, std::size_t n_classes>
class Sorted {
   public:
    // `room` is for as many records as there are.
    template <class GroupOf, class ClassOf, class RecordOf>
    Sorted(Workers& workers, Span<Record> room, std::size_t n_groups, GroupOf group_of, ClassOf class_of,
           RecordOf record_of)
        : records_(room) {
        const std::size_t n = room.size;
        if (n_groups == 1 && n > LARGE) {
            cut(workers, 0, n, class_of, record_of);
            first_pieces_ = {0, bounds_.size() / n_classes};
            bounds_.push_back(n);
            return;
        }
        const auto bucket_of = [&](std::size_t i) { return group_of(i) * n_classes + class_of(i); };
        if (n_groups * n_classes <= MOST_BUCKETS)
            bounds_ = partition(workers, n, n_groups * n_classes, bucket_of,
                                [&](std::size_t i, std::size_t place) { records_[place] = record_of(i); });
        else
            in_two_steps(workers, n, n_groups * n_classes, bucket_of, record_of);
        cut_large_groups(workers, n_groups);
    }

    std::size_t n_pieces() const { return (bounds_.size() - 1) / n_classes; }
    std::size_t place(std::size_t piece) const { return bounds_[piece * n_classes]; }
    Span<Record> piece(std::size_t number) const { return records_.part(place(number), place(number + 1)); }
    // The pieces of group g are first_piece(g) to first_piece(g + 1).
    std::size_t first_piece(std::size_t group) const { return first_pieces_.empty() ? group : first_pieces_[group]; }

    // Sort all pieces, in tasks; `see(number, runs)` gets the sorted records of each class of a piece.
    template <class See>
    void sort(Workers& workers, See see) {
        std::vector<Buffer<Record>> scratch(workers.n_threads);
        for_pieces(workers, [&](std::size_t number, std::size_t thread) {
            const Span<Record> records = piece(number);
            if (scratch[thread].size() < records.size) scratch[thread] = Buffer<Record>(records.size);
            std::array<Span<Record>, n_classes> runs;
            for (std::size_t c = 0; c < n_classes; ++c) {
                const std::size_t* bounds = bounds_.data() + number * n_classes;
                const std::size_t begin = bounds[c] - bounds[0], end = bounds[c + 1] - bounds[0];
                runs[c] = scratch[thread].span().part(begin, end);
                radix_sort(records.part(begin, end), runs[c], true);
            }
            see(number, runs);
        });
    }

    // Call `see(number, thread)` for each piece.
    template <class See>
    void for_pieces(Workers& workers, See see) const {
        std::vector<std::size_t> places(n_pieces() + 1);
        for (std::size_t number = 0; number <= n_pieces(); ++number) places[number] = place(number);
        in_stretches(workers, places, see);
    }

   private:
    // By the upper part of the bucket's number first: memory that is written to all over is slow.
    template <class BucketOf, class RecordOf>
    void in_two_steps(Workers& workers, std::size_t n, std::size_t n_buckets, BucketOf bucket_of,
                      RecordOf record_of) {
        struct Routed { Record record; std::uint32_t bucket; };
        const int shift = std::max(bit_width(n_buckets - 1) - 10, 0);
        const std::size_t n_parts = ((n_buckets - 1) >> shift) + 1;
        Buffer<Routed> routed(n);
        const std::vector<std::size_t> parts = partition(
            workers, n, n_parts, [&](std::size_t i) { return bucket_of(i) >> shift; },
            [&](std::size_t i, std::size_t place) {
                routed[place] = {record_of(i), std::uint32_t(bucket_of(i) & ((std::size_t(1) << shift) - 1))};
            });
        bounds_.resize(n_buckets + 1);
        workers.run(n_parts, [&](std::size_t part, std::size_t) {
            Workers alone(1, nullptr);
            const std::size_t begin = parts[part], first = part << shift;
            const std::size_t n_here = std::min(n_buckets - first, std::size_t(1) << shift);
            const auto bounds = partition(
                alone, parts[part + 1] - begin, n_here,
                [&](std::size_t i) { return std::size_t(routed[begin + i].bucket); },
                [&](std::size_t i, std::size_t place) { records_[begin + place] = routed[begin + i].record; });
            for (std::size_t bucket = 0; bucket < n_here; ++bucket) bounds_[first + bucket] = begin + bounds[bucket];
        });
        bounds_[n_buckets] = n;
    }

    void cut_large_groups(Workers& workers, std::size_t n_groups) {
        const std::vector<std::size_t> whole = bounds_;
        const auto size = [&](std::size_t g) { return whole[(g + 1) * n_classes] - whole[g * n_classes]; };
        std::size_t group = 0;
        while (group < n_groups && size(group) <= LARGE) ++group;
        if (group == n_groups) return;
        bounds_.clear();
        for (group = 0; group < n_groups; ++group) {
            const std::size_t* bounds = whole.data() + group * n_classes;
            first_pieces_.push_back(bounds_.size() / n_classes);
            if (size(group) <= LARGE) bounds_.insert(bounds_.end(), bounds, bounds + n_classes);
            else cut_again(workers, bounds[0], bounds[n_classes - 1], bounds[n_classes]);
        }
        first_pieces_.push_back(bounds_.size() / n_classes);
        bounds_.push_back(whole.back());
    }

    // Cut records begin:end of one group, of which those of the last class begin at `middle`.
    void cut_again(Workers& workers, std::size_t begin, std::size_t middle, std::size_t end) {
        const std::size_t n = end - begin, n_first = middle - begin;
        Buffer<Record> copy(n);
        std::copy_n(records_.part(begin, end).data, n, copy.span().data);
        cut(
            workers, begin, n, [&](std::size_t i) { return std::size_t(n_classes > 1 && i >= n_first); },
            [&](std::size_t i) { return copy[i]; });
    }

    // Put `n` records of one group from place `begin` on, by digit and class.
    template <class ClassOf, class RecordOf>
    void cut(Workers& workers, std::size_t begin, std::size_t n, ClassOf class_of, RecordOf record_of) {
        const Digits digits(range_of(workers, n, record_of), MOST_DIGIT_BITS);
        const std::vector<std::size_t> bounds = partition(
            workers, n, digits.n * n_classes,
            [&](std::size_t i) { return digits.of(record_of(i)) * n_classes + class_of(i); },
            [&](std::size_t i, std::size_t place) { records_[begin + place] = record_of(i); });
        for (std::size_t digit = 0; digit < digits.n; ++digit) {
            const std::size_t* of_digit = bounds.data() + digit * n_classes;
            if (of_digit[n_classes] - of_digit[0] <= LARGE || digits.shift == 0)
                for (std::size_t c = 0; c < n_classes; ++c) bounds_.push_back(begin + of_digit[c]);
            else  // few digits had most records
                cut_again(workers, begin + of_digit[0], begin + of_digit[n_classes - 1], begin + of_digit[n_classes]);
        }
    }

    // The lowest and the highest key of `n` records.
    template <class RecordOf>
    static std::pair<std::uint64_t, std::uint64_t> range_of(Workers& workers, std::size_t n, RecordOf record_of) {
        using Key = decltype(Record::key);
        const std::size_t n_tasks = n / TASK + 1;
        std::vector<Key> lowest(n_tasks, record_of(0).key), highest = lowest;
        workers.run(n_tasks, [&](std::size_t task, std::size_t) {
            Key low = lowest[task], high = low;
            for (std::size_t i = n / n_tasks * task, end = task + 1 < n_tasks ? i + n / n_tasks : n; i < end; ++i) {
                const Key key = record_of(i).key;
                low = key < low ? key : low;
                high = key > high ? key : high;
            }
            lowest[task] = low;
            highest[task] = high;
        });
        return {*std::min_element(lowest.begin(), lowest.end()), *std::max_element(highest.begin(), highest.end())};
    }

    Span<Record> records_;
    std::vector<std::size_t> bounds_, first_pieces_;
};

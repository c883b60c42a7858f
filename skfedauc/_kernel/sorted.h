// Records sorted by group, class and key.
#pragma once
#include <algorithm>
#include <vector>

#include "partition.h"
#include "sort.h"

struct KeyOnly32 { std::uint32_t key; };
struct KeyOnly64 { std::uint64_t key; };
struct Weighted { std::uint64_t key; double weight; };
struct Numbered { std::uint64_t key; std::uint64_t number; };

// Groups up to so many are put into their buckets at once, more of them in two steps.
constexpr std::size_t MOST_BUCKETS = std::size_t(1) << 11;
// A group of more records is cut into pieces by score, which threads share.
constexpr std::size_t LARGE = std::size_t(1) << 18;
// Records whose pieces are sorted by one task.
constexpr std::size_t TASK = std::size_t(1) << 15;

// A piece is a stretch of one group's scores. It holds the records of class 0, then those of class
// 1; piece after piece they fill one array. Records of equal key keep the order that they came in.
template <class Record, std::size_t n_classes>
class Sorted {
   public:
    template <class GroupOf, class ClassOf, class RecordOf>
    Sorted(Workers& workers, std::size_t n, std::size_t n_groups, GroupOf group_of,
           ClassOf class_of, RecordOf record_of)
        : records_(n) {
        const auto bucket_of = [&](std::size_t i) { return group_of(i) * n_classes + class_of(i); };
        if (n_groups * n_classes <= 2 * MOST_BUCKETS)
            bounds_ = partition(workers, n, n_groups * n_classes, bucket_of,
                                [&](std::size_t i, std::size_t place) { records_[place] = record_of(i); });
        else
            in_two_steps(workers, n, n_groups * n_classes, bucket_of, record_of);
        cut_large_groups(workers, n_groups);
    }

    std::size_t n_pieces() const { return (bounds_.size() - 1) / n_classes; }
    Span<Record> run(std::size_t piece, std::size_t of_class) const {
        const std::size_t* bounds = bounds_.data() + piece * n_classes + of_class;
        return records_.span().part(bounds[0], bounds[1]);
    }
    std::size_t place(std::size_t piece) const { return bounds_[piece * n_classes]; }
    // The pieces of group g are first_piece(g) to first_piece(g + 1).
    std::size_t first_piece(std::size_t group) const {
        return first_pieces_.empty() ? group : first_pieces_[group];
    }

    // Sort all pieces, in tasks; `see(piece)` gets each once it is sorted.
    template <class See>
    void sort(Workers& workers, See see) {
        std::vector<Buffer<Record>> scratch(workers.n_threads);
        for_pieces(workers, [&](std::size_t piece, std::size_t thread) {
            for (std::size_t of_class = 0; of_class < n_classes; ++of_class) {
                const Span<Record> sorted = run(piece, of_class);
                if (is_cut(piece)) {
                    const std::size_t begin = std::size_t(sorted.data - records_.span().data);
                    radix_sort(cut_.span().part(begin, begin + sorted.size), sorted, true);
                } else {
                    if (scratch[thread].size() < sorted.size) scratch[thread] = Buffer<Record>(sorted.size);
                    radix_sort(sorted, scratch[thread].span().part(0, sorted.size), false);
                }
            }
            see(piece);
        });
        cut_ = Buffer<Record>();
    }

    template <class See>
    void for_pieces(Workers& workers, See see) const {
        const auto first_from = [&](std::size_t place) {  // the first piece that begins there or later
            std::size_t low = 0, high = n_pieces();
            while (low < high) {
                const std::size_t middle = (low + high) / 2;
                if (bounds_[middle * n_classes] < place) low = middle + 1;
                else high = middle;
            }
            return low;
        };
        const std::size_t n = records_.size(), n_tasks = n / TASK + 1;
        if (n < FEW) {
            for (std::size_t piece = 0; piece < n_pieces(); ++piece) see(piece, 0);
            return;
        }
        workers.run(n_tasks, [&](std::size_t task, std::size_t thread) {
            const std::size_t end = task + 1 < n_tasks ? first_from((task + 1) * TASK) : n_pieces();
            for (std::size_t piece = first_from(task * TASK); piece < end; ++piece) see(piece, thread);
        });
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

    bool is_cut(std::size_t piece) const { return !cut_pieces_.empty() && cut_pieces_[piece]; }

    void cut_large_groups(Workers& workers, std::size_t n_groups) {
        const auto size = [&](std::size_t g) { return bounds_[(g + 1) * n_classes] - bounds_[g * n_classes]; };
        std::size_t group = 0;
        while (group < n_groups && size(group) <= LARGE) ++group;
        if (group == n_groups) return;
        cut_ = Buffer<Record>(records_.size());
        const std::vector<std::size_t> whole = std::move(bounds_);
        bounds_.clear();
        for (group = 0; group < n_groups; ++group) {
            const std::size_t* bounds = whole.data() + group * n_classes;
            first_pieces_.push_back(bounds_.size() / n_classes);
            if (bounds[n_classes] - bounds[0] <= LARGE)
                bounds_.insert(bounds_.end(), bounds, bounds + n_classes);
            else
                cut(workers, records_.span(), cut_.span(), bounds[0], bounds[n_classes - 1], bounds[n_classes]);
            cut_pieces_.resize(bounds_.size() / n_classes, bounds[n_classes] - bounds[0] > LARGE);
        }
        first_pieces_.push_back(bounds_.size() / n_classes);
        bounds_.push_back(whole.back());
    }

    // Move records begin:end, those of the last class from `middle` on, by digit into `to`.
    void cut(Workers& workers, Span<Record> from, Span<Record> to, std::size_t begin, std::size_t middle,
             std::size_t end) {
        const std::size_t n = end - begin;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges(n / TASK + 1);
        workers.run(ranges.size(), [&](std::size_t task, std::size_t) {
            const std::size_t first = begin + task * (n / ranges.size());
            const std::size_t last = task + 1 < ranges.size() ? first + n / ranges.size() : end;
            ranges[task] = Digits::range_of(from.part(first, last));
        });
        for (const auto& range : ranges) {
            ranges[0].first = std::min(ranges[0].first, range.first);
            ranges[0].second = std::max(ranges[0].second, range.second);
        }
        const Digits digits(ranges[0], MOST_DIGIT_BITS);
        const std::vector<std::size_t> bounds = partition(
            workers, n, digits.n * n_classes,
            [&](std::size_t i) {
                return digits.of(from[begin + i]) * n_classes + (n_classes > 1 && begin + i >= middle);
            },
            [&](std::size_t i, std::size_t place) { to[begin + place] = from[begin + i]; });
        for (std::size_t digit = 0; digit < digits.n; ++digit) {
            const std::size_t* of_digit = bounds.data() + digit * n_classes;
            const std::size_t first = begin + of_digit[0], last = begin + of_digit[n_classes];
            if (last - first <= LARGE || digits.shift == 0) {
                for (std::size_t c = 0; c < n_classes; ++c) bounds_.push_back(begin + of_digit[c]);
                continue;
            }
            // Few digits had most records: what they have is cut again, from the same array.
            const Span<Record> here = to.part(first, last);
            std::copy(here.data, here.data + here.size, from.data + first);
            cut(workers, from, to, first, begin + of_digit[n_classes - 1], last);
        }
    }

    Buffer<Record> records_, cut_;
    std::vector<std::size_t> bounds_, first_pieces_;
    std::vector<bool> cut_pieces_;
};

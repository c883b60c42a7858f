// Divide records into pieces by group and score, and sort each piece.
#pragma once
#include <vector>

#include "partition.h"
#include "sort.h"

// Number of records from which a group has several pieces, for several threads
constexpr std::size_t LARGE = std::size_t(1) << 17;

// A piece holds the records of a group with scores in a range, first scores below 0, and then other
// scores. One array holds all pieces in the order of groups and ranges. Before sorting, the records
// of each part have the original order.
template <class Record>
class Pieces {
   public:
    // `room` has space for all records. The keys of records have the order of the scores among
    // scores below 0, and among other scores.
    Pieces(Workers& workers, Span<Record> room, std::size_t n_groups, auto group_of, auto score_at, auto record_of)
        : records_(room) {
        cut_large_groups(n_groups, group_of, score_at);
        const auto uncut = [&](std::size_t i) { return 2 * group_of(i) + (score_at(i) >= 0); };
        const auto cut = [&](std::size_t i) {
            const std::size_t group = std::min(group_of(i), n_groups - 1);
            return 2 * (first_pieces_[group] + digits_[group].of(key_of(score_at(i)))) + (score_at(i) >= 0);
        };
        starts_ = digits_.empty() ? scatter(workers, room, 2 * n_groups, uncut, record_of)
                                  : scatter(workers, room, 2 * first_pieces_.back(), cut, record_of);
        places_.resize(first_piece(n_groups) + 1);
        for (std::size_t piece = 0; piece < places_.size(); ++piece) places_[piece] = starts_[2 * piece];
    }

    // Group g has the pieces first_piece(g) to first_piece(g + 1).
    std::size_t first_piece(std::size_t group) const { return first_pieces_.empty() ? group : first_pieces_[group]; }
    // First record of each piece, and the end of the last piece.
    const std::vector<std::size_t>& places() const { return places_; }
    Span<Record> piece(std::size_t number) const { return records_.part(places_[number], places_[number + 1]); }

    // Sort all pieces. `see(number, sorted, n_below, thread)` gets the sorted records of a piece, and
    // the number of records with scores below 0.
    void sort(Workers& workers, auto see) {
        std::vector<Buffer<Record>> scratch(workers.n_threads);
        in_stretches(workers, places_, [&](std::size_t number, std::size_t thread) {
            const Span<Record> records = piece(number);
            if (scratch[thread].size() < records.size) scratch[thread] = Buffer<Record>(records.size);
            const Span<Record> sorted = scratch[thread].span().part(0, records.size);
            const std::size_t n_below = starts_[2 * number + 1] - places_[number];
            sort_records(records.part(0, n_below), sorted.part(0, n_below), true);
            sort_records(records.part(n_below, records.size), sorted.part(n_below, records.size), true);
            see(number, sorted, n_below, thread);
        });
    }

   private:
    // Use a sample of the records to find the large groups and the limits of pieces.
    void cut_large_groups(std::size_t n_groups, auto group_of, auto score_at) {
        constexpr std::size_t rate = 1024;
        struct Sampled { std::size_t group; std::uint64_t key; };
        std::vector<Sampled> sample(records_.size < LARGE ? 0 : records_.size / rate);
        for (std::size_t i = 0; i < sample.size(); ++i) {
            const std::size_t place = i * rate + (i * 0x9E3779B97F4A7C15u >> 32) % rate;  // irregular steps
            sample[i] = {std::min(group_of(place), n_groups - 1), key_of(score_at(place))};
        }
        std::sort(sample.begin(), sample.end(), [](const Sampled& a, const Sampled& b) { return a.group < b.group; });
        for (std::size_t begin = 0, end = 0; begin < sample.size(); begin = end) {
            const std::size_t group = sample[begin].group;
            while (end < sample.size() && sample[end].group == group) ++end;
            if (end - begin < LARGE / rate) continue;
            if (digits_.empty()) digits_.resize(n_groups, Digits{0, 0, 0, 0, true});
            std::uint32_t starts[MOST_DIGITS];
            Bucket largest;
            const Span<Sampled> of_group{sample.data() + begin, end - begin};
            digits_[group] = choose_digits(of_group, starts, largest);
        }
        if (digits_.empty()) return;
        first_pieces_.resize(n_groups + 1);
        for (std::size_t group = 0; group < n_groups; ++group)
            first_pieces_[group + 1] = first_pieces_[group] + digits_[group].n_buckets();
    }

    Span<Record> records_;
    std::vector<std::size_t> starts_, places_, first_pieces_;
    std::vector<Digits> digits_;  // one item per group, or empty without large groups
};

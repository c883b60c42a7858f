// Cells: the distinct scores of each group, with the numbers of rows of each class.
#pragma once
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>

#include "pieces.h"

using Doubles = Span<const double>;
using Integers = Span<const std::int64_t>;
using Groups = std::optional<Integers>;  // the group of each item, or empty for one group

inline std::size_t group_of(const Groups& groups, std::size_t i) { return groups ? std::size_t((*groups)[i]) : 0; }

// The cells of group g are starts[g] to starts[g + 1]. `weights` has no column or four: the sums of
// the weights of negatives and of positives, and the two sums of squared weights.
template <class Count>
struct Cells {
    Buffer<std::int64_t> starts;
    Buffer<double> scores;
    Buffer<Count> negatives, positives;
    std::optional<Buffer<double>> weights;

    Cells(std::size_t n_groups, std::size_t n_cells, bool weighted)
        : starts(n_groups + 1), scores(n_cells), negatives(n_cells), positives(n_cells) {
        if (weighted) weights.emplace(4 * n_cells);
    }
};

// Cells in memory that the caller owns.
template <class Count>
struct CellsView {
    Integers starts;
    Doubles scores;
    Span<const Count> negatives, positives;
    std::optional<Doubles> weights;
};

template <class Key>
struct Unweighted { Key key; };
struct Weighted { std::uint64_t key; double weight; };

// Close the gaps between the cells at begins[k] to ends[k] for all k, and set the starts of groups.
// Group g has the cells of k from first(g) to first(g + 1).
template <class Count>
void close_gaps(Cells<Count>& cells, const std::vector<std::size_t>& begins, const std::vector<std::size_t>& ends,
                auto first) {
    std::vector<std::size_t> starts(ends.size() + 1);
    for (std::size_t k = 0; k < ends.size(); ++k) starts[k + 1] = starts[k] + ends[k] - begins[k];
    const auto close = [&](auto& column, std::size_t n_columns) {
        const std::size_t room = column.size() / n_columns;
        auto* const data = column.span().data;
        for (std::size_t c = 0; c < n_columns; ++c)
            for (std::size_t k = 0, next = 1; k < ends.size(); k = next++) {
                while (next < ends.size() && begins[next] == ends[next - 1]) ++next;
                auto *const from = data + c * room + begins[k], *const to = data + c * starts.back() + starts[k];
                if (from != to) std::copy_n(from, ends[next - 1] - begins[k], to);
            }
        column.shrink(n_columns * starts.back());
    };
    close(cells.scores, 1);
    close(cells.negatives, 1);
    close(cells.positives, 1);
    if (cells.weights) close(*cells.weights, 4);
    for (std::size_t group = 0; group < cells.starts.size(); ++group)
        cells.starts[group] = std::int64_t(starts[first(group)]);
}

template <bool weighted, class Float>
Cells<std::uint32_t> count_rows(Span<const Float> scores, Span<const std::uint8_t> positive, const Groups& groups,
                                std::size_t n_groups, const std::optional<Doubles>& weights, std::size_t n_threads) {
    using Key = decltype(key_of(Float()));
    using Record = std::conditional_t<weighted, Weighted, Unweighted<Key>>;
    const std::size_t n = scores.size;
    Workers workers(n_threads);
    Cells<std::uint32_t> cells(n_groups, n, weighted);
    // Sort records of the size of a score or of a number in place, in the memory of the cells. A
    // piece has at most as many cells as records. Sorting in place saves the page faults of another
    // array.
    Buffer<Record> elsewhere(sizeof(Record) > sizeof(double) ? n : 0);
    void* const memory = sizeof(Record) > sizeof(double)    ? static_cast<void*>(elsewhere.span().data)
                         : sizeof(Record) == sizeof(double) ? static_cast<void*>(cells.scores.span().data)
                                                            : cells.negatives.span().data;
    const Span<Record> room{static_cast<Record*>(memory), n};
    Pieces<Record> pieces(
        workers, room, n_groups, [&](std::size_t i) { return group_of(groups, i); },
        [&](std::size_t i) { return scores[i]; },
        [&](std::size_t i) {
            // The class replaces the sign, because all scores of one sort have the same sign.
            const Key key = Key(key_of(scores[i]) << 1) | (positive[i] != 0);
            if constexpr (weighted) return Record{key, (*weights)[i]};
            else return Record{key};
        });
    std::vector<std::size_t> begins(pieces.places().size() - 1), ends(begins.size()), next(n_threads);
    pieces.sort(workers, [&](std::size_t piece, Span<Record> sorted, std::size_t n_below, std::size_t thread) {
        // A thread leaves no gaps between successive pieces.
        std::size_t end = piece > 0 && next[thread] == piece ? ends[piece - 1] : pieces.places()[piece];
        next[thread] = piece + 1;
        begins[piece] = end;
        const auto write_cells = [&](Span<Record> records, Key sign) {
            Record last{};
            std::uint32_t n_negatives = 0, n_positives = 0;
            double sums[4] = {0, 0, 0, 0};
            for (std::size_t i = 0; i < records.size; last = records[i++]) {
                const Record& record = records[i];
                const bool is_new = i == 0 || (record.key ^ last.key) > 1, positive = record.key & 1;
                end += is_new;
                n_negatives = (is_new ? 0 : n_negatives) + !positive;
                n_positives = (is_new ? 0 : n_positives) + positive;
                const double score = score_of(Key(record.key >> 1 | sign));
                std::memcpy(&cells.scores[end - 1], &score, sizeof score);  // overwrites a record
                cells.negatives[end - 1] = n_negatives;
                cells.positives[end - 1] = n_positives;
                if constexpr (weighted) {
                    const double of_a = !positive * record.weight, of_b = positive * record.weight;
                    const double amounts[4] = {of_a, of_b, of_a * of_a, of_b * of_b};
                    for (std::size_t c = 0; c < 4; ++c) {
                        sums[c] = (is_new ? 0 : sums[c]) + amounts[c];
                        (*cells.weights)[c * n + end - 1] = sums[c];
                    }
                }
            }
        };
        write_cells(sorted.part(0, n_below), 0);
        write_cells(sorted.part(n_below, sorted.size), SIGN<Key>);
        ends[piece] = end;
    });
    close_gaps(cells, begins, ends, [&](std::size_t group) { return pieces.first_piece(group); });
    return cells;
}

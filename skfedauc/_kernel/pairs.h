// Pairs of a negative and a positive, counted over cells.
#pragma once
#include "states.h"

// An unsigned integer of 128 bits, to which products of numbers below 2**42 are added.
struct Wide {
    std::uint64_t low = 0, high = 0;

    void add_product(std::uint64_t a, std::uint64_t b) {
        const std::uint64_t lower = a * (b & 0x1FFFFF), upper = a * (b >> 21);
        add(lower, 0);
        add(upper << 21, upper >> 43);
    }
    void add(std::uint64_t lower, std::uint64_t upper) {
        low += lower;
        high += upper + (low < lower);
    }
};

// Rows of each class by group, and u2, twice Mann-Whitney's U: 2 for a positive above a negative, 1
// for a tie.
template <class Count>
void count_pairs(const CellsView<Count>& cells, Span<std::int64_t> n_negatives,
                 Span<std::int64_t> n_positives, Span<std::uint64_t> low, Span<std::uint64_t> high) {
    for (std::size_t group = 0; group < n_negatives.size; ++group) {
        const auto begin = std::size_t(cells.starts[group]), end = std::size_t(cells.starts[group + 1]);
        std::uint64_t negatives = 0, positives = 0, below = 0;
        for (std::size_t i = begin; i < end; ++i) {
            negatives += cells.negatives[i];
            positives += cells.positives[i];
        }
        Wide u2;
        if (negatives == 0 || positives <= (std::uint64_t(1) << 62) / negatives) {
            for (std::size_t i = begin; i < end; ++i) {  // 64 bits hold the sum
                u2.low += (2 * below + cells.negatives[i]) * cells.positives[i];
                below += cells.negatives[i];
            }
        } else {
            for (std::size_t i = begin; i < end; ++i) {
                u2.add_product(2 * below + cells.negatives[i], cells.positives[i]);
                below += cells.negatives[i];
            }
        }
        n_negatives[group] = std::int64_t(negatives);
        n_positives[group] = std::int64_t(positives);
        low[group] = u2.low;
        high[group] = u2.high;
    }
}

// For each cell the amount of its group's cells below it twice, and its own once.
inline void ranks_in_groups(Span<const std::int64_t> starts, Span<const double> amounts, Span<double> ranks) {
    for (std::size_t group = 0; group + 1 < starts.size; ++group) {
        double below = 0;
        for (auto i = std::size_t(starts[group]); i < std::size_t(starts[group + 1]); ++i) {
            const double up_to = below + amounts[i];
            ranks[i] = below + up_to;
            below = up_to;
        }
    }
}

// Twice the concordant pairs of the positives of each group (row) and the negatives of each
// (column): cells pass by in order of score, and a positive adds what has passed to its row.
inline void cross_pairs(Workers& workers, Span<const std::int64_t> starts, Span<const double> scores,
                        Span<const double> negatives, Span<const double> positives, Span<double> u2) {
    struct Cell { std::size_t group; double negatives, positives; bool is_new; };
    const std::size_t n_groups = starts.size - 1;
    std::vector<std::size_t> score_starts;
    Buffer<Numbered> items(scores.size);
    const auto sorted = sort_items(workers, scores, {nullptr, 0}, 1, items.span(), score_starts);
    Buffer<Cell> cells(scores.size);
    std::size_t n_cells = 0;
    for (std::size_t piece = 0; piece < sorted.n_pieces(); ++piece) {
        const Span<Numbered> run = sorted.piece(piece);
        for (std::size_t i = 0; i < run.size; ++i) {
            const std::size_t cell = run[i].number;
            const auto next = std::upper_bound(starts.data, starts.data + starts.size, std::int64_t(cell));
            cells[n_cells++] = {std::size_t(next - starts.data) - 1, negatives[cell], positives[cell],
                                i == 0 || run[i].key != run[i - 1].key};
        }
    }
    constexpr std::size_t width = 512;  // columns that stay in the cache
    workers.run((n_groups + width - 1) / width, [&](std::size_t task, std::size_t) {
        const std::size_t first = task * width, n = std::min(width, n_groups - first);
        double heights[width] = {};  // twice what has passed
        for (std::size_t group = 0; group < n_groups; ++group)
            std::fill_n(&u2[group * n_groups + first], n, 0.0);
        const auto pass = [&](const Cell& cell) {
            if (cell.group - first < n) heights[cell.group - first] += cell.negatives;
        };
        for (std::size_t i = 0, end; i < n_cells; i = end) {
            end = i + 1;
            while (end < n_cells && !cells[end].is_new) ++end;
            for (std::size_t j = i; j < end; ++j) pass(cells[j]);  // ties count once
            for (std::size_t j = i; j < end; ++j) {
                if (cells[j].positives == 0) continue;
                const double amount = cells[j].positives;
                double* row = u2.part(cells[j].group * n_groups + first, cells[j].group * n_groups + first + n).data;
                for (std::size_t column = 0; column < n; ++column) row[column] += amount * heights[column];
            }
            for (std::size_t j = i; j < end; ++j) pass(cells[j]);
        }
    });
}

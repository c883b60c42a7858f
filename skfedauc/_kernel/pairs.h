// Pairs of a negative and a positive, counted over cells.
#pragma once
#include <tuple>

#include "states.h"

// Negatives, positives and u2 of each group: twice Mann-Whitney's U, 2 for a positive above a
// negative and 1 for a tie. u2 is modulo 2**64.
template <class Count>
std::tuple<Buffer<std::int64_t>, Buffer<std::int64_t>, Buffer<std::uint64_t>> count_pairs(const CellsView<Count>& cells) {
    const std::size_t n_groups = cells.starts.size - 1;
    Buffer<std::int64_t> n_negatives(n_groups), n_positives(n_groups);
    Buffer<std::uint64_t> u2(n_groups);
    for (std::size_t group = 0; group < n_groups; ++group) {
        std::uint64_t below = 0, positives = 0, sum = 0;
        for (auto i = std::size_t(cells.starts[group]); i < std::size_t(cells.starts[group + 1]); ++i) {
            sum += (2 * below + cells.negatives[i]) * cells.positives[i];
            below += cells.negatives[i];
            positives += cells.positives[i];
        }
        n_negatives[group] = std::int64_t(below);
        n_positives[group] = std::int64_t(positives);
        u2[group] = sum;
    }
    return {std::move(n_negatives), std::move(n_positives), std::move(u2)};
}

// For each cell the amount of its group's cells below it twice, and its own once.
inline Buffer<double> ranks_in_groups(Integers starts, Doubles amounts) {
    Buffer<double> ranks(amounts.size);
    for (std::size_t group = 0; group + 1 < starts.size; ++group) {
        double below = 0;
        for (auto i = std::size_t(starts[group]); i < std::size_t(starts[group + 1]); ++i) {
            const double up_to = below + amounts[i];
            ranks[i] = below + up_to;
            below = up_to;
        }
    }
    return ranks;
}

// Twice the concordant pairs of the positives of each group (row) and the negatives of each
// (column). `ranks`, below `n_ranks`, are those of the scores.
inline Buffer<double> cross_pairs(Integers starts, Integers ranks, std::size_t n_ranks, Doubles negatives,
                                  Doubles positives, std::size_t n_threads) {
    Workers workers(n_threads);
    struct Cell { std::size_t group; double negatives, positives; };
    const std::size_t n_groups = starts.size - 1;
    std::vector<std::size_t> groups(ranks.size);
    for (std::size_t group = 0; group < n_groups; ++group)
        std::fill(groups.begin() + starts[group], groups.begin() + starts[group + 1], group);
    Buffer<Cell> cells(ranks.size);
    const std::vector<std::size_t> blocks = scatter(
        workers, cells.span(), n_ranks, [&](std::size_t i) { return std::size_t(ranks[i]); },
        [&](std::size_t i) { return Cell{groups[i], negatives[i], positives[i]}; });
    Buffer<double> u2(n_groups * n_groups);
    std::fill_n(u2.span().data, u2.size(), 0.0);
    // Columns of a task: more save passes over the cells, less leave tasks for all threads.
    constexpr std::size_t most = 512;
    const std::size_t width = std::clamp(n_groups / (4 * n_threads), std::size_t(32), most);
    workers.run((n_groups + width - 1) / width, [&](std::size_t task, std::size_t) {
        const std::size_t first = task * width, n = std::min(width, n_groups - first);
        // Tie blocks pass by in order of score; a positive adds twice what has passed to its row.
        double heights[most] = {};
        const auto pass = [&](const Cell& cell) {
            if (cell.group - first < n) heights[cell.group - first] += cell.negatives;
        };
        for (std::size_t rank = 0; rank < n_ranks; ++rank) {
            const Span<Cell> block = cells.span().part(blocks[rank], blocks[rank + 1]);
            for (const Cell& cell : block) pass(cell);  // ties count once
            for (const Cell& cell : block) {
                if (cell.positives == 0) continue;
                const Span<double> row = u2.span().part(cell.group * n_groups + first, cell.group * n_groups + first + n);
                for (std::size_t column = 0; column < n; ++column) row[column] += cell.positives * heights[column];
            }
            for (const Cell& cell : block) pass(cell);
        }
    });
    return u2;
}

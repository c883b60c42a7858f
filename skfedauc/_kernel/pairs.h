// Ranks of cells, and pairs of groups.
#pragma once
#include "states.h"

// Return for each cell: twice the amount of the lower cells in the group, plus the amount of the cell.
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

// Return u2 of the positives of each group (row) and the negatives of each group (column). `ranks`
// has the dense rank of each cell's score, below `n_ranks`.
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
    // Columns of a task. Many columns save passes over the cells, and few columns give every thread
    // a task.
    constexpr std::size_t most = 512;
    const std::size_t width = std::clamp(n_groups / (4 * n_threads), std::size_t(32), most);
    workers.run((n_groups + width - 1) / width, [&](std::size_t task, std::size_t) {
        const std::size_t first = task * width, n = std::min(width, n_groups - first);
        // In order of score, the positives of a tie block add twice the lower negatives to the
        // rows.
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

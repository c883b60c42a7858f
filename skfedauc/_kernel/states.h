// Cells made of other cells: in any order, numbered, or of two sorted states.
#pragma once
#include "cells.h"

// Items sorted by group and score, with their numbers, and where the items of each cell begin.
inline Sorted<Numbered, 1> sort_items(Workers& workers, Span<const double> scores,
                                      Span<const std::int64_t> groups, std::size_t n_groups,
                                      std::vector<std::size_t>& starts) {
    Sorted<Numbered, 1> sorted(
        workers, scores.size, n_groups,
        [&](std::size_t i) { return groups.size ? std::size_t(groups[i]) : 0; },
        [](std::size_t) { return std::size_t(0); },
        [&](std::size_t i) { return Numbered{key_of(scores[i]), i}; });
    starts.assign(sorted.n_pieces() + 1, 0);
    sorted.sort(workers, [&](std::size_t piece) {
        const Span<Numbered> run = sorted.run(piece, 0);
        for (std::size_t i = 0; i < run.size; ++i) starts[piece + 1] += i == 0 || run[i].key != run[i - 1].key;
    });
    add_up(starts);
    return sorted;
}

// The number of each item's cell among all cells sorted by group and score; and where groups begin.
inline void number_cells(Workers& workers, Span<const double> scores, Span<const std::int64_t> groups,
                         Span<std::int64_t> numbers, Span<std::int64_t> group_starts) {
    std::vector<std::size_t> starts;
    const auto sorted = sort_items(workers, scores, groups, group_starts.size - 1, starts);
    for (std::size_t group = 0; group < group_starts.size; ++group)
        group_starts[group] = std::int64_t(starts[sorted.first_piece(group)]);
    sorted.for_pieces(workers, [&](std::size_t piece, std::size_t) {
        const Span<Numbered> run = sorted.run(piece, 0);
        std::int64_t number = std::int64_t(starts[piece]) - 1;
        for (std::size_t i = 0; i < run.size; ++i) {
            number += i == 0 || run[i].key != run[i - 1].key;
            numbers[run[i].number] = number;
        }
    });
}

// Cells in any order, with repetitions: sorted by group and score, and equal ones added up in the
// order that they came in.
template <class Count>
Cells<Count> add_cells(Workers& workers, const CellsView<Count>& old, Span<const std::int64_t> groups,
                       std::size_t n_groups) {
    std::vector<std::size_t> starts;
    const auto sorted = sort_items(workers, old.scores, groups, n_groups, starts);
    const std::size_t n_cells = starts.back(), n_old = old.scores.size;
    Cells<Count> cells(n_groups, n_cells, old.weights.size > 0);
    for (std::size_t group = 0; group <= n_groups; ++group)
        cells.starts[group] = std::int64_t(starts[sorted.first_piece(group)]);
    sorted.for_pieces(workers, [&](std::size_t piece, std::size_t) {
        const Span<Numbered> run = sorted.run(piece, 0);
        std::size_t cell = starts[piece] - 1;
        for (std::size_t i = 0; i < run.size; ++i) {
            const bool is_new = i == 0 || run[i].key != run[i - 1].key;
            const std::size_t from = run[i].number;
            cell += is_new;
            cells.scores[cell] = score_of(run[i].key);
            cells.negatives[cell] = (is_new ? 0 : cells.negatives[cell]) + old.negatives[from];
            cells.positives[cell] = (is_new ? 0 : cells.positives[cell]) + old.positives[from];
            for (std::size_t column = 0; column < (old.weights.size ? 4 : 0); ++column) {
                double& sum = cells.weights[column * n_cells + cell];
                sum = (is_new ? 0 : sum) + old.weights[column * n_old + from];
            }
        }
    });
    return cells;
}

// Cells of two states: group i of state s has the number numbers[s][i] in the result; these rise.
template <class Count>
Cells<Count> merge_states(Workers& workers, const CellsView<Count> (&states)[2],
                          const Span<const std::int64_t> (&numbers)[2], std::size_t n_groups) {
    const CellsView<Count>&a = states[0], &b = states[1];
    const std::size_t size_a = a.scores.size, size_b = b.scores.size, room = size_a + size_b;
    const std::size_t n_columns = a.weights.size ? 4 : 0;
    Cells<Count> cells(n_groups, room, n_columns > 0);
    std::size_t next = 0, seen[2] = {0, 0};  // cells so far, and groups
    const auto copy = [&](const CellsView<Count>& from, std::size_t begin, std::size_t end) {
        const std::size_t n = end - begin, size = from.scores.size;
        std::copy_n(from.scores.data + begin, n, cells.scores.span().data + next);
        std::copy_n(from.negatives.data + begin, n, cells.negatives.span().data + next);
        std::copy_n(from.positives.data + begin, n, cells.positives.span().data + next);
        for (std::size_t c = 0; c < n_columns; ++c)
            std::copy_n(from.weights.data + c * size + begin, n, cells.weights.span().data + c * room + next);
        next += n;
    };
    workers.run(n_groups, [&](std::size_t group, std::size_t) {
        cells.starts[group] = std::int64_t(next);
        std::size_t at[2], ends[2];
        for (int s = 0; s < 2; ++s) {
            at[s] = ends[s] = std::size_t(states[s].starts[seen[s]]);
            if (seen[s] < numbers[s].size && std::size_t(numbers[s][seen[s]]) == group)
                ends[s] = std::size_t(states[s].starts[++seen[s]]);
        }
        std::size_t i = at[0], j = at[1];
        while (i < ends[0] && j < ends[1]) {
            // Compilers make no branches of integers, which no processor would predict here.
            const std::uint64_t key_a = key_of(a.scores[i]), key_b = key_of(b.scores[j]);
            const Count of_a = key_a <= key_b, of_b = key_b <= key_a;  // both of equal scores
            cells.scores[next] = score_of(std::min(key_a, key_b));
            cells.negatives[next] = of_a * a.negatives[i] + of_b * b.negatives[j];
            cells.positives[next] = of_a * a.positives[i] + of_b * b.positives[j];
            for (std::size_t c = 0; c < n_columns; ++c)
                cells.weights[c * room + next] =
                    of_a * a.weights[c * size_a + i] + of_b * b.weights[c * size_b + j];
            i += of_a;
            j += of_b;
            ++next;
        }
        copy(a, i, ends[0]);
        copy(b, j, ends[1]);
    });
    cells.starts[n_groups] = std::int64_t(next);
    close_gaps(cells.scores, 1, {0}, {0, next});
    close_gaps(cells.negatives, 1, {0}, {0, next});
    close_gaps(cells.positives, 1, {0}, {0, next});
    if (n_columns) close_gaps(cells.weights, n_columns, {0}, {0, next});
    return cells;
}

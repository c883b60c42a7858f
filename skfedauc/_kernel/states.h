// Cells of unsorted items, and cells of two sorted states.
#pragma once
#include "cells.h"

struct Numbered { std::uint64_t key; std::uint64_t number; };

// Sort items by group and score, and add up amounts. `item(i)` is what the other functions get,
// `amount(item, is_tied)` is its amount, and `write(item, under, up_to)` gets the sum of the amounts of
// lower items, and this sum plus all tied items. Return the sum at the start of each group.
Buffer<std::int64_t> cumulate(Doubles scores, const Groups& groups, std::size_t n_groups, std::size_t n_threads,
                              auto item, auto amount, auto write) {
    Workers workers(n_threads);
    Buffer<Numbered> items(scores.size);
    Pieces<Numbered> pieces(
        workers, items.span(), n_groups, [&](std::size_t i) { return group_of(groups, i); },
        [&](std::size_t i) { return scores[i]; }, [&](std::size_t i) { return Numbered{key_of(scores[i]), item(i)}; });
    std::vector<std::uint64_t> totals(pieces.places().size());
    pieces.sort(workers, [&](std::size_t piece, Span<Numbered> sorted, std::size_t, std::size_t) {
        const Span<Numbered> summed = pieces.piece(piece);
        std::uint64_t under = 0, sum = 0;
        for (std::size_t i = 0; i < sorted.size; ++i) {
            const bool is_tied = i > 0 && sorted[i].key == sorted[i - 1].key;
            under = is_tied ? under : sum;
            sum += amount(sorted[i].number, is_tied);
            summed[i] = {under, sorted[i].number};
        }
        totals[piece + 1] = sum;
    });
    std::partial_sum(totals.begin(), totals.end(), totals.begin());
    in_stretches(workers, pieces.places(), [&](std::size_t piece, std::size_t) {
        const Span<Numbered> summed = pieces.piece(piece);
        std::uint64_t up_to = totals[piece + 1], last = ~std::uint64_t(0);
        for (std::size_t i = summed.size; i-- > 0; last = summed[i].key) {
            if (i + 1 < summed.size && summed[i].key != last) up_to = totals[piece] + last;
            write(summed[i].number, totals[piece] + summed[i].key, up_to);
        }
    });
    Buffer<std::int64_t> starts(n_groups + 1);
    for (std::size_t group = 0; group <= n_groups; ++group)
        starts[group] = std::int64_t(totals[pieces.first_piece(group)]);
    return starts;
}

// Number the cells by group and score. Return the cell of each item and the first cell of each
// group.
inline std::pair<Buffer<std::int64_t>, Buffer<std::int64_t>> number_cells(
    Doubles scores, const Groups& groups, std::size_t n_groups, std::size_t n_threads) {
    Buffer<std::int64_t> cells(scores.size);
    auto starts = cumulate(
        scores, groups, n_groups, n_threads, [](std::size_t i) { return i; },
        [](std::size_t, bool is_tied) { return !is_tied; },
        [&](std::size_t i, std::uint64_t under, std::uint64_t) { cells[i] = std::int64_t(under); });
    return {std::move(cells), std::move(starts)};
}

// Add up the cells of two states. Group i of state s has the number numbers[s][i] in the result.
template <bool weighted, class Count>
Cells<Count> merge_states(const std::array<CellsView<Count>, 2>& states, const std::array<Integers, 2>& numbers,
                          std::size_t n_groups) {
    const CellsView<Count> a = states[0], b = states[1];
    const std::size_t room = a.scores.size + b.scores.size;
    Cells<Count> cells(n_groups, room, weighted);
    std::vector<std::size_t> begins(n_groups), ends(n_groups);
    std::size_t next[2] = {0, 0}, to = 0;
    // Return the end of the group in a state, which is the begin if the state lacks the group.
    const auto end_of = [&](std::size_t s, std::size_t group) {
        next[s] += next[s] < numbers[s].size && std::size_t(numbers[s][next[s]]) == group;
        return std::size_t(states[s].starts[next[s]]);
    };
    // Masks replace branches, because a processor could not predict these branches.
    const auto write = [&](std::size_t i, std::size_t j, bool has_a, bool has_b) {
        const Count mask_a = Count(0) - has_a, mask_b = Count(0) - has_b;
        cells.scores[to] = has_a ? a.scores[i] : b.scores[j];
        cells.negatives[to] = (mask_a & a.negatives[i]) + (mask_b & b.negatives[j]);
        cells.positives[to] = (mask_a & a.positives[i]) + (mask_b & b.positives[j]);
        for (std::size_t c = 0; c < (weighted ? 4 : 0); ++c)
            (*cells.weights)[c * room + to] = has_a * (*a.weights)[c * a.scores.size + i] +
                                              has_b * (*b.weights)[c * b.scores.size + j];
        ++to;
    };
    for (std::size_t group = 0, i = 0, j = 0; group < n_groups; ++group) {
        const std::size_t end_a = end_of(0, group), end_b = end_of(1, group);
        begins[group] = to;
        while ((i < end_a) & (j < end_b)) {
            const bool has_a = a.scores[i] <= b.scores[j], has_b = b.scores[j] <= a.scores[i];  // both if equal
            write(i, j, has_a, has_b);
            i += has_a;
            j += has_b;
        }
        for (; i < end_a; ++i) write(i, 0, true, false);
        for (; j < end_b; ++j) write(0, j, false, true);
        ends[group] = to;
    }
    close_gaps(cells, begins, ends, [](std::size_t group) { return group; });
    return cells;
}

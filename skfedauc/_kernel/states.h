// Cells of unsorted items, and cells of several sorted states.
#pragma once
#include "cells.h"

struct Numbered { std::uint64_t key; std::uint64_t number; };

// Sort items by group and score, and add up amounts. `item(i)` is what the other functions get,
// `amount(item, is_tied)` is its amount, and `write(item, under, up_to)` gets the sum of the amounts of
// lower items, and this sum plus all tied items. Return the sum at the start of each group.
template <class Item, class Amount, class Write>
Buffer<std::int64_t> cumulate(Doubles scores, const Groups& groups, std::size_t n_groups, std::size_t n_threads,
                              Item item, Amount amount, Write write) {
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

// A cell as a record.
template <bool weighted>
struct Weights {};
template <>
struct Weights<true> { double weights[4]; };

template <class Count, bool weighted>
struct Counted : Weights<weighted> {
    std::uint64_t key;
    Count negatives, positives;

    Counted() = default;
    Counted(const CellsView<Count>& cells, std::size_t i)
        : key(key_of(cells.scores[i])), negatives(cells.negatives[i]), positives(cells.positives[i]) {
        if constexpr (weighted)
            for (std::size_t c = 0; c < 4; ++c) this->weights[c] = (*cells.weights)[c * cells.scores.size + i];
    }
};

// Write sorted cells from place `end` on, add up equal cells in order, and return the new end.
template <class Count, bool weighted>
std::size_t add_equal(Span<Counted<Count, weighted>> sorted, Cells<Count>& cells, std::size_t end) {
    const std::size_t room = cells.scores.size();
    Counted<Count, weighted> sum{};
    for (std::size_t i = 0; i < sorted.size; ++i) {
        const bool is_new = i == 0 || sorted[i].key != sorted[i - 1].key;
        end += is_new;
        cells.scores[end - 1] = score_of(sorted[i].key);
        cells.negatives[end - 1] = sum.negatives = (is_new ? 0 : sum.negatives) + sorted[i].negatives;
        cells.positives[end - 1] = sum.positives = (is_new ? 0 : sum.positives) + sorted[i].positives;
        if constexpr (weighted)
            for (std::size_t c = 0; c < 4; ++c) {
                sum.weights[c] = (is_new ? 0 : sum.weights[c]) + sorted[i].weights[c];
                (*cells.weights)[c * room + end - 1] = sum.weights[c];
            }
    }
    return end;
}

// Sort cells by group and score, and add up equal cells in the original order.
template <bool weighted, class Count>
Cells<Count> add_cells(const CellsView<Count>& old, const Groups& groups, std::size_t n_groups) {
    using Record = Counted<Count, weighted>;
    Workers workers(1);
    Buffer<Record> records(old.scores.size);
    Pieces<Record> pieces(
        workers, records.span(), n_groups, [&](std::size_t i) { return group_of(groups, i); },
        [&](std::size_t i) { return old.scores[i]; }, [&](std::size_t i) { return Record(old, i); });
    Cells<Count> cells(n_groups, old.scores.size, weighted);
    std::vector<std::size_t> ends(pieces.places().size() - 1);
    pieces.sort(workers, [&](std::size_t piece, Span<Record> sorted, std::size_t, std::size_t) {
        ends[piece] = add_equal(sorted, cells, pieces.places()[piece]);
    });
    close_gaps(cells, pieces.places(), ends, [&](std::size_t group) { return pieces.first_piece(group); });
    return cells;
}

// Cells of one group in one state.
template <class Count>
struct Stretch {
    const CellsView<Count>* cells;
    std::size_t begin, end;

    // Copy the stretch to `to` from place `place` on, and return the new end.
    std::size_t copy(Cells<Count>& to, std::size_t place) const {
        const auto column = [&](auto from, auto room, std::size_t c) {
            std::copy_n(from.data + c * cells->scores.size + begin, end - begin, room.data + c * to.scores.size() + place);
        };
        column(cells->scores, to.scores.span(), 0);
        column(cells->negatives, to.negatives.span(), 0);
        column(cells->positives, to.positives.span(), 0);
        for (std::size_t c = 0; c < (to.weights ? 4 : 0); ++c) column(*cells->weights, to.weights->span(), c);
        return place + end - begin;
    }
};

// Two stretches to be merged into cells from place `end` on.
template <class Count>
struct Pair {
    Stretch<Count> a, b;
    std::size_t end;

    // The loop has no branches, like `merge_both`.
    bool has_both() const { return (a.begin < a.end) & (b.begin < b.end); }
    // Cut off the upper half. The upper half has the higher scores. The cells of the upper half
    // follow the cells of the lower half.
    Pair cut() {
        Pair upper = *this;
        const std::size_t middle = a.begin + (a.end - a.begin) / 2;
        const double* const scores = b.cells->scores.data;
        const double limit = a.begin < a.end ? a.cells->scores[middle] : 0;
        a.end = upper.a.begin = middle;
        b.end = upper.b.begin = std::size_t(std::lower_bound(scores + b.begin, scores + b.end, limit) - scores);
        upper.end = end + (a.end - a.begin) + (b.end - b.begin);
        return upper;
    }
};

// Merge each pair until one of its stretches is empty. Masks replace branches, because a processor
// could not predict these branches. Each step waits for the last step of the same pair, so steps of
// both pairs alternate.
template <bool weighted, class Count>
void merge_both(Pair<Count>& lower, Pair<Count>& upper, Cells<Count>& cells) {
    const CellsView<Count> a = *lower.a.cells, b = *lower.b.cells;
    const std::size_t room = cells.scores.size();
    const auto step = [&](Pair<Count>& pair) {
        const std::size_t i = pair.a.begin, j = pair.b.begin, to = pair.end++;
        const double score_a = a.scores[i], score_b = b.scores[j];
        const bool has_a = score_a <= score_b, has_b = score_b <= score_a;  // both for equal scores
        const Count mask_a = Count(0) - has_a, mask_b = Count(0) - has_b;
        cells.scores[to] = has_a ? score_a : score_b;
        cells.negatives[to] = (mask_a & a.negatives[i]) + (mask_b & b.negatives[j]);
        cells.positives[to] = (mask_a & a.positives[i]) + (mask_b & b.positives[j]);
        for (std::size_t c = 0; c < (weighted ? 4 : 0); ++c)
            (*cells.weights)[c * room + to] = has_a * (*a.weights)[c * a.scores.size + i] +
                                              has_b * (*b.weights)[c * b.scores.size + j];
        pair.a.begin += has_a;
        pair.b.begin += has_b;
    };
    Pair<Count> low = lower, high = upper;  // in registers
    while (low.has_both() & high.has_both()) {
        step(low);
        step(high);
    }
    while (low.has_both()) step(low);
    while (high.has_both()) step(high);
    lower = low;
    upper = high;
}

// Add up the cells of two states. Group i of state s has the number numbers[s][i] in the result.
template <bool weighted, class Count>
Cells<Count> merge_states(const std::array<CellsView<Count>, 2>& states, const std::array<Integers, 2>& numbers,
                          std::size_t n_groups) {
    Cells<Count> cells(n_groups, states[0].scores.size + states[1].scores.size, weighted);
    // Each group has two parts, with a gap between them if scores of the lower part are equal.
    std::vector<std::size_t> begins(2 * n_groups), ends(2 * n_groups);
    std::size_t next[2] = {0, 0}, place = 0;
    for (std::size_t group = 0; group < n_groups; ++group) {
        const auto stretch = [&](std::size_t s) {
            const auto begin = std::size_t(states[s].starts[next[s]]);
            next[s] += next[s] < numbers[s].size && std::size_t(numbers[s][next[s]]) == group;
            return Stretch<Count>{&states[s], begin, std::size_t(states[s].starts[next[s]])};
        };
        Pair<Count> lower{stretch(0), stretch(1), place};
        place += lower.a.end - lower.a.begin + lower.b.end - lower.b.begin;
        begins[2 * group] = lower.end;
        Pair<Count> upper = lower.cut();
        begins[2 * group + 1] = upper.end;
        merge_both<weighted>(lower, upper, cells);
        ends[2 * group] = lower.b.copy(cells, lower.a.copy(cells, lower.end));
        ends[2 * group + 1] = upper.b.copy(cells, upper.a.copy(cells, upper.end));
    }
    close_gaps(cells, begins, ends, [](std::size_t group) { return 2 * group; });
    return cells;
}

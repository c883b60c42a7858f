// Cells made of other cells: in any order, numbered, or of several sorted states.
#pragma once
#include "cells.h"

// Items sorted by group and score, with their numbers, and where the items of each cell begin.
inline Sorted<Numbered, 1> sort_items(Workers& workers, Span<const double> scores,
                                      Span<const std::int64_t> groups, std::size_t n_groups, Span<Numbered> room,
                                      std::vector<std::size_t>& starts) {
    Sorted<Numbered, 1> sorted(
        workers, room, n_groups,
        [&](std::size_t i) { return groups.size ? std::size_t(groups[i]) : 0; },
        [](std::size_t) { return std::size_t(0); },
        [&](std::size_t i) { return Numbered{key_of(scores[i]), i}; });
    starts.assign(sorted.n_pieces() + 1, 0);
    sorted.sort(workers, [&](std::size_t piece, const auto& runs) {
        const Span<Numbered> run = sorted.piece(piece);
        std::copy_n(runs[0].data, run.size, run.data);
        for (std::size_t i = 0; i < run.size; ++i) starts[piece + 1] += i == 0 || run[i].key != run[i - 1].key;
    });
    add_up(starts);
    return sorted;
}

// The number of each item's cell among all cells sorted by group and score; and where groups begin.
inline void number_cells(Workers& workers, Span<const double> scores, Span<const std::int64_t> groups,
                         Span<std::int64_t> numbers, Span<std::int64_t> group_starts) {
    std::vector<std::size_t> starts;
    Buffer<Numbered> items(scores.size);
    const auto sorted = sort_items(workers, scores, groups, group_starts.size - 1, items.span(), starts);
    for (std::size_t group = 0; group < group_starts.size; ++group)
        group_starts[group] = std::int64_t(starts[sorted.first_piece(group)]);
    sorted.for_pieces(workers, [&](std::size_t piece, std::size_t) {
        const Span<Numbered> run = sorted.piece(piece);
        std::int64_t number = std::int64_t(starts[piece]) - 1;
        for (std::size_t i = 0; i < run.size; ++i) {
            number += i == 0 || run[i].key != run[i - 1].key;
            numbers[run[i].number] = number;
        }
    });
}

template <bool weighted>
struct Sums {};
template <>
struct Sums<true> { double weights[4]; };

// A cell that is sorted as a whole.
template <class Count, bool weighted>
struct Counted : Sums<weighted> {
    std::uint64_t key;
    Count negatives, positives;

    Counted() = default;
    Counted(const CellsView<Count>& cells, std::size_t i)
        : key(key_of(cells.scores[i])), negatives(cells.negatives[i]), positives(cells.positives[i]) {
        if constexpr (weighted)
            for (std::size_t c = 0; c < 4; ++c) this->weights[c] = cells.weights[c * cells.scores.size + i];
    }
};

// Write the cells of a sorted run from place `end` on, equal ones added up in their order; return
// where they end.
template <class Count, bool weighted>
std::size_t add_equal(Span<Counted<Count, weighted>> run, Cells<Count>& cells, std::size_t end) {
    const std::size_t room = cells.scores.size();
    Counted<Count, weighted> sum{};
    for (std::size_t i = 0; i < run.size; ++i) {
        const bool is_new = i == 0 || run[i].key != run[i - 1].key;
        end += is_new;
        sum.negatives = (is_new ? 0 : sum.negatives) + run[i].negatives;
        sum.positives = (is_new ? 0 : sum.positives) + run[i].positives;
        cells.scores[end - 1] = score_of(run[i].key);
        cells.negatives[end - 1] = sum.negatives;
        cells.positives[end - 1] = sum.positives;
        if constexpr (weighted)
            for (std::size_t c = 0; c < 4; ++c) {
                sum.weights[c] = (is_new ? 0 : sum.weights[c]) + run[i].weights[c];
                cells.weights[c * room + end - 1] = sum.weights[c];
            }
    }
    return end;
}

// Cells in any order, with repetitions: sorted by group and score, and equal ones added up in the
// order that they came in.
template <bool weighted, class Count>
Cells<Count> add_cells(Workers& workers, const CellsView<Count>& old, Span<const std::int64_t> groups,
                       std::size_t n_groups) {
    const std::size_t n = old.scores.size;
    Buffer<Counted<Count, weighted>> records(n);
    Sorted<Counted<Count, weighted>, 1> sorted(
        workers, records.span(), n_groups, [&](std::size_t i) { return groups.size ? std::size_t(groups[i]) : 0; },
        [](std::size_t) { return std::size_t(0); },
        [&](std::size_t i) { return Counted<Count, weighted>(old, i); });
    Cells<Count> cells(n_groups, n, weighted);
    Gaps gaps(sorted.n_pieces());
    sorted.sort(workers, [&](std::size_t piece, const auto& runs) {
        gaps.begins[piece] = sorted.place(piece);
        gaps.ends[piece] = add_equal(runs[0], cells, sorted.place(piece));
    });
    close_gaps(cells, gaps, [&](std::size_t group) { return sorted.first_piece(group); });
    return cells;
}

// A stretch of a state's cells that belong to one group.
struct Stretch { std::size_t state, begin, end; };

// Merge two stretches into `cells` from place `next` on, until one of them has no more; return
// where the cells end. With masks in place of branches, which no processor would predict here.
template <bool weighted, class Count>
std::size_t merge_two(CellsView<Count> a, CellsView<Count> b, Stretch& of_a, Stretch& of_b, Cells<Count>& cells,
                      std::size_t next) {
    const Span<double> scores = cells.scores.span(), weights = cells.weights.span();
    const Span<Count> negatives = cells.negatives.span(), positives = cells.positives.span();
    std::size_t i = of_a.begin, j = of_b.begin;
    const std::size_t end_a = of_a.end, end_b = of_b.end;
    while (i < end_a && j < end_b) {
        const double score_a = a.scores[i], score_b = b.scores[j];
        const bool has_a = score_a <= score_b, has_b = score_b <= score_a;  // both where they are equal
        const Count mask_a = Count(0) - has_a, mask_b = Count(0) - has_b;
        scores[next] = has_a ? score_a : score_b;
        negatives[next] = (mask_a & a.negatives[i]) + (mask_b & b.negatives[j]);
        positives[next] = (mask_a & a.positives[i]) + (mask_b & b.positives[j]);
        for (std::size_t c = 0; c < (weighted ? 4 : 0); ++c)
            weights[c * scores.size + next] =
                has_a * a.weights[c * a.scores.size + i] + has_b * b.weights[c * b.scores.size + j];
        i += has_a;
        j += has_b;
        ++next;
    }
    of_a.begin = i;
    of_b.begin = j;
    return next;
}

template <class Count>
std::size_t copy_cells(const CellsView<Count>& from, Stretch of, Cells<Count>& cells, std::size_t next) {
    const std::size_t n = of.end - of.begin, size = from.scores.size, room = cells.scores.size();
    std::copy_n(from.scores.data + of.begin, n, cells.scores.span().data + next);
    std::copy_n(from.negatives.data + of.begin, n, cells.negatives.span().data + next);
    std::copy_n(from.positives.data + of.begin, n, cells.positives.span().data + next);
    for (std::size_t c = 0; c < (from.weights.size ? 4 : 0); ++c)
        std::copy_n(from.weights.data + c * size + of.begin, n, cells.weights.span().data + c * room + next);
    return next + n;
}

// Cells of several states: group i of state s has the number numbers[s][i] in the result; these rise.
template <bool weighted, class Count>
Cells<Count> merge_states(Workers& workers, const std::vector<CellsView<Count>>& states,
                          const std::vector<Span<const std::int64_t>>& numbers, std::size_t n_groups) {
    // The stretches of each group, in the order of the states, and the room for their cells.
    std::vector<std::size_t> first(n_groups + 1), places(n_groups + 1);
    for (std::size_t s = 0; s < states.size(); ++s)
        for (std::size_t i = 0; i < numbers[s].size; ++i) {
            ++first[std::size_t(numbers[s][i]) + 1];
            places[std::size_t(numbers[s][i]) + 1] += std::size_t(states[s].starts[i + 1] - states[s].starts[i]);
        }
    add_up(first);
    add_up(places);
    std::vector<Stretch> stretches(first.back());
    std::vector<std::size_t> next = first;
    for (std::size_t s = 0; s < states.size(); ++s)
        for (std::size_t i = 0; i < numbers[s].size; ++i)
            stretches[next[std::size_t(numbers[s][i])]++] = {s, std::size_t(states[s].starts[i]),
                                                             std::size_t(states[s].starts[i + 1])};
    Cells<Count> cells(n_groups, places.back(), weighted);
    Gaps gaps(n_groups);
    std::vector<Buffer<Counted<Count, weighted>>> scratch(workers.n_threads);
    in_stretches(workers, places, [&](std::size_t group, std::size_t thread) {
        Stretch* const mine = stretches.data() + first[group];
        const std::size_t n_mine = first[group + 1] - first[group], n = places[group + 1] - places[group];
        std::size_t end = places[group];
        if (n_mine > 2) {  // as a rule their cells are few, and sorted sooner than merged in pairs
            if (scratch[thread].size() < 2 * n) scratch[thread] = Buffer<Counted<Count, weighted>>(2 * n);
            const auto run = scratch[thread].span().part(0, n);
            std::size_t i = 0;
            for (const Stretch* of = mine; of < mine + n_mine; ++of)
                for (std::size_t cell = of->begin; cell < of->end; ++cell) run[i++] = {states[of->state], cell};
            radix_sort(run, scratch[thread].span().part(n, 2 * n), false);
            end = add_equal(run, cells, end);
        } else {
            if (n_mine == 2)
                end = merge_two<weighted>(states[mine[0].state], states[mine[1].state], mine[0], mine[1], cells, end);
            for (const Stretch* of = mine; of < mine + n_mine; ++of)
                end = copy_cells(states[of->state], *of, cells, end);
        }
        gaps.begins[group] = places[group];
        gaps.ends[group] = end;
    });
    close_gaps(cells, gaps, [](std::size_t group) { return group; });
    return cells;
}

// Pairs of a negative and a positive, and sums of placement values, by group.
#pragma once
#include <array>

#include "pairs.h"

// Negatives, positives, and both with squared weights
template <class T>
using Amounts = std::array<T, 4>;

// Amounts of the rows with lower scores than a cell, and of the rows with at most this score.
template <class T>
struct Rank { Amounts<T> under, up_to; };

// Cells of unweighted rows; `rank_cells` needs less than 2**32 rows.
struct UnitRows {
    using Number = std::int64_t;
    using U2 = std::uint64_t;

    static Amounts<Number> both(Number n, Number p) { return {n, p, n, p}; }
    static Amounts<Number> unpacked(std::uint64_t sums) { return both(Number(sums >> 32), Number(sums & 0xFFFFFFFF)); }
    Amounts<Number> at(std::size_t i) const { return both(cells.negatives[i], cells.positives[i]); }
    Rank<Number> rank(std::size_t i) const { return {unpacked(ranks.span()[i][0]), unpacked(ranks.span()[i][1])}; }
    // Return the amounts of all rows. Sort small counts with the cells, because it takes long to read
    // counts in order of score.
    Amounts<Number> rank_cells(std::size_t n_threads) {
        constexpr std::uint64_t many = 0xFFFF, low = 0xFFFFFFFF;
        ranks = Buffer<std::array<std::uint64_t, 2>>(cells.scores.size);
        const auto item = [&](std::size_t i) {
            const std::uint64_t n = cells.negatives[i], p = cells.positives[i];
            return std::min(n, many) << 48 | std::min(p, many) << 32 | i;
        };
        const auto amount = [&](std::uint64_t of, bool) {
            const std::uint64_t n = of >> 48, p = of >> 32 & many, i = of & low;
            return (n < many ? n : cells.negatives[i]) << 32 | (p < many ? p : cells.positives[i]);
        };
        const auto write = [&](std::uint64_t of, std::uint64_t under, std::uint64_t up_to) { ranks[of & low] = {under, up_to}; };
        return unpacked(std::uint64_t(cumulate(cells.scores, {}, 1, n_threads, item, amount, write)[1]));
    }

    CellsView<std::uint32_t> cells;
    Buffer<std::array<std::uint64_t, 2>> ranks{};
};

// Cells of weighted rows. Sums of weights depend on the order, so one thread adds them up.
struct WeightedRows {
    using Number = double;
    using U2 = double;

    Amounts<double> at(std::size_t i) const {
        const double* const weight = cells.weights->data + i;
        const std::size_t n = cells.scores.size;
        return {weight[0], weight[n], weight[2 * n], weight[3 * n]};
    }
    Rank<double> rank(std::size_t i) const { return {sums[std::size_t(ties.span()[i])], sums[std::size_t(ties.span()[i]) + 1]}; }
    Amounts<double> rank_cells(std::size_t n_threads) {
        auto [numbers, starts] = number_cells(cells.scores, {}, 1, n_threads);
        ties = std::move(numbers);
        sums.resize(std::size_t(starts[1]) + 1);
        for (std::size_t c = 0; c < 4; ++c) {
            for (std::size_t i = 0; i < cells.scores.size; ++i) sums[std::size_t(ties[i]) + 1][c] += at(i)[c];
            for (std::size_t tie = 1; tie < sums.size(); ++tie) sums[tie][c] += sums[tie - 1][c];
        }
        return sums.back();
    }

    CellsView<std::uint32_t> cells;
    Buffer<std::int64_t> ties{};
    std::vector<Amounts<double>> sums{};  // of the cells below each distinct score
};

// Count pairs, or add up placement values within the group or among all rows.
enum class Task { pairs, within, among_all };

// Return sums by group, as `skfedauc._kernel` lists them: the bits of four values of U2, and floats.
template <Task task, class Rows>
std::pair<Buffer<std::uint64_t>, Buffer<double>> placement_sums(Rows rows, std::size_t n_threads) {
    using Number = typename Rows::Number;
    using U2 = typename Rows::U2;
    constexpr std::size_t n_sums = task == Task::pairs ? 2 : 10;
    const std::vector<std::size_t> places(rows.cells.starts.begin(), rows.cells.starts.end());
    const std::size_t n_groups = places.size() - 1;
    Amounts<Number> all_rows{};
    if constexpr (task == Task::among_all) all_rows = rows.rank_cells(n_threads);
    const auto half_over = [](Number whole) { return whole > 0 ? 0.5 / double(whole) : 0.0; };
    Buffer<std::uint64_t> u2s(4 * n_groups);
    Buffer<double> sums(n_sums * n_groups);
    Workers workers(n_threads);
    in_stretches(workers, places, [&](std::size_t group, std::size_t) {
        // `see(amounts, ranks, side)` gets the ranks of a cell within the group (0) and among all rows (1).
        const auto visit = [&](auto see) {
            Rank<Number> ranks[2] = {};
            for (std::size_t i = places[group]; i < places[group + 1]; ++i) {
                const Amounts<Number> amounts = rows.at(i);
                ranks[0].under = ranks[0].up_to;
                for (std::size_t c = 0; c < 4; ++c) ranks[0].up_to[c] += amounts[c];
                if constexpr (task == Task::among_all) ranks[1] = rows.rank(i);
                else ranks[1] = ranks[0];
                for (std::size_t side = 0; side < 2; ++side) see(amounts, ranks, side);
            }
            return ranks[0].up_to;
        };
        U2 u2[4] = {};
        const Amounts<Number> total = visit([&](const auto& amounts, const auto& ranks, std::size_t side) {
            for (std::size_t k = 0; k < 2; ++k)
                u2[2 * k + side] += U2(amounts[side]) * U2(ranks[k].under[1 - side] + ranks[k].up_to[1 - side]);
        });
        double sum[10] = {double(total[0]), double(total[1])}, half[4], mean[4];
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t side = i % 2;
            half[i] = half_over((task == Task::among_all && i > 1 ? all_rows : total)[1 - side]);
            mean[i] = double(u2[i]) * half[i] * (2.0 * half_over(total[side]));
        }
        if constexpr (task != Task::pairs)
            visit([&](const auto& amounts, const auto& ranks, std::size_t side) {
                const auto deviation = [&](std::size_t k) {
                    const Number twice = ranks[k].under[1 - side] + ranks[k].up_to[1 - side];
                    return double(twice) * half[2 * k + side] - mean[2 * k + side];
                };
                const double own = deviation(0), of_all = deviation(1), square = double(amounts[2 + side]);
                sum[2 + side] += square * of_all;
                sum[4 + side] += square * (of_all * of_all);
                sum[6 + side] += square * (of_all * own);
                // Comparisons of positives with negatives, where ties count one half or one quarter
                if (side == 0) return;
                const double under = double(ranks[1].under[2]), tied = double(ranks[1].up_to[2]) - under;
                sum[8] += square * (under + tied / 2.0);
                sum[9] += square * (under + tied / 4.0);
            });
        for (std::size_t k = 0; k < 4; ++k) u2s[k * n_groups + group] = same_bits<std::uint64_t>(u2[k]);
        for (std::size_t k = 0; k < n_sums; ++k) sums[k * n_groups + group] = sum[k];
    });
    return {std::move(u2s), std::move(sums)};
}

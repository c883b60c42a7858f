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

// Cells of unweighted rows, for ranks among all rows less than 2**32 rows.
struct UnitRows {
    using Number = std::int64_t;
    using U2 = std::uint64_t;

    static Amounts<Number> unpacked(std::uint64_t both) {
        const auto n = Number(both >> 32), p = Number(both & 0xFFFFFFFF);
        return {n, p, n, p};
    }
    Amounts<Number> at(std::size_t i) const {
        const Number n = cells.negatives[i], p = cells.positives[i];
        return {n, p, n, p};
    }
    // Rank the cells, and return the amounts of all rows.
    Amounts<Number> rank_cells(std::size_t n_threads) {
        constexpr std::uint64_t many = 0xFFFF;
        ranks = Buffer<std::array<std::uint64_t, 2>>(cells.scores.size);
        // Sort small counts with the cells, because reading counts in order of score takes long.
        auto starts = cumulate(
            cells.scores, {}, 1, n_threads,
            [&](std::size_t i) {
                const std::uint64_t n = std::min<std::uint64_t>(cells.negatives[i], many);
                return n << 48 | std::min<std::uint64_t>(cells.positives[i], many) << 32 | i;
            },
            [&](std::uint64_t item, bool) {
                const std::uint64_t n = item >> 48, p = item >> 32 & many, i = item & 0xFFFFFFFF;
                return (n < many ? n : cells.negatives[i]) << 32 | (p < many ? p : cells.positives[i]);
            },
            [&](std::uint64_t item, std::uint64_t under, std::uint64_t up_to) {
                ranks[item & 0xFFFFFFFF] = {under, up_to};
            });
        return unpacked(std::uint64_t(starts[1]));
    }
    Rank<Number> rank(std::size_t i) const { return {unpacked(ranks.span()[i][0]), unpacked(ranks.span()[i][1])}; }

    CellsView<std::uint32_t> cells;
    Buffer<std::array<std::uint64_t, 2>> ranks{};
};

// Cells of weighted rows.
struct WeightedRows {
    using Number = double;
    using U2 = double;

    Amounts<double> at(std::size_t i) const {
        const double* const weight = cells.weights->data + i;
        const std::size_t n = cells.scores.size;
        return {weight[0], weight[n], weight[2 * n], weight[3 * n]};
    }
    // Sums of weights depend on the order, so one thread adds them up.
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
    Rank<double> rank(std::size_t i) const {
        const auto tie = std::size_t(ties.span()[i]);
        return {sums[tie], sums[tie + 1]};
    }

    CellsView<std::uint32_t> cells;
    Buffer<std::int64_t> ties{};
    std::vector<Amounts<double>> sums{};  // of the cells below each distinct score
};

// Count pairs, add up placement values within the group, or add up placement values among all rows.
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
    Buffer<std::uint64_t> u2s(4 * n_groups);
    Buffer<double> sums(n_sums * n_groups);
    Workers workers(n_threads);
    in_stretches(workers, places, [&](std::size_t group, std::size_t) {
        // `see` gets the amounts of a cell, its rank within the group, and its rank among all rows.
        const auto visit = [&](auto see) {
            Rank<Number> within{};
            for (std::size_t i = places[group]; i < places[group + 1]; ++i) {
                const Amounts<Number> amounts = rows.at(i);
                within.under = within.up_to;
                for (std::size_t c = 0; c < 4; ++c) within.up_to[c] += amounts[c];
                if constexpr (task == Task::among_all) see(amounts, within, rows.rank(i));
                else see(amounts, within, within);
            }
            return within.up_to;
        };
        // Index 0 is within the group, and index 1 among all rows.
        U2 u2[2][2] = {};
        const Amounts<Number> total = visit([&](const auto& amounts, const auto& within, const auto& among) {
            for (std::size_t side = 0; side < 2; ++side) {
                const std::size_t other = 1 - side;
                u2[0][side] += U2(amounts[side]) * U2(within.under[other] + within.up_to[other]);
                u2[1][side] += U2(amounts[side]) * U2(among.under[other] + among.up_to[other]);
            }
        });
        double sum[10] = {double(total[0]), double(total[1])}, half[2][2], mean[2][2];
        if constexpr (task != Task::pairs) {
            const auto half_over = [](double whole) { return whole > 0 ? 0.5 / whole : 0.0; };
            for (std::size_t side = 0; side < 2; ++side) {
                const Number wholes[2] = {total[1 - side], task == Task::among_all ? all_rows[1 - side] : total[1 - side]};
                for (std::size_t k = 0; k < 2; ++k) {
                    half[k][side] = half_over(double(wholes[k]));
                    mean[k][side] = double(u2[k][side]) * half[k][side] * (2.0 * half_over(double(total[side])));
                }
            }
            visit([&](const auto& amounts, const auto& within, const auto& among) {
                for (std::size_t side = 0; side < 2; ++side) {
                    const auto deviation = [&](const Rank<Number>& rank, std::size_t k) {
                        return double(rank.under[1 - side] + rank.up_to[1 - side]) * half[k][side] - mean[k][side];
                    };
                    const double own = deviation(within, 0), of_all = deviation(among, 1), square = double(amounts[2 + side]);
                    sum[2 + side] += square * of_all;
                    sum[4 + side] += square * (of_all * of_all);
                    sum[6 + side] += square * (of_all * own);
                }
                // Ties count one half or one quarter.
                const double under = double(among.under[2]), tied = double(among.up_to[2]) - under;
                sum[8] += double(amounts[3]) * (under + tied / 2.0);
                sum[9] += double(amounts[3]) * (under + tied / 4.0);
            });
        }
        for (std::size_t k = 0; k < 4; ++k) u2s[k * n_groups + group] = same_bits<std::uint64_t>(u2[k / 2][k % 2]);
        for (std::size_t k = 0; k < n_sums; ++k) sums[k * n_groups + group] = sum[k];
    });
    return {std::move(u2s), std::move(sums)};
}

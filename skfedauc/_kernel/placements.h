// Placement values of rows.
#pragma once
#include "states.h"

// Weights of the rows of each class in a group, or in all groups: rows below the current score, rows
// with this score, and one half over the total. Negatives have number 0, and positives number 1.
struct Below {
    double under[2] = {0, 0}, tied[2] = {0, 0}, half[2] = {0, 0};

    // Share of the rows of the other class that a row outranks
    double placement(bool positive) const {
        const bool other = !positive;
        const double share = (under[other] + (under[other] + tied[other])) * half[other];
        return positive ? share : 1.0 - share;
    }
    void pass() {
        for (int of_class : {0, 1}) under[of_class] += std::exchange(tied[of_class], 0.0);
    }
};

// Return the placement value of each row within its group, and among the rows of all groups. One
// sort by score serves both, so one thread visits the rows in order.
inline std::pair<Buffer<double>, Buffer<double>> placements(Doubles scores, Span<const std::uint8_t> positive,
                                                            const Groups& groups, std::size_t n_groups,
                                                            const std::optional<Doubles>& weights) {
    struct Place { std::uint64_t key; std::uint32_t row, group_and_class; };
    const std::size_t n = scores.size;
    const auto weight = [&](std::size_t row) { return weights ? (*weights)[row] : 1.0; };
    std::vector<Below> below(n_groups + 1);
    Below& all = below[n_groups];
    for (std::size_t row = 0; row < n; ++row) {
        below[group_of(groups, row)].half[positive[row] != 0] += weight(row);
        all.half[positive[row] != 0] += weight(row);
    }
    for (Below& of : below)
        for (double& half : of.half) half = 0.5 / half;  // infinite without rows; the values are then NaN
    Workers workers(1);
    Buffer<Place> places(n);
    Pieces<Place> pieces(
        workers, places.span(), 1, [](std::size_t) { return std::size_t(0); }, [&](std::size_t i) { return scores[i]; },
        [&](std::size_t i) {
            return Place{key_of(scores[i]), std::uint32_t(i), std::uint32_t(2 * group_of(groups, i) + (positive[i] != 0))};
        });
    Buffer<double> within(n), among(n);
    pieces.sort(workers, [&](std::size_t, Span<Place> sorted, std::size_t, std::size_t) {
        for (std::size_t first = 0, end = 0; first < sorted.size; first = end) {
            if (first + 1 == sorted.size || sorted[first + 1].key != sorted[first].key) {
                const Place& at = sorted[end++];
                Below& of = below[at.group_and_class / 2];
                const bool positive = at.group_and_class % 2;
                within[at.row] = of.placement(positive);
                among[at.row] = all.placement(positive);
                const double w = weight(at.row);
                of.under[positive] += w;
                all.under[positive] += w;
                continue;
            }
            for (; end < sorted.size && sorted[end].key == sorted[first].key; ++end) {
                const Place& at = sorted[end];
                below[at.group_and_class / 2].tied[at.group_and_class % 2] += weight(at.row);
                all.tied[at.group_and_class % 2] += weight(at.row);
            }
            for (const Place& at : sorted.part(first, end)) {
                within[at.row] = below[at.group_and_class / 2].placement(at.group_and_class % 2);
                among[at.row] = all.placement(at.group_and_class % 2);
            }
            for (const Place& at : sorted.part(first, end)) below[at.group_and_class / 2].pass();
            all.pass();
        }
    });
    return {std::move(within), std::move(among)};
}

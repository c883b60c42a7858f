// Placement values of rows.
#pragma once
#include "states.h"

// Weights of the rows of each class in a group, or in all groups: rows below the current score, these
// and rows with the score, and one half over all rows. Negatives have number 0, and positives number 1.
struct Below {
    double under[2] = {0, 0}, up_to[2] = {0, 0}, half[2] = {0, 0};

    // Share of the rows of the other class that a row outranks, and for a negative, that outrank it
    double placement(bool positive) const {
        const double share = (under[!positive] + up_to[!positive]) * half[!positive];
        return positive ? share : 1.0 - share;
    }
};

// Return the placement value of each row within its group, and among the rows of all groups. One
// sort by score serves both, so one thread visits the rows in order.
inline std::pair<Buffer<double>, Buffer<double>> placements(Doubles scores, Span<const std::uint8_t> positive,
                                                            const Groups& groups, std::size_t n_groups,
                                                            const std::optional<Doubles>& weights) {
    struct Place { std::uint64_t key; std::uint32_t row, group : 31, positive : 1; };
    const std::size_t n = scores.size;
    const auto weight = [&](std::size_t row) { return weights ? (*weights)[row] : 1.0; };
    std::vector<Below> below(n_groups + 1);  // of the groups, and of all groups
    for (std::size_t row = 0; row < n; ++row)
        for (const std::size_t group : {group_of(groups, row), n_groups}) below[group].half[positive[row] != 0] += weight(row);
    for (Below& of : below)
        for (double& half : of.half) half = 0.5 / half;  // infinite without rows; the values are then NaN
    Below& all = below[n_groups];
    Workers workers(1);
    Buffer<Place> places(n);
    Pieces<Place> pieces(
        workers, places.span(), 1, [](std::size_t) { return std::size_t(0); }, [&](std::size_t i) { return scores[i]; },
        [&](std::size_t i) {
            return Place{key_of(scores[i]), std::uint32_t(i), std::uint32_t(group_of(groups, i)), positive[i] != 0};
        });
    Buffer<double> within(n), among(n);
    pieces.sort(workers, [&](std::size_t, Span<Place> sorted, std::size_t, std::size_t) {
        for (std::size_t first = 0, end = 0; first < sorted.size; first = end) {
            while (end < sorted.size && sorted[end].key == sorted[first].key) ++end;
            const Span<Place> tied = sorted.part(first, end);
            for (const Place& at : tied) {
                below[at.group].up_to[at.positive] += weight(at.row);
                all.up_to[at.positive] += weight(at.row);
            }
            for (const Place& at : tied) {
                within[at.row] = below[at.group].placement(at.positive);
                among[at.row] = all.placement(at.positive);
            }
            for (const Place& at : tied) {
                below[at.group].under[at.positive] = below[at.group].up_to[at.positive];
                all.under[at.positive] = all.up_to[at.positive];
            }
        }
    });
    return {std::move(within), std::move(among)};
}

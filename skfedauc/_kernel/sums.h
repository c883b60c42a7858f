// Pairs of a negative and a positive, and sums of placement values, by group.
#pragma once
#include "pairs.h"

// Sums stay in registers only if a call is inlined, and take four times as long in memory.
#ifdef __GNUC__
#define INLINE __attribute__((always_inline)) inline
#else
#define INLINE inline
#endif

// Amounts of rows: negatives, positives, and if rows have weights, negatives with squared weights.
template <class T>
struct Counts {
    T negatives, positives;

    T squared_negatives() const { return negatives; }
    void add(const Counts& other) {
        negatives += other.negatives;
        positives += other.positives;
    }
};
struct Sums {
    double negatives, positives, squares;

    double squared_negatives() const { return squares; }
    void add(const Sums& other) {
        negatives += other.negatives;
        positives += other.positives;
        squares += other.squares;
    }
};

// Amounts of the rows with lower scores than a cell, and of the rows with at most this score.
template <class Amounts>
struct Rank { Amounts under, up_to; };

// One number for negatives and one for positives
struct Sides {
    double n, p;

    Sides operator*(Sides by) const { return {n * by.n, p * by.p}; }
    Sides operator-(Sides by) const { return {n - by.n, p - by.p}; }
    void operator+=(Sides by) {
        n += by.n;
        p += by.p;
    }
};

// Cells of unweighted rows; `rank_cells` needs less than 2**32 rows.
struct UnitRows {
    using U2 = std::uint64_t;
    template <class T>
    using Amounts = Counts<T>;

    template <class T>
    static Counts<T> unpacked(std::uint64_t sums) { return {T(sums >> 32), T(std::uint32_t(sums))}; }
    template <class T>
    Counts<T> at(std::size_t i) const { return {T(cells.negatives[i]), T(cells.positives[i])}; }
    template <class T>
    Rank<Counts<T>> rank(std::size_t i) const { return {unpacked<T>(ranks.span()[i].under), unpacked<T>(ranks.span()[i].up_to)}; }
    Sides squares(std::size_t i) const { return {double(cells.negatives[i]), double(cells.positives[i])}; }
    // Return the amounts of all rows. Sort small counts with the cells, because it takes long to read
    // counts in order of score.
    Counts<std::uint64_t> rank_cells(std::size_t n_threads) {
        constexpr std::uint64_t many = 0xFFFF, low = 0xFFFFFFFF;
        ranks = Buffer<Rank<std::uint64_t>>(cells.scores.size);
        const auto item = [&](std::size_t i) {
            const std::uint64_t n = cells.negatives[i], p = cells.positives[i];
            return std::min(n, many) << 48 | std::min(p, many) << 32 | i;
        };
        const auto amount = [&](std::uint64_t of, bool) {
            const std::uint64_t n = of >> 48, p = of >> 32 & many, i = of & low;
            return (n < many ? n : cells.negatives[i]) << 32 | (p < many ? p : cells.positives[i]);
        };
        const auto write = [&](std::uint64_t of, std::uint64_t under, std::uint64_t up_to) { ranks[of & low] = {under, up_to}; };
        return unpacked<std::uint64_t>(std::uint64_t(cumulate(cells.scores, {}, 1, n_threads, item, amount, write)[1]));
    }

    CellsView<std::uint32_t> cells;
    Buffer<Rank<std::uint64_t>> ranks{};
};

// Cells of weighted rows. A sum of weights depends on the order: threads add up the cells of equal
// scores from the last cell to the first, and then one thread adds up these sums.
struct WeightedRows {
    using U2 = double;
    template <class T>
    using Amounts = Sums;

    double weight(std::size_t column, std::size_t i) const { return (*cells.weights)[column * cells.scores.size + i]; }
    template <class T>
    Sums at(std::size_t i) const { return {weight(0, i), weight(1, i), weight(2, i)}; }
    template <class T>
    Rank<Sums> rank(std::size_t i) const { return {sums.span()[ties.span()[i]], sums.span()[ties.span()[i] + 1]}; }
    Sides squares(std::size_t i) const { return {weight(2, i), weight(3, i)}; }
    Sums rank_cells(std::size_t n_threads) {
        const std::size_t n = cells.scores.size;
        ties = Buffer<std::size_t>(n);
        sums = Buffer<Sums>(n + 1);  // of the cells below each distinct score
        std::fill_n(sums.span().data, n + 1, Sums{0, 0, 0});
        const auto write = [&](std::size_t i, std::uint64_t tie, std::uint64_t) {
            ties[i] = tie;
            sums[tie + 1].add(at<double>(i));
        };
        const auto starts = cumulate(
            cells.scores, {}, 1, n_threads, [](std::size_t i) { return i; },
            [](std::size_t, bool is_tied) { return !is_tied; }, write);
        const std::size_t n_ties = std::size_t(starts[1]);
        for (std::size_t tie = 0; tie < n_ties; ++tie) sums[tie + 1].add(sums[tie]);
        return sums[n_ties];
    }

    CellsView<std::uint32_t> cells;
    Buffer<std::size_t> ties{};
    Buffer<Sums> sums{};
};

// Sums over the rows of a group, from their placement values
struct GroupSums {
    Sides half, mean, once{0, 0}, squared{0, 0};
    double comparisons = 0, comparisons_squared = 0;

    // Return the deviations of the placement values of a cell.
    template <class Amounts>
    INLINE Sides add(const Rank<Amounts>& rank, Sides squares) {
        const auto &under = rank.under, &up_to = rank.up_to;
        const Sides twice{under.positives + up_to.positives, under.negatives + up_to.negatives};
        const Sides deviation = twice * half - mean;
        once += squares * deviation;
        squared += squares * (deviation * deviation);
        // Comparisons of positives with negatives, where ties count one half or one quarter
        const double lower = under.squared_negatives(), tied = up_to.squared_negatives() - lower;
        comparisons += squares.p * (lower + tied / 2.0);
        comparisons_squared += squares.p * (lower + tied / 4.0);
        return deviation;
    }
};

// Count pairs, or add up placement values within the group, or also among all rows.
enum class Task { pairs, within, among_all };

// Return sums by group, as `skfedauc._kernel` lists them: the bits of the values of U2, and floats.
template <Task task, class Rows>
std::pair<Buffer<std::uint64_t>, Buffer<double>> placement_sums(Rows rows, std::size_t n_threads) {
    using U2 = typename Rows::U2;
    constexpr bool has_all = task == Task::among_all;
    constexpr std::size_t n_u2 = has_all ? 4 : 2, n_sums = task == Task::pairs ? 2 : has_all ? 16 : 8;
    const std::vector<std::size_t> places(rows.cells.starts.begin(), rows.cells.starts.end());
    const std::size_t n_groups = places.size() - 1;
    typename Rows::template Amounts<U2> all_rows{};
    if constexpr (has_all) all_rows = rows.rank_cells(n_threads);
    Buffer<std::uint64_t> u2s(n_u2 * n_groups);
    Buffer<double> sums(n_sums * n_groups);
    Workers workers(n_threads);
    in_stretches(workers, places, [&](std::size_t group, std::size_t) {
        // `see(i, amounts, own, all)` gets the ranks of a cell within the group and among all rows.
        const auto visit = [&](auto zero, auto see) {
            using T = decltype(zero);
            typename Rows::template Amounts<T> up_to{};
            for (std::size_t i = places[group]; i < places[group + 1]; ++i) {
                const auto amounts = rows.template at<T>(i);
                const auto under = up_to;
                up_to.add(amounts);
                const Rank<typename Rows::template Amounts<T>> own{under, up_to};
                if constexpr (has_all) see(i, amounts, own, rows.template rank<T>(i));
                else see(i, amounts, own, own);
            }
            return up_to;
        };
        U2 u2[4] = {};
        const auto add_pairs = [](U2* of, const auto& amounts, const auto& rank) {
            of[0] += amounts.negatives * (rank.under.positives + rank.up_to.positives);
            of[1] += amounts.positives * (rank.under.negatives + rank.up_to.negatives);
        };
        const auto total = visit(U2(0), [&](std::size_t, const auto& amounts, const auto& own, const auto& all) {
            add_pairs(u2, amounts, own);
            if constexpr (has_all) add_pairs(u2 + 2, amounts, all);
        });
        for (std::size_t k = 0; k < n_u2; ++k) u2s[k * n_groups + group] = std::bit_cast<std::uint64_t>(u2[k]);
        std::size_t place = group;
        const auto write = [&](double sum) { sums[std::exchange(place, place + n_groups)] = sum; };
        write(double(total.negatives));
        write(double(total.positives));
        if constexpr (task == Task::pairs) return;
        const auto start = [&](const U2* of, const auto& others) {
            const auto half_over = [](auto whole) { return whole > 0 ? 0.5 / double(whole) : 0.0; };
            const Sides half{half_over(others.positives), half_over(others.negatives)};
            const Sides once{2.0 * half_over(total.negatives), 2.0 * half_over(total.positives)};
            return GroupSums{half, Sides{double(of[0]), double(of[1])} * half * once};
        };
        GroupSums within = start(u2, total), among = start(u2 + 2, all_rows);
        Sides product{0, 0};
        visit(0.0, [&](std::size_t i, const auto&, const auto& own, const auto& all) {
            const Sides squares = rows.squares(i), deviation = within.add(own, squares);
            if constexpr (has_all) product += squares * (among.add(all, squares) * deviation);
        });
        const auto write_all = [&](const GroupSums& of) {
            for (double sum : {of.once.n, of.once.p, of.squared.n, of.squared.p, of.comparisons, of.comparisons_squared})
                write(sum);
        };
        write_all(within);
        if constexpr (has_all) {
            write_all(among);
            write(product.n);
            write(product.p);
        }
    });
    return {std::move(u2s), std::move(sums)};
}

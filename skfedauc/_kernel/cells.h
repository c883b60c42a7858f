// Cells: the distinct scores of each group, and how many rows have them.
#pragma once
#include "sorted.h"

// Cells of group g are starts[g] to starts[g + 1]. `weights` is empty, or has four columns: the
// weight of the negatives and of the positives, and their sums of squared weights.
template <class Count>
struct Cells {
    Buffer<std::int64_t> starts;
    Buffer<double> scores;
    Buffer<Count> negatives, positives;
    Buffer<double> weights;

    Cells(std::size_t n_groups, std::size_t n_cells, bool weighted)
        : starts(n_groups + 1), scores(n_cells), negatives(n_cells), positives(n_cells),
          weights(weighted ? 4 * n_cells : 0) {}
};

// Cells that belong to somebody else.
template <class Count>
struct CellsView {
    Span<const std::int64_t> starts;
    Span<const double> scores;
    Span<const Count> negatives, positives;
    Span<const double> weights;
};

// The rows that are passed in; `groups` is empty where there is one, `weights` where each row has 1.
template <class Float>
struct Rows {
    Span<const Float> scores;
    Span<const std::uint8_t> positive;
    Span<const std::int64_t> groups;
    Span<const double> weights;

    std::size_t group(std::size_t i) const { return groups.size ? std::size_t(groups[i]) : 0; }
};

inline void set_record(KeyOnly32& record, std::uint32_t key, const Rows<float>&, std::size_t) { record = {key}; }
inline void set_record(KeyOnly64& record, std::uint64_t key, const Rows<double>&, std::size_t) { record = {key}; }
inline void set_record(Weighted& record, std::uint64_t key, const Rows<double>& rows, std::size_t i) {
    record = {key, rows.weights[i]};
}

inline void add_up(std::vector<std::size_t>& numbers) {
    for (std::size_t i = 1; i < numbers.size(); ++i) numbers[i] += numbers[i - 1];
}

// Call `see(key, is_new, negative, positive, a, b)` for the records of two sorted runs in order of
// their keys. It gets a record of one class, or of each class where keys are equal: `negative`
// and `positive` tell of which, and a and b are these records. Without branches, which no processor
// predicts here.
template <class Record, class See>
void merge_classes(Span<Record> negatives, Span<Record> positives, See see) {
    using Key = decltype(Record::key);
    const Record *a = negatives.data, *end_a = a + negatives.size;
    const Record *b = positives.data, *end_b = b + positives.size;
    const Record none{};
    Key last = 0;
    bool begun = false;
    while (a < end_a && b < end_b) {
        const Key key = a->key <= b->key ? a->key : b->key;
        const bool negative = a->key == key, positive = b->key == key;
        see(key, !begun | (key != last), negative, positive, *a, *b);
        last = key;
        begun = true;
        a += negative;
        b += positive;
    }
    for (; a < end_a; last = a++->key, begun = true)
        see(a->key, !begun | (a->key != last), true, false, *a, none);
    for (; b < end_b; last = b++->key, begun = true)
        see(b->key, !begun | (b->key != last), false, true, none, *b);
}

// Where the cells of each piece begin and end, where there was room for more.
struct Gaps {
    std::vector<std::size_t> begins, ends;
    explicit Gaps(std::size_t n_pieces) : begins(n_pieces), ends(n_pieces) {}
};

// Move the cells of all pieces together, and tell where the cells of each group begin.
template <class Count, class FirstPiece>
void close_gaps(Cells<Count>& cells, const Gaps& gaps, FirstPiece first_piece) {
    std::vector<std::size_t> starts(gaps.begins.size() + 1);
    for (std::size_t piece = 0; piece < gaps.begins.size(); ++piece)
        starts[piece + 1] = starts[piece] + gaps.ends[piece] - gaps.begins[piece];
    const auto close = [&](auto& column, std::size_t n_columns) {
        const std::size_t room = column.size() / n_columns;
        auto* const data = column.span().data;
        for (std::size_t c = 0; c < n_columns; ++c)
            for (std::size_t piece = 0; piece < gaps.begins.size(); ++piece) {
                auto* const from = data + c * room + gaps.begins[piece];
                auto* const to = data + c * starts.back() + starts[piece];
                if (from != to) std::copy_n(from, gaps.ends[piece] - gaps.begins[piece], to);
            }
        column.shrink(n_columns * starts.back());
    };
    close(cells.scores, 1);
    close(cells.negatives, 1);
    close(cells.positives, 1);
    if (cells.weights.size()) close(cells.weights, 4);
    for (std::size_t group = 0; group < cells.starts.size(); ++group)
        cells.starts[group] = std::int64_t(starts[first_piece(group)]);
}

template <class Record, class Count, class Float>
Cells<Count> count_rows(Workers& workers, const Rows<Float>& rows, std::size_t n_groups) {
    constexpr bool weighted = std::is_same<Record, Weighted>::value;
    const std::size_t n = rows.scores.size;
    // The cells of a piece take the places of its rows, of which there are as many or more; their
    // scores the very memory, if a record is as large: pages that are touched first take time.
    Cells<Count> cells(n_groups, n, weighted);
    constexpr bool in_place = sizeof(Record) == sizeof(double);
    Buffer<Record> records(in_place ? 0 : n);
    const Span<Record> room = in_place ? Span<Record>{reinterpret_cast<Record*>(cells.scores.span().data), n}
                                       : records.span();
    Sorted<Record, 2> sorted(
        workers, room, n_groups, [&](std::size_t i) { return rows.group(i); },
        [&](std::size_t i) { return std::size_t(rows.positive[i] != 0); },
        [&](std::size_t i) {
            Record record;
            set_record(record, key_of(rows.scores[i]), rows, i);
            return record;
        });
    Gaps gaps(sorted.n_pieces());
    sorted.sort(workers, [&](std::size_t piece, const auto& runs) {
        const Span<double> scores = cells.scores.span(), weights = cells.weights.span();
        const Span<Count> of_negatives = cells.negatives.span(), of_positives = cells.positives.span();
        std::size_t end = sorted.place(piece);
        Count n_negatives = 0, n_positives = 0;
        double sums[4] = {0, 0, 0, 0};
        merge_classes(
            runs[0], runs[1], [&](auto key, bool is_new, bool negative, bool positive, const Record& a, const Record& b) {
                end += is_new;
                n_negatives = Count(is_new ? 0 : n_negatives) + negative;
                n_positives = Count(is_new ? 0 : n_positives) + positive;
                const double score = score_of(key);
                std::memcpy(&scores[end - 1], &score, sizeof score);  // the memory of records
                of_negatives[end - 1] = n_negatives;
                of_positives[end - 1] = n_positives;
                if constexpr (weighted) {
                    const double of_a = negative * a.weight, of_b = positive * b.weight;
                    const double amounts[4] = {of_a, of_b, of_a * of_a, of_b * of_b};
                    for (std::size_t column = 0; column < 4; ++column) {
                        sums[column] = (is_new ? 0 : sums[column]) + amounts[column];
                        weights[column * n + end - 1] = sums[column];
                    }
                }
            });
        gaps.begins[piece] = sorted.place(piece);
        gaps.ends[piece] = end;
    });
    close_gaps(cells, gaps, [&](std::size_t group) { return sorted.first_piece(group); });
    return cells;
}

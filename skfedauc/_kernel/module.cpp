// The functions that Python sees. Their arguments come checked from `skfedauc._kernel`.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "pairs.h"

namespace nb = nanobind;
template <class T>
using Column = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

// Python handles an interrupt only if it is asked to.
static void check_signals() {
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Borrow the memory of an array, which its owner keeps; None is a column without values.
template <class T>
static Span<const T> span(nb::handle array) {
    if (array.is_none()) return {nullptr, 0};
    const auto column = nb::cast<Column<T>>(array, false);
    return {column.data(), column.size()};
}

template <class Count>
static CellsView<Count> view(nb::handle cells) {
    return {span<std::int64_t>(cells[0]), span<double>(cells[1]), span<Count>(cells[2]),
            span<Count>(cells[3]), span<double>(cells[4])};
}

template <class T>
static nb::object array(Buffer<T>& buffer, std::size_t n_rows = 1) {
    const std::size_t shape[2] = {n_rows, buffer.size() / n_rows};
    T* data = buffer.release();
    nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, n_rows > 1 ? 2 : 1, shape + (n_rows == 1), owner));
}

template <class Count>
static nb::tuple as_tuple(Cells<Count> cells, bool weighted) {
    return nb::make_tuple(array(cells.starts), array(cells.scores), array(cells.negatives), array(cells.positives),
                          weighted ? array(cells.weights, 4) : nb::none());
}

// Run without Python's lock; `compute` gets the threads and returns cells.
template <class Compute>
static nb::tuple cells_by(std::size_t n_threads, bool weighted, Compute compute) {
    Workers workers(n_threads, check_signals);
    auto cells = [&] {
        nb::gil_scoped_release unlock;
        return compute(workers);
    }();
    return as_tuple(std::move(cells), weighted);
}

template <class Record, class Float>
static nb::tuple count(const Rows<Float>& rows, std::size_t n_groups, std::size_t n_threads) {
    const bool weighted = std::is_same<Record, Weighted>::value;
    if (rows.scores.size >> 32)
        return cells_by(n_threads, weighted, [&](Workers& workers) {
            return count_rows<Record, std::uint64_t>(workers, rows, n_groups);
        });
    return cells_by(n_threads, weighted, [&](Workers& workers) {
        return count_rows<Record, std::uint32_t>(workers, rows, n_groups);
    });
}

// Bytes, of which a Boolean array may hold others than 0 and 1.
static Span<const std::uint8_t> bytes(nb::handle booleans) {
    const auto column = span<bool>(booleans);
    return {reinterpret_cast<const std::uint8_t*>(column.data), column.size};
}

static nb::tuple py_count_rows(nb::handle scores, nb::handle positive, nb::handle groups, std::size_t n_groups,
                               nb::handle weights, std::size_t n_threads) {
    if (nb::isinstance<Column<float>>(scores))
        return count<KeyOnly32>(Rows<float>{span<float>(scores), bytes(positive), span<std::int64_t>(groups), {}},
                                n_groups, n_threads);
    const Rows<double> rows{span<double>(scores), bytes(positive), span<std::int64_t>(groups),
                            span<double>(weights)};
    return weights.is_none() ? count<KeyOnly64>(rows, n_groups, n_threads)
                             : count<Weighted>(rows, n_groups, n_threads);
}

// Call `compute(view, weighted)`, both of the type that the cells have.
template <class Compute>
static nb::tuple with_types(nb::handle cells, Compute compute) {
    const auto with_weights = [&](auto of_count) {
        return cells[4].is_none() ? compute(of_count, std::false_type()) : compute(of_count, std::true_type());
    };
    return nb::isinstance<Column<std::uint32_t>>(cells[2]) ? with_weights(std::uint32_t()) : with_weights(std::uint64_t());
}

static nb::tuple py_add_cells(nb::tuple cells, nb::handle groups, std::size_t n_groups) {
    return with_types(cells, [&](auto count, auto weighted) {
        const auto old = view<decltype(count)>(cells);
        const auto of_cell = span<std::int64_t>(groups);
        return cells_by(1, weighted, [&](Workers& workers) {
            return add_cells<weighted.value>(workers, old, of_cell, n_groups);
        });
    });
}

static nb::tuple py_merge_states(nb::list parts, nb::list numbers, std::size_t n_groups) {
    return with_types(parts[0], [&](auto count, auto weighted) {
        std::vector<CellsView<decltype(count)>> states;
        std::vector<Span<const std::int64_t>> groups;
        for (nb::handle part : parts) states.push_back(view<decltype(count)>(part));
        for (nb::handle of_part : numbers) groups.push_back(span<std::int64_t>(of_part));
        return cells_by(1, weighted, [&](Workers& workers) {
            return merge_states<weighted.value>(workers, states, groups, n_groups);
        });
    });
}

static nb::tuple py_number_cells(nb::handle scores, nb::handle groups, std::size_t n_groups) {
    const auto of_item = span<double>(scores);
    const auto of_group = span<std::int64_t>(groups);
    Buffer<std::int64_t> numbers(of_item.size), starts(n_groups + 1);
    {
        nb::gil_scoped_release unlock;
        Workers alone(1, check_signals);
        number_cells(alone, of_item, of_group, numbers.span(), starts.span());
    }
    return nb::make_tuple(array(numbers), array(starts));
}

static nb::tuple py_count_pairs(nb::tuple cells) {
    const std::size_t n_groups = span<std::int64_t>(cells[0]).size - 1;
    Buffer<std::int64_t> negatives(n_groups), positives(n_groups);
    Buffer<std::uint64_t> low(n_groups), high(n_groups);
    const auto counted = [&](const auto& cells) {
        nb::gil_scoped_release unlock;
        count_pairs(cells, negatives.span(), positives.span(), low.span(), high.span());
    };
    nb::isinstance<Column<std::uint32_t>>(cells[2]) ? counted(view<std::uint32_t>(cells))
                                                    : counted(view<std::uint64_t>(cells));
    return nb::make_tuple(array(negatives), array(positives), array(low), array(high));
}

static nb::object py_ranks_in_groups(nb::handle starts, nb::handle amounts) {
    const auto of_group = span<std::int64_t>(starts);
    const auto of_cell = span<double>(amounts);
    Buffer<double> ranks(of_cell.size);
    {
        nb::gil_scoped_release unlock;
        ranks_in_groups(of_group, of_cell, ranks.span());
    }
    return array(ranks);
}

static nb::object py_cross_pairs(nb::handle starts, nb::handle scores, nb::handle negatives, nb::handle positives,
                                 std::size_t n_threads) {
    const auto of_group = span<std::int64_t>(starts);
    const auto of_cell = span<double>(scores), n = span<double>(negatives), p = span<double>(positives);
    const std::size_t n_groups = of_group.size - 1;
    Buffer<double> u2(n_groups * n_groups);
    {
        nb::gil_scoped_release unlock;
        Workers workers(n_threads, check_signals);
        cross_pairs(workers, of_group, of_cell, n, p, u2.span());
    }
    return array(u2);
}

NB_MODULE(_compiled, module) {
    module.def("count_rows", &py_count_rows, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg());
    module.def("add_cells", &py_add_cells, nb::arg(), nb::arg().none(), nb::arg());
    module.def("merge_states", &py_merge_states);
    module.def("number_cells", &py_number_cells, nb::arg(), nb::arg().none(), nb::arg());
    module.def("count_pairs", &py_count_pairs);
    module.def("ranks_in_groups", &py_ranks_in_groups);
    module.def("cross_pairs", &py_cross_pairs);
}

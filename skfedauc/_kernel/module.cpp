// Functions for Python, whose arguments `skfedauc._kernel` checks.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "placements.h"
#include "sums.h"

namespace nb = nanobind;

// Transfer the memory of a buffer to an array.
template <class T>
static nb::object array(Buffer<T>& buffer, std::size_t n_rows = 1) {
    const std::size_t shape[2] = {n_rows, buffer.size() / n_rows};
    T* data = buffer.release();
    nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, n_rows > 1 ? 2 : 1, shape + (n_rows == 1), owner));
}

// Conversion of arguments and results by nanobind.
namespace nanobind::detail {

// The call borrows the memory of a contiguous array of this type.
template <class T>
struct type_caster<Span<const T>> {
    NB_TYPE_CASTER(Span<const T>, const_name("ndarray"))
    make_caster<ndarray<const T, c_contig, device::cpu>> array;

    bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
        if (!array.from_python(source, flags & ~std::uint8_t(cast_flags::convert), cleanup)) return false;
        value = {array.value.data(), array.value.size()};
        return true;
    }
};

template <class Count>
struct type_caster<CellsView<Count>> {
    using Columns = std::tuple<Integers, Doubles, Span<const Count>, Span<const Count>, std::optional<Doubles>>;
    NB_TYPE_CASTER(CellsView<Count>, const_name("Cells"))
    make_caster<Columns> columns;

    bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
        if (!columns.from_python(source, flags, cleanup)) return false;
        value = std::apply([](auto... column) { return CellsView<Count>{column...}; }, columns.operator Columns());
        return true;
    }
};

template <class T>
struct type_caster<Buffer<T>> {
    NB_TYPE_CASTER(Buffer<T>, const_name("ndarray"))
    static handle from_cpp(Buffer<T>&& buffer, rv_policy, cleanup_list*) { return array(buffer).release(); }
};

template <class Count>
struct type_caster<Cells<Count>> {
    NB_TYPE_CASTER(Cells<Count>, const_name("Cells"))
    static handle from_cpp(Cells<Count>&& cells, rv_policy, cleanup_list*) {
        return make_tuple(array(cells.starts), array(cells.scores), array(cells.negatives), array(cells.positives),
                          cells.weights ? array(*cells.weights, 4) : none()).release();
    }
};

}  // namespace nanobind::detail

void check_signals() {
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

template <class Float>
static auto py_count_rows(Span<const Float> scores, Span<const std::uint8_t> positive, Groups groups,
                          std::size_t n_groups, std::optional<Doubles> weights, std::size_t n_threads) {
    if constexpr (std::is_same_v<Float, double>)
        if (weights) return count_rows<true>(scores, positive, groups, n_groups, weights, n_threads);
    return count_rows<false>(scores, positive, groups, n_groups, weights, n_threads);
}

template <class Count>
static auto py_merge_states(std::array<CellsView<Count>, 2> states, std::array<Integers, 2> numbers,
                            std::size_t n_groups) {
    return states[0].weights ? merge_states<true>(states, numbers, n_groups)
                             : merge_states<false>(states, numbers, n_groups);
}

template <Task task>
static auto py_placement_sums(CellsView<std::uint32_t> cells, std::size_t n_threads) {
    return cells.weights ? placement_sums<task>(WeightedRows{cells}, n_threads)
                         : placement_sums<task>(UnitRows{cells}, n_threads);
}

NB_MODULE(_compiled, module) {
    const auto def = [&](const char* name, auto function) {
        module.def(name, function, nb::call_guard<nb::gil_scoped_release>());
    };
    module.attr("INTERFACE") = 7;  // `__init__.py` has the same number
    def("count_rows", &py_count_rows<double>);
    def("count_rows", &py_count_rows<float>);
    def("merge_states", &py_merge_states<std::uint32_t>);
    def("merge_states", &py_merge_states<std::uint64_t>);
    def("number_cells", &number_cells);
    def("placements", &placements);
    def("ranks_in_groups", &ranks_in_groups);
    def("cross_pairs", &cross_pairs);
    def("pair_sums", &py_placement_sums<Task::pairs>);
    def("sums_within", &py_placement_sums<Task::within>);
    def("sums_among_all", &py_placement_sums<Task::among_all>);
}

// Orders of vertices: breadth-first, depth-first, Cuthill-McKee, and those of `reorder_method`.
#include "graph/graph.hpp"

#include <algorithm>

namespace spargo::python {
namespace {

// `none`: the predecessor of vertices without one.
template <bool Depth, class I, class O>
nb::tuple order_from(const bound_graph<I, O, host>& g, std::int64_t source, std::int64_t none) {
  auto found = unlocked([&] {
    const auto ctx = threads_context(1);
    auto result = Depth ? dfs_order(ctx, g.view(), narrowed<I>(source)) : bfs_order(ctx, g.view(), narrowed<I>(source));
    if (none != -1) std::replace(result.predecessors.begin(), result.predecessors.end(), I{-1}, static_cast<I>(none));
    return result;
  });
  return nb::make_tuple(moved(std::move(found.order)), moved(std::move(found.predecessors)));
}

template <class I, class O>
nb::object order_by_degree(const bound_graph<I, O, host>& g, const vector_of<const I>& starts,
                           const vector_of<const std::int64_t>& degrees) {
  const cuthill_mckee_options<I> options{view(starts), view(degrees)};
  return moved(unlocked([&] { return cuthill_mckee(threads_context(1), g.view(), options); }));
}

// Of a square matrix's rows: by the graph of A + A^T, without loops, as the command has it. In memory of the arrays.
template <class I, class O, class Space>
nb::object reordered(std::int64_t n, const vector_in<O, Space>& offsets, const vector_in<I, Space>& indices,
                     std::string_view method, std::uint64_t seed, int threads) {
  const csr_view<const pattern, I, O, Space> a{{narrowed<I>(n), narrowed<I>(n), view(offsets), view(indices)}, {}};
  const auto wanted = choose<reorder_method>("method", method);
  const auto at = where_of(threads, offsets);
  return at.out(unlocked([&] {
    if (wanted == reorder_method::random) return random_order<I>(at.ctx, n, seed);
    const auto g = build_graph(at.ctx, to_coo(at.ctx, a), {.direction = direction_kind::undirected});
    if (wanted == reorder_method::degree) return degree_order(at.ctx, g.view());
    if constexpr (std::same_as<Space, host>) {
      if (wanted == reorder_method::rabbit) return rabbit_order(at.ctx, g.view());
    }
    return reverse_cuthill_mckee(at.ctx, g.view());
  }));
}

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_& m) {
  if constexpr (std::same_as<Space, host>) {
    bound.def("bfs_order", &order_from<false, I, O>, "source"_a, "none"_a = -1)
        .def("dfs_order", &order_from<true, I, O>, "source"_a, "none"_a = -1)
        .def("cuthill_mckee", &order_by_degree<I, O>, "starts"_a.noconvert(), "degrees"_a.noconvert());
  }
  m.def("reorder", &reordered<I, O, Space>, "rows"_a, "offsets"_a.noconvert(), "indices"_a.noconvert(), "method"_a,
        "seed"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python

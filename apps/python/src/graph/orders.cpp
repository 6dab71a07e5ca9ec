// Orders of vertices: breadth-first, depth-first and Cuthill-McKee.
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

const graph_binding here{[]<class I, class O>(graph_class<I, O, host>& bound, nb::module_&) {
  bound.def("bfs_order", &order_from<false, I, O>, "source"_a, "none"_a = -1)
      .def("dfs_order", &order_from<true, I, O>, "source"_a, "none"_a = -1)
      .def("cuthill_mckee", &order_by_degree<I, O>, "starts"_a.noconvert(), "degrees"_a.noconvert());
}};

}  // namespace
}  // namespace spargo::python

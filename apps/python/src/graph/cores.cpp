// Core numbers.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound.def(
      "core_numbers",
      [](const bound_graph<I, O, Space>& g, std::string_view algorithm, int threads) {
        const cores_options options{.algorithm = parse_cores_algorithm(algorithm)};
        const auto at = g.at(threads);
        return at.out(unlocked([&] { return cores(at.ctx, g.view(), options); }).cores);
      },
      "algorithm"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python

// Trusses.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound.def(
      "trusses",
      [](const bound_graph<I, O, Space>& g, std::int64_t k, std::string_view algorithm, int threads) {
        const trusses_options options{.algorithm = parse_trusses_algorithm(algorithm), .k = k};
        const auto at = g.at(threads);
        auto found = unlocked([&] { return trusses(at.ctx, g.view(), options); });
        return nb::make_tuple(at.out(std::move(found.sources)), at.out(std::move(found.targets)),
                              at.out(std::move(found.numbers)), found.max_k, to_string(found.algorithm));
      },
      "k"_a, "algorithm"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python

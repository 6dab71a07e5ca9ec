// Spanning forests.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    bound.def(
        "spanning_forest",
        [](const bound_graph<I, O, Space>& g, const vector_in<W, Space>& weights, std::string_view algorithm,
           bool maximum, bool ignore_nan, int threads) {
          const forest_options options{.algorithm = parse_forest_algorithm(algorithm),
                                       .objective = maximum ? forest_objective::maximum : forest_objective::minimum,
                                       .nan = ignore_nan ? nan_weights::ignore : nan_weights::refuse};
          const auto at = g.at(threads);
          auto found = unlocked([&] { return forest(at.ctx, weighted_view<W>(g, weights), options); });
          return nb::make_tuple(at.out(std::move(found.sources)), at.out(std::move(found.targets)),
                                at.out(std::move(found.weights)), found.total_weight, found.trees,
                                to_string(found.algorithm));
        },
        "weights"_a.noconvert(), "algorithm"_a, "maximum"_a, "ignore_nan"_a, "threads"_a);
  });
}};

}  // namespace
}  // namespace spargo::python

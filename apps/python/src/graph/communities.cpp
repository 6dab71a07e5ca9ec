// Communities.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

template <class W, class Space>
struct weights_or_none {
  using type = vector_in<W, Space>;
};
template <class Space>
struct weights_or_none<void, Space> {
  using type = bool;
};

// (labels, count, rounds, modularity, levels), with weights or without (W is void, and they are False).
template <class W, class I, class O, class Space>
void bind_communities_of(graph_class<I, O, Space>& bound) {
  using weights_in = typename weights_or_none<W, Space>::type;
  bound.def(
      "communities",
      [](const bound_graph<I, O, Space>& g, [[maybe_unused]] const weights_in& weights, std::string_view method,
         std::string_view objective, double resolution, double tolerance, std::int64_t max_levels, std::uint64_t seed,
         std::int64_t iterations, const vector_in<I, Space>& initial, std::string_view algorithm, int threads) {
        const communities_options options{.method = choose<communities_method>("method", method),
                                          .algorithm = parse_communities_algorithm(algorithm),
                                          .iterations = iterations,
                                          .objective = choose<communities_objective>("objective", objective),
                                          .resolution = resolution,
                                          .tolerance = tolerance,
                                          .max_levels = max_levels,
                                          .seed = seed};
        const auto at = g.at(threads);
        auto found = unlocked([&] {
          if constexpr (std::is_void_v<W>) {
            return communities(at.ctx, g.view(), options, view(initial));
          } else {
            return communities(at.ctx, weighted_view<W>(g, weights), options, view(initial));
          }
        });
        return nb::make_tuple(at.out(std::move(found.labels)), found.count, found.rounds, found.modularity,
                              found.levels);
      },
      "weights"_a.noconvert(), "method"_a, "objective"_a, "resolution"_a, "tolerance"_a, "max_levels"_a, "seed"_a,
      "iterations"_a, "initial"_a.noconvert(), "algorithm"_a, "threads"_a);
}

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() { bind_communities_of<W>(bound); });
  bind_communities_of<void>(bound);
}};

}  // namespace
}  // namespace spargo::python

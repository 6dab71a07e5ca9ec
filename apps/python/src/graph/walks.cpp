// Random walks, and samples of neighbours.
#include "graph/graph.hpp"

#include <nanobind/stl/vector.h>

namespace spargo::python {
namespace {

// The vertices of all walks, and how many walks there are. `starts`: none, from each vertex.
template <class Space, class I, class Run>
nb::object walks_of(const where<Space>& at, const std::optional<vector_in<I, Space>>& starts, const Run& run) {
  auto found = unlocked([&] { return starts ? run(view(*starts)) : run(); });
  return nb::make_tuple(at.out(std::move(found.vertices)), found.walks);
}

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  using starts_in = std::optional<vector_in<I, Space>>;
  bound.def(
      "random_walks",
      [](const bound_graph<I, O, Space>& g, const starts_in& starts, std::int64_t count, std::int64_t length, double p,
         double q, std::uint64_t seed, int threads) {
        const walks_options options{.walks = count, .length = length, .p = p, .q = q, .seed = seed};
        const auto at = g.at(threads);
        return walks_of<Space, I>(at, starts,
                                  [&](const auto&... from) { return walks(at.ctx, g.view(), from..., options); });
      },
      "starts"_a.none(), "count"_a, "length"_a, "p"_a, "q"_a, "seed"_a, "threads"_a);
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    bound.def(
        "weighted_random_walks",
        [](const bound_graph<I, O, Space>& g, const vector_in<W, Space>& weights, const starts_in& starts,
           std::int64_t count, std::int64_t length, double p, double q, std::uint64_t seed, int threads) {
          const walks_options options{.walks = count, .length = length, .p = p, .q = q, .seed = seed};
          const auto at = g.at(threads);
          return walks_of<Space, I>(at, starts, [&](const auto&... from) {
            return walks(at.ctx, weighted_view<W>(g, weights), from..., options);
          });
        },
        "weights"_a.noconvert(), "starts"_a.none(), "count"_a, "length"_a, "p"_a, "q"_a, "seed"_a, "threads"_a);
  });
  bound.def(
      "sample_neighbors",
      [](const bound_graph<I, O, Space>& g, const vector_in<I, Space>& seeds, const std::vector<std::int64_t>& fan_outs,
         bool replace, std::uint64_t seed, int threads) {
        const neighbor_sample_options options{
            .fan_outs = fan_outs,
            .replacement = replace ? sample_replacement::with : sample_replacement::without,
            .seed = seed};
        const auto at = g.at(threads);
        auto found = unlocked([&] { return sample_neighbors(at.ctx, g.view(), view(seeds), options); });
        return nb::make_tuple(at.out(std::move(found.nodes)), at.out(std::move(found.rows)),
                              at.out(std::move(found.cols)), at.out(std::move(found.edges)), found.nodes_of_hop,
                              found.edges_of_hop);
      },
      "seeds"_a.noconvert(), "fan_outs"_a, "replace"_a, "seed"_a, "threads"_a);
}};

}  // namespace
}  // namespace spargo::python

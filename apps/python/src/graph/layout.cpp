// ForceAtlas2.
#include "graph/pulled.hpp"

#include <spargo/graph/layout.hpp>

namespace spargo::python {
namespace {

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bound.def(
      "layout",
      [](const bound_graph<I, O, Space>& g, const std::optional<vector_in<double, Space>>& weights,
         std::int64_t iterations, const std::string& start, double jitter_tolerance, double scaling_ratio,
         double gravity, bool strong, bool linlog, bool dissuade_hubs, std::uint64_t seed,
         const std::optional<vector_in<double, Space>>& positions, int threads) {
        const auto at = g.at(threads);
        const layout_options options{.iterations = iterations,
                                     .start = parse_layout_start(start),
                                     .jitter_tolerance = jitter_tolerance,
                                     .scaling_ratio = scaling_ratio,
                                     .gravity = gravity,
                                     .attraction = linlog ? layout_attraction::logarithmic : layout_attraction::linear,
                                     .gravity_kind = strong ? layout_gravity::strong : layout_gravity::constant,
                                     .dissuades_hubs = dissuade_hubs,
                                     .seed = seed};
        const span<const double, Space> from = positions ? view(*positions) : span<const double, Space>{};
        auto found = unlocked([&] {
          return weights ? layout(at.ctx, pulled_view(g, *weights), options, from)
                         : layout(at.ctx, g.view(), options, from);
        });
        return at.out(std::move(found.positions));
      },
      "weights"_a.noconvert().none(), "iterations"_a, "start"_a, "jitter_tolerance"_a, "scaling_ratio"_a, "gravity"_a,
      "strong"_a, "linlog"_a, "dissuade_hubs"_a, "seed"_a, "positions"_a.noconvert().none(), "threads"_a);
}};

}  // namespace
}  // namespace spargo::python

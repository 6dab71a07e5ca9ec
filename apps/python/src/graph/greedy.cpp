// Greedy algorithms in an order of the vertices: colourings, independent sets, matchings.
#include "graph/graph.hpp"

#include <spargo/graph/bipartite_matching.hpp>
#include <spargo/graph/coloring.hpp>
#include <spargo/graph/independent_set.hpp>
#include <spargo/graph/matching.hpp>

namespace spargo::python {
namespace {

template <class Options>
[[nodiscard]] Options options_of(std::string_view order, std::uint64_t seed, std::string_view algorithm) {
  return {.algorithm = parse_greedy_algorithm(algorithm), .order = parse_greedy_order(order), .seed = seed};
}

// The members of a set, ascending.
template <class I, class Space>
[[nodiscard]] array<I, Space> vertices_of(const context<Space>& ctx, const array<std::uint8_t, Space>& members) {
  std::vector<I> chosen;
  const auto collect = [&](span<const std::uint8_t, host> states) {
    for (std::int64_t v = 0; v < states.size(); ++v) {
      if (states[v] == 1) chosen.push_back(static_cast<I>(v));
    }
  };
  if constexpr (std::same_as<Space, host>) {
    collect(members);
    return clone(ctx, chosen);
  } else {
    collect(to_host(ctx, members));
    return to_device(ctx, chosen);
  }
}

// Binds compute(ctx, view, options), which returns the values of vertices and how many there are.
template <class Options, class Bound, class Compute>
void bind(Bound& bound, const char* name, Compute compute) {
  bound.def(
      name,
      [compute](const typename Bound::Type& g, std::string_view order, std::uint64_t seed, std::string_view algorithm,
                int threads) {
        const auto options = options_of<Options>(order, seed, algorithm);
        const auto at = g.at(threads);
        auto [values, count] = unlocked([&] { return compute(at.ctx, g.view(), options); });
        return nb::make_tuple(at.out(std::move(values)), count);
      },
      "order"_a, "seed"_a, "algorithm"_a, "threads"_a);
}

const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_&) {
  bind<coloring_options>(bound, "coloring", [](const auto& ctx, const auto& g, const auto& options) {
    auto found = coloring(ctx, g, options);
    return std::pair(std::move(found.colors), std::int64_t{found.count});
  });
  bind<independent_set_options>(bound, "independent_set", [](const auto& ctx, const auto& g, const auto& options) {
    const auto found = independent_set(ctx, g, options);
    return std::pair(vertices_of<I>(ctx, found.members), found.size);
  });
  bind<matching_options>(bound, "matching", [](const auto& ctx, const auto& g, const auto& options) {
    auto found = matching(ctx, g, options);
    return std::pair(std::move(found.mates), found.size);
  });
  if constexpr (std::same_as<Space, host>) {
    bound.def("bipartite_matching", [](const bound_graph<I, O, host>& g) {
      auto found = unlocked([&] { return maximum_bipartite_matching(threads_context(1), g.view()); });
      return nb::make_tuple(moved(std::move(found.mates)), moved(std::move(found.cover)));
    });
  }
}};

}  // namespace
}  // namespace spargo::python

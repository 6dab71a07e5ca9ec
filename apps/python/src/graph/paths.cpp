// Paths between two vertices, lengths of pairs, distances from many vertices, and the k shortest simple paths.
#include "graph/graph.hpp"

#include <spargo/graph/bellman_ford.hpp>

#include <algorithm>

namespace spargo::python {
namespace {

template <class I>
nb::object numbers(const std::vector<I>& from) {
  array<I, host> to(threads_context(1), static_cast<std::int64_t>(from.size()));
  std::copy(from.begin(), from.end(), to.begin());
  return moved(std::move(to));
}

// A finder with the objects it borrows.
template <class W, class I, class O>
struct bound_finder {
  bound_finder(const bound_graph<I, O, host>& g, vector_in<W, host> w,
               std::optional<vector_of<const double>> coordinates, std::int64_t dimensions, std::string_view metric,
               double scale)
      : graph(g), weights(std::move(w)), at(std::move(coordinates)), finder(unlocked([&] {
          path_options options{
              .dimensions = dimensions, .metric = choose<path_metric>("metric", metric), .scale = scale};
          if (at) options.coordinates = python::view(*at);
          return path_finder<W, I, O>(threads_context(1), weighted_view<W>(graph, weights), options);
        })) {}

  bound_graph<I, O, host> graph;
  vector_in<W, host> weights;
  std::optional<vector_of<const double>> at;
  path_finder<W, I, O> finder;

  // (vertices, length, expanded)
  nb::tuple run(std::int64_t source, std::int64_t target) {
    const auto found = unlocked([&] { return finder.find(narrowed<I>(source), narrowed<I>(target)); });
    return nb::make_tuple(numbers(found.vertices), found.length, finder.expanded());
  }
};

template <class W, class I, class O>
nb::object lengths_of_pairs(const bound_graph<I, O, host>& g, const vector_in<W, host>& weights,
                            const vector_of<const I>& sources, const vector_of<const I>& targets, int threads) {
  return numbers(unlocked([&] {
    return path_lengths(threads_context(threads), weighted_view<W>(g, weights), view(sources), view(targets));
  }));
}

// [source * vertices + vertex]
template <class W, class I, class O>
nb::object rows_of_distances(const bound_graph<I, O, host>& g, const vector_in<W, host>& weights,
                             const vector_of<const I>& sources, int threads) {
  return moved(unlocked([&] {
    const auto ctx = threads_context(threads);
    const std::int64_t size = view(sources).size() * std::int64_t{g.view().vertices()};
    array<sssp_distance<W>, host> rows(ctx, size);
    all_distances<W, I, O>(ctx, weighted_view<W>(g, weights), view(sources),
                           size * std::int64_t{sizeof(sssp_distance<W>)},
                           [&](std::int64_t, span<const sssp_distance<W>, host> found) {
                             std::copy(found.begin(), found.end(), rows.begin());
                           });
    return rows;
  }));
}

// (distances, parents, reached, negative cycle) from some vertices, without sources from all
template <class W, class I, class O>
nb::tuple of_any_sign(const bound_graph<I, O, host>& g, const vector_in<W, host>& weights,
                      std::optional<vector_of<const I>> sources) {
  auto found = unlocked([&] {
    const auto view_of_all = weighted_view<W>(g, weights);
    return sources ? bellman_ford(threads_context(1), view_of_all, view(*sources))
                   : bellman_ford(threads_context(1), view_of_all);
  });
  return nb::make_tuple(moved(std::move(found.distances)), moved(std::move(found.parents)), found.reached,
                        moved(std::move(found.negative_cycle)));
}

// [(vertices, length), ...]
template <class W, class I, class O>
nb::list shortest_ones(const bound_graph<I, O, host>& g, const vector_in<W, host>& weights, std::int64_t source,
                       std::int64_t target, std::int64_t count) {
  const auto found = unlocked([&] {
    return k_shortest_paths(threads_context(1), weighted_view<W>(g, weights), narrowed<I>(source), narrowed<I>(target),
                            count);
  });
  nb::list paths;
  for (const auto& path : found) paths.append(nb::make_tuple(numbers(path.vertices), path.length));
  return paths;
}

const graph_binding here{[]<class I, class O>(graph_class<I, O, host>& bound, nb::module_& m) {
  bound.def("path_of_edges", [](const bound_graph<I, O, host>& g, std::int64_t source, std::int64_t target) {
    return numbers(unlocked(
        [&] { return shortest_path(threads_context(1), g.view(), narrowed<I>(source), narrowed<I>(target)); }));
  });
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    using finder = bound_finder<W, I, O>;
    nb::class_<finder>(m, name_in<host, W, I, O>("PathFinder").c_str())
        .def("run", &finder::run, "source"_a, "target"_a);
    bound
        .def(
            "path_finder",
            [](const bound_graph<I, O, host>& g, vector_in<W, host> weights,
               std::optional<vector_of<const double>> coordinates, std::int64_t dimensions, std::string_view metric,
               double scale) {
              return new finder(g, std::move(weights), std::move(coordinates), dimensions, metric, scale);
            },
            "weights"_a.noconvert(), "coordinates"_a.none(), "dimensions"_a, "metric"_a, "scale"_a)
        .def("bellman_ford", &of_any_sign<W, I, O>, "weights"_a.noconvert(), "sources"_a.none())
        .def("path_lengths", &lengths_of_pairs<W, I, O>, "weights"_a.noconvert(), "sources"_a.noconvert(),
             "targets"_a.noconvert(), "threads"_a)
        .def("distance_rows", &rows_of_distances<W, I, O>, "weights"_a.noconvert(), "sources"_a.noconvert(),
             "threads"_a)
        .def("k_shortest_paths", &shortest_ones<W, I, O>, "weights"_a.noconvert(), "source"_a, "target"_a, "count"_a);
  });
}};

}  // namespace
}  // namespace spargo::python

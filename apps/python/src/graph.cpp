// Graphs and their algorithms, on host and device. bind_on, near the end, lists the algorithms.
#include "graph.hpp"

#include <algorithm>

namespace spargo::python {
namespace {

// A plan with the objects it borrows. The Python code gives it to one thread at a time, and copies the results of a
// plan on a device before its next run.
template <class I, class O, class Space>
struct bfs_searcher {
  bfs_searcher(const bound_graph<I, O, Space>& g, const bfs_options& options, int threads)
      : graph(g),
        at(g.at(threads)),
        plan(unlocked([&] { return bfs_plan<I, O, Space>(at.ctx, graph.view(), options); })) {}

  bound_graph<I, O, Space> graph;  // shares the arrays
  where<Space> at;
  bfs_plan<I, O, Space> plan;

  // (levels, parents, reached, level_sizes, algorithm, reason)
  nb::tuple run(std::int64_t source) {
    const I from = narrowed<I>(source);
    unlocked([&] { plan.run(from); });
    return nb::make_tuple(at.out(plan.levels()), at.out(plan.parents()), plan.reached(), at.out(plan.level_sizes()),
                          to_string(plan.algorithm()), plan.reason());
  }
};

// The library's view; in an undirected graph in-edges are the out-edges.
template <class W, class I, class O, class Space>
struct sssp_searcher {
  sssp_searcher(const bound_graph<I, O, Space>& g, vector_in<W, Space> w, const sssp_options& options, int threads)
      : graph(g), weights(std::move(w)), at(g.at(threads)), plan(unlocked([&] {
          const weighted_graph_view<W, I, O, Space> weighted{
              {graph.view()}, view(weights), graph.view().has_in_edges() ? view(weights) : span<const W, Space>{}};
          return sssp_plan<W, I, O, Space>(at.ctx, weighted, options);
        })) {}

  bound_graph<I, O, Space> graph;
  vector_in<W, Space> weights;
  where<Space> at;
  sssp_plan<W, I, O, Space> plan;

  // (distances, parents, reached, algorithm, reason)
  nb::tuple run(std::int64_t source) {
    const I from = narrowed<I>(source);
    unlocked([&] { plan.run(from); });
    return nb::make_tuple(at.out(plan.distances()), at.out(plan.parents()), plan.reached(), to_string(plan.algorithm()),
                          plan.reason());
  }
};

// (levels [vertex * sources + k], reached, distance sums, eccentricities)
template <class I, class O, class Space>
nb::tuple multi_search(const bound_graph<I, O, Space>& g, const vector_of<const I>& sources, bool levels, int threads) {
  const auto at = g.at(threads);
  const where<host> here(threads);
  const multi_bfs_options options{.output = levels ? multi_bfs_output::counts_and_levels : multi_bfs_output::counts};
  auto found = unlocked([&] { return multi_bfs(at.ctx, g.view(), view(sources), options); });
  const auto n = static_cast<std::int64_t>(found.counts.size());
  array<std::int64_t, host> reached(here.ctx, n);
  array<std::int64_t, host> sums(here.ctx, n);
  array<std::int32_t, host> eccentricities(here.ctx, n);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto& counts = found.counts[static_cast<std::size_t>(k)];
    reached[k] = counts.reached;
    sums[k] = counts.distance_sum;
    eccentricities[k] = counts.eccentricity;
  }
  return nb::make_tuple(at.out(std::move(found.levels)), moved(std::move(reached)), moved(std::move(sums)),
                        moved(std::move(eccentricities)));
}

// Each algorithm's binding is a function of the space; bind_on lists them.
template <class I, class O, class Space>
using graph_class = nb::class_<bound_graph<I, O, Space>>;

template <class Space, class... T>
[[nodiscard]] std::string name_in(const std::string& name) {
  return name_with_types<T...>(std::same_as<Space, host> ? name : "Device" + name);
}

template <class I, class O, class Space>
void bind_bfs(graph_class<I, O, Space>& bound, nb::module_& m) {
  using searcher = bfs_searcher<I, O, Space>;
  nb::class_<searcher>(m, name_in<Space, I, O>("BfsPlan").c_str()).def("run", &searcher::run, "source"_a);
  bound.def(
      "bfs",
      [](const bound_graph<I, O, Space>& g, std::string_view algorithm, bool levels, bool parents,
         std::string_view which, std::int64_t target, std::int64_t max_depth, int threads) {
        const auto output =
            levels && parents ? bfs_output::levels_and_parents : (parents ? bfs_output::parents : bfs_output::levels);
        return new searcher(g,
                            {.algorithm = parse_bfs_algorithm(algorithm),
                             .output = output,
                             .parents = choose<bfs_parents>("parents", which),
                             .target = target,
                             .max_depth = max_depth},
                            threads);
      },
      "algorithm"_a, "levels"_a, "parents"_a, "which"_a, "target"_a, "max_depth"_a, "threads"_a);
}

template <class I, class O, class Space>
void bind_multi_bfs(graph_class<I, O, Space>& bound) {
  bound.def("multi_bfs", &multi_search<I, O, Space>, "sources"_a.noconvert(), "levels"_a, "threads"_a);
}

// `none`: the predecessor of vertices without one.
template <class I, class O>
nb::tuple order_from(const bound_graph<I, O, host>& g, std::int64_t source, std::int64_t none) {
  auto found = unlocked([&] {
    auto result = bfs_order(threads_context(1), g.view(), narrowed<I>(source));
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

template <class I, class O>
void bind_orders(graph_class<I, O, host>& bound) {
  bound.def("bfs_order", &order_from<I, O>, "source"_a, "none"_a = -1)
      .def("cuthill_mckee", &order_by_degree<I, O>, "starts"_a.noconvert(), "degrees"_a.noconvert());
}

template <class I, class O, class Space>
void bind_sssp(graph_class<I, O, Space>& bound, nb::module_& m) {
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    using searcher = sssp_searcher<W, I, O, Space>;
    nb::class_<searcher>(m, name_in<Space, W, I, O>("SsspPlan").c_str()).def("run", &searcher::run, "source"_a);
    bound.def(
        "sssp",
        [](const bound_graph<I, O, Space>& g, vector_in<W, Space> weights, std::string_view algorithm, bool parents,
           std::string_view which, std::int64_t target, double cutoff, double delta, int threads) {
          return new searcher(g, std::move(weights),
                              {.algorithm = parse_sssp_algorithm(algorithm),
                               .delta = delta,
                               .output = parents ? sssp_output::distances_and_parents : sssp_output::distances,
                               .parents = choose<sssp_parents>("parents", which),
                               .target = target,
                               .cutoff = cutoff},
                              threads);
        },
        "weights"_a.noconvert(), "algorithm"_a, "parents"_a, "which"_a, "target"_a, "cutoff"_a, "delta"_a, "threads"_a);
  });
}

template <class I, class O, class Space>
void bind_forest(graph_class<I, O, Space>& bound) {
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    bound.def(
        "spanning_forest",
        [](const bound_graph<I, O, Space>& g, const vector_in<W, Space>& weights, std::string_view algorithm,
           bool maximum, bool ignore_nan, int threads) {
          const forest_options options{.algorithm = parse_forest_algorithm(algorithm),
                                       .objective = maximum ? forest_objective::maximum : forest_objective::minimum,
                                       .nan = ignore_nan ? nan_weights::ignore : nan_weights::refuse};
          const weighted_graph_view<W, I, O, Space> weighted{{g.view()}, view(weights), view(weights)};
          const auto at = g.at(threads);
          auto found = unlocked([&] { return forest(at.ctx, weighted, options); });
          return nb::make_tuple(at.out(std::move(found.sources)), at.out(std::move(found.targets)),
                                at.out(std::move(found.weights)), found.total_weight, found.trees,
                                to_string(found.algorithm));
        },
        "weights"_a.noconvert(), "algorithm"_a, "maximum"_a, "ignore_nan"_a, "threads"_a);
  });
}

template <class I, class O, class Space>
void bind_components(graph_class<I, O, Space>& bound) {
  bound.def(
      "components",
      [](const bound_graph<I, O, Space>& g, std::string_view connection, std::string_view labels,
         std::string_view algorithm, int threads) {
        const components_options options{.connection = choose<components_connection>("connection", connection),
                                         .labels = choose<components_labels>("labels", labels),
                                         .algorithm = parse_components_algorithm(algorithm)};
        const auto at = g.at(threads);
        auto found = unlocked([&] { return components(at.ctx, g.view(), options); });
        return nb::make_tuple(at.out(std::move(found.labels)), found.count, to_string(found.algorithm));
      },
      "connection"_a, "labels"_a, "algorithm"_a, "threads"_a);
}

// None: all vertices.
template <class I>
betweenness_sources<I> sources_of(const std::optional<vector_of<const I>>& given) {
  if (!given.has_value()) return {};
  return view(*given);
}

template <class I, class O, class Space>
void bind_betweenness(graph_class<I, O, Space>& bound) {
  bound
      .def(
          "betweenness",
          [](const bound_graph<I, O, Space>& g, const std::optional<vector_of<const I>>& sources,
             std::string_view normalization, bool endpoints, std::string_view algorithm, int threads) {
            const betweenness_options options{
                .normalization = choose<betweenness_normalization>("normalization", normalization),
                .endpoints = endpoints ? betweenness_endpoints::included : betweenness_endpoints::excluded,
                .algorithm = parse_betweenness_algorithm(algorithm)};
            const auto at = g.at(threads);
            return at.out(unlocked([&] { return betweenness(at.ctx, g.view(), sources_of(sources), options); }).values);
          },
          "sources"_a.noconvert().none(), "normalization"_a, "endpoints"_a, "algorithm"_a, "threads"_a)
      .def(
          "edge_betweenness",
          [](const bound_graph<I, O, Space>& g, const std::optional<vector_of<const I>>& sources,
             std::string_view normalization, int threads) {
            const betweenness_options options{
                .normalization = choose<betweenness_normalization>("normalization", normalization),
                .edges = betweenness_edges::counted};
            const auto at = g.at(threads);
            return at.out(unlocked([&] { return betweenness(at.ctx, g.view(), sources_of(sources), options); }).edges);
          },
          "sources"_a.noconvert().none(), "normalization"_a, "threads"_a);
}

template <class I, class O, class Space>
void bind_triangles(graph_class<I, O, Space>& bound) {
  bound.def(
      "triangles",
      [](const bound_graph<I, O, Space>& g, bool links, std::string_view algorithm, int threads) {
        const triangles_options options{.output = links ? triangles_output::links : triangles_output::per_vertex,
                                        .algorithm = parse_triangles_algorithm(algorithm)};
        const auto at = g.at(threads);
        auto found = unlocked([&] { return triangles(at.ctx, g.view(), options); });
        return nb::make_tuple(found.total, at.out(std::move(found.per_vertex)), at.out(std::move(found.links)),
                              at.out(std::move(found.degrees)));
      },
      "links"_a, "algorithm"_a, "threads"_a);
}

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
            const weighted_graph_view<W, I, O, Space> weighted{
                {g.view()}, view(weights), g.view().has_in_edges() ? view(weights) : span<const W, Space>{}};
            return communities(at.ctx, weighted, options, view(initial));
          }
        });
        return nb::make_tuple(at.out(std::move(found.labels)), found.count, found.rounds, found.modularity,
                              found.levels);
      },
      "weights"_a.noconvert(), "method"_a, "objective"_a, "resolution"_a, "tolerance"_a, "max_levels"_a, "seed"_a,
      "iterations"_a, "initial"_a.noconvert(), "algorithm"_a, "threads"_a);
}

template <class I, class O, class Space>
void bind_communities(graph_class<I, O, Space>& bound) {
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() { bind_communities_of<W>(bound); });
  bind_communities_of<void>(bound);
}

template <class I, class O, class Space>
void bind_cores(graph_class<I, O, Space>& bound) {
  bound.def(
      "core_numbers",
      [](const bound_graph<I, O, Space>& g, std::string_view algorithm, int threads) {
        const cores_options options{.algorithm = parse_cores_algorithm(algorithm)};
        const auto at = g.at(threads);
        return at.out(unlocked([&] { return cores(at.ctx, g.view(), options); }).cores);
      },
      "algorithm"_a, "threads"_a);
}

// A plan with the objects it borrows, as for a search.
template <class V, class I, class O, class Space>
struct pagerank_ranker {
  pagerank_ranker(const bound_graph<I, O, Space>& g, const pagerank_options& options, int threads)
      : graph(g),
        at(g.at(threads)),
        plan(unlocked([&] { return pagerank_plan<V, I, O, Space>(at.ctx, graph.view(), options); })) {}

  // Over weights, of a graph without in-edges.
  pagerank_ranker(const bound_graph<I, O, host>& g, const vector_in<double, host>& weights,
                  const pagerank_options& options, int threads) requires std::same_as<Space, host>
      : graph(g), at(g.at(threads)), plan(unlocked([&] {
        weighted_graph_view<double, I, O, host> weighted{{graph.view()}, view(weights), {}};
        if (weighted.direction == direction_kind::undirected) {
          weighted.in_weights = weighted.out_weights;
        } else {
          in = transpose(at.ctx, csr_view<const double, I, O, host>{weighted.out, weighted.out_weights});
          weighted.in = std::as_const(in).view();
          weighted.in_weights = std::as_const(in).values().view();
        }
        return pagerank_plan<V, I, O, host>(at.ctx, weighted, options);
      })) {}

  bound_graph<I, O, Space> graph;
  csr_matrix<double, I, O, Space> in;  // over weights, of a directed graph
  where<Space> at;
  pagerank_plan<V, I, O, Space> plan;

  // (ranks, iterations, residual, converged, algorithm)
  nb::tuple run(const vector_in<V, Space>& personalization, const vector_in<V, Space>& guess) {
    unlocked([&] { plan.run(view(personalization), view(guess)); });
    return nb::make_tuple(at.out(plan.ranks()), plan.iterations(), plan.residual(), plan.converged(),
                          to_string(plan.algorithm()));
  }
};

template <class I, class O, class Space>
void bind_pagerank(graph_class<I, O, Space>& bound, nb::module_& m) {
  for_each_type<float, double>([&]<class V>() {
    using ranker = pagerank_ranker<V, I, O, Space>;
    nb::class_<ranker>(m, name_in<Space, V, I, O>("PagerankPlan").c_str())
        .def("run", &ranker::run, "personalization"_a.noconvert(), "guess"_a.noconvert());
  });
  // `weights`: none where each edge counts the same.
  bound.def(
      "pagerank",
      [](const bound_graph<I, O, Space>& g, const std::optional<vector_in<double, Space>>& weights,
         std::string_view dtype, double damping, double tolerance, std::string_view norm, std::int64_t max_iterations,
         std::int64_t iterations, std::string_view dangling, std::string_view algorithm, int threads) -> nb::object {
        const pagerank_options options{.algorithm = parse_pagerank_algorithm(algorithm),
                                       .damping = damping,
                                       .tolerance = tolerance,
                                       .norm = choose<pagerank_norm>("norm", norm),
                                       .max_iterations = max_iterations,
                                       .iterations = iterations,
                                       .dangling = choose<pagerank_dangling>("dangling", dangling)};
        const auto ranker = [&]<class V>() {
          if constexpr (std::same_as<Space, host>) {
            if (weights) return nb::cast(new pagerank_ranker<V, I, O, host>(g, *weights, options, threads));
          }
          return nb::cast(new pagerank_ranker<V, I, O, Space>(g, options, threads));
        };
        return dtype == "float32" ? ranker.template operator()<float>() : ranker.template operator()<double>();
      },
      "weights"_a.noconvert().none(), "dtype"_a, "damping"_a, "tolerance"_a, "norm"_a, "max_iterations"_a,
      "iterations"_a, "dangling"_a, "algorithm"_a, "threads"_a);
}

// The algorithms of a space, a line each. Graph's methods refuse those that a device lacks.
template <class I, class O, class Space>
void bind_on(graph_class<I, O, Space>& bound, nb::module_& m) {
  bind_bfs(bound, m);
  bind_multi_bfs(bound);
  bind_sssp(bound, m);
  bind_forest(bound);
  bind_components(bound);
  bind_pagerank(bound, m);
  bind_betweenness(bound);
  bind_triangles(bound);
  bind_communities(bound);
  bind_cores(bound);
  if constexpr (std::same_as<Space, host>) bind_orders(bound);
}

template <class I, class O, class Space>
nb::tuple graph_arrays(const where<Space>& at, graph<I, O, Space> built) {
  const auto owner = std::make_shared<graph<I, O, Space>>(std::move(built));
  const auto arrays = owner->view();
  return nb::make_tuple(at.out(arrays.out.offsets, owner), at.out(arrays.out.indices, owner), owner->loops());
}

// (offsets, indices, loops) or (offsets, indices, weights) of a canonical graph. Offsets have the indices' type if they
// fit.
template <class I, class Build>
nb::object built(std::int64_t pairs, Build&& build) {
  if (2 * pairs <= std::numeric_limits<I>::max()) return build.template operator()<I>();
  return build.template operator()<std::int64_t>();
}

template <class I, class Ends>
auto pairs_of(std::int64_t vertices, const Ends& sources, const Ends& targets) {
  using space = typename decltype(view(sources))::space;
  return coo_pattern_view<I, space>{narrowed<I>(vertices), narrowed<I>(vertices), view(sources), view(targets)};
}

constexpr direction_kind direction_of(bool directed) {
  return directed ? direction_kind::directed : direction_kind::undirected;
}

template <class I, class Space>
void bind_builder(nb::module_& m) {
  m.def(
      "build_graph",
      [](std::int64_t vertices, const vector_in<I, Space>& sources, const vector_in<I, Space>& targets, bool directed,
         int threads) {
        const auto at = where_of(threads, sources);
        const auto pairs = pairs_of<I>(vertices, sources, targets);
        return built<I>(pairs.nnz(), [&]<class O>() -> nb::object {
          return graph_arrays<I, O>(
              at, unlocked([&] {
                return build_graph<O>(at.ctx, pairs, {.direction = direction_of(directed), .loops = self_loops::keep});
              }));
        });
      },
      "vertices"_a, "sources"_a.noconvert(), "targets"_a.noconvert(), "directed"_a, "threads"_a);
}

template <class I>
void bind_weighted_builder(nb::module_& m) {
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    m.def(
        "build_weighted_graph",
        [](std::int64_t vertices, const vector_of<const I>& sources, const vector_of<const I>& targets,
           const vector_of<const W>& weights, bool directed, std::string_view duplicates, bool keep_loops,
           int threads) {
          const where<host> at(threads);
          const auto pairs = pairs_of<I>(vertices, sources, targets);
          const weighted_graph_options options{.direction = direction_of(directed),
                                               .duplicates = choose<duplicate_weights>("duplicates", duplicates),
                                               .loops = keep_loops ? self_loops::keep : self_loops::drop};
          return built<I>(pairs.nnz(), [&]<class O>() -> nb::object {
            const auto g = unlocked([&] { return build_weighted_graph<O>(at.ctx, pairs, view(weights), options); });
            const auto arrays = g.view();
            return nb::make_tuple(at.out(arrays.out.offsets), at.out(arrays.out.indices), at.out(arrays.out_weights));
          });
        },
        "vertices"_a, "sources"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.noconvert(), "directed"_a,
        "duplicates"_a, "keep_loops"_a, "threads"_a);
  });
}

template <class I, class Space>
void bind_local_clustering(nb::module_& m) {
  m.def(
      "local_clustering",
      [](const vector_in<std::int64_t, Space>& counts, const vector_in<I, Space>& degrees, bool links, int threads) {
        const auto kind = links ? clustering_counts::links : clustering_counts::triangles;
        const auto at = where_of(threads, counts);
        return at.out(unlocked([&] { return local_clustering<I>(at.ctx, view(counts), view(degrees), kind); }));
      },
      "counts"_a.noconvert(), "degrees"_a.noconvert(), "links"_a, "threads"_a);
}

// The row of each entry of a CSR pattern, which with the indices gives its pairs.
template <class I, class O>
void bind_rows(nb::module_& m) {
  m.def(
      "csr_rows",
      [](std::int64_t vertices, const device_vector<O>& offsets, const device_vector<I>& indices) {
        const I n = narrowed<I>(vertices);
        const csr_view<const pattern, I, O, device> matrix{{n, n, view(offsets), view(indices)}, {}};
        auto entries = unlocked([&] { return to_coo(offsets.at.ctx, matrix); });
        return offsets.at.out(std::move(entries.row_indices()));
      },
      "vertices"_a, "offsets"_a, "indices"_a);
}

template <class I, class O, class Space>
void bind_graph_of(nb::module_& m) {
  graph_class<I, O, Space> bound(m, name_in<Space, I, O>("Graph").c_str());
  m.def(
      "graph",
      [](vector_in<O, Space> offsets, vector_in<I, Space> indices, std::optional<vector_in<O, Space>> in_offsets,
         std::optional<vector_in<I, Space>> in_indices, bool undirected) {
        return new bound_graph<I, O, Space>(std::move(offsets), std::move(indices), std::move(in_offsets),
                                            std::move(in_indices), undirected);
      },
      "offsets"_a.noconvert(), "indices"_a.noconvert(), "in_offsets"_a.noconvert().none(),
      "in_indices"_a.noconvert().none(), "undirected"_a);
  bind_on(bound, m);
  if constexpr (std::same_as<Space, device>) bind_rows<I, O>(m);
}

}  // namespace

void bind_graph(nb::module_& m) {
  for_each_space([&]<class Space>() {
    for_each_index([&]<class I, class O>() { bind_graph_of<I, O, Space>(m); });
    for_each_type<std::int32_t, std::int64_t>([&]<class I>() {
      bind_builder<I, Space>(m);
      bind_local_clustering<I, Space>(m);
    });
  });
  for_each_type<std::int32_t, std::int64_t>([&]<class I>() {
    bind_weighted_builder<I>(m);
    m.def(
        "transitivity",
        [](std::int64_t total, const vector_of<const I>& degrees) { return transitivity<I>(total, view(degrees)); },
        "total"_a, "degrees"_a.noconvert());
  });
}

}  // namespace spargo::python

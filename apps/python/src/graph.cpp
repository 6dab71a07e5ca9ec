// Graphs and what is computed of them.
#include "arrays.hpp"

#include <nanobind/stl/optional.h>

#include <mutex>

namespace spargo::python {
namespace {

template <class T>
nb::object list_of(span<const T, host> values) {
  return copied<T>(threads_context(1), values);
}

// The arrays of a graph, which it keeps alive: out-edges, and in-edges where they are needed and there.
template <class I, class O>
class bound_graph {
 public:
  bound_graph(vector_of<const O> offsets, vector_of<const I> indices, std::optional<vector_of<const O>> in_offsets,
              std::optional<vector_of<const I>> in_indices, bool undirected)
      : offsets_(std::move(offsets)),
        indices_(std::move(indices)),
        in_offsets_(std::move(in_offsets)),
        in_indices_(std::move(in_indices)) {
    const I vertices = narrowed<I>(static_cast<std::int64_t>(offsets_.size()) - 1);
    view_.out = {vertices, vertices, python::view(offsets_), python::view(indices_)};
    view_.direction = undirected ? direction_kind::undirected : direction_kind::directed;
    if (undirected) {
      view_.in = view_.out;
    } else if (in_offsets_) {
      view_.in = {vertices, vertices, python::view(*in_offsets_), python::view(*in_indices_)};
    }
  }

  [[nodiscard]] const graph_view<I, O, host>& view() const { return view_; }

 private:
  vector_of<const O> offsets_;
  vector_of<const I> indices_;
  std::optional<vector_of<const O>> in_offsets_;
  std::optional<vector_of<const I>> in_indices_;
  graph_view<I, O, host> view_;
};

// A plan with what it borrows; Python's side hands it out to one thread at a time.
template <class I, class O>
struct bfs_searcher {
  bfs_searcher(const bound_graph<I, O>& g, const bfs_options& options, int threads)
      : graph(g),
        ctx(threads_context(threads)),
        plan(unlocked([&] { return bfs_plan<I, O, host>(ctx, graph.view(), options); })) {}

  bound_graph<I, O> graph;  // shares the arrays
  context<host> ctx;
  bfs_plan<I, O, host> plan;

  // (levels, parents, reached, level_sizes, algorithm, reason)
  nb::tuple run(std::int64_t source) {
    const I from = narrowed<I>(source);
    unlocked([&] { plan.run(from); });
    return nb::make_tuple(copied<std::int32_t>(ctx, plan.levels()), copied<I>(ctx, plan.parents()), plan.reached(),
                          list_of(plan.level_sizes()), to_string(plan.algorithm()), plan.reason());
  }
};

// Over out-edges; of an undirected graph the in-edges are the same.
template <class W, class I, class O>
struct sssp_searcher {
  sssp_searcher(const bound_graph<I, O>& g, vector_of<const W> w, const sssp_options& options, int threads)
      : graph(g), weights(std::move(w)), ctx(threads_context(threads)), plan(unlocked([&] {
          const weighted_graph_view<W, I, O, host> weighted{
              {graph.view()}, view(weights), graph.view().has_in_edges() ? view(weights) : span<const W, host>{}};
          return sssp_plan<W, I, O, host>(ctx, weighted, options);
        })) {}

  bound_graph<I, O> graph;
  vector_of<const W> weights;
  context<host> ctx;
  sssp_plan<W, I, O, host> plan;

  // (distances, parents, reached, algorithm, reason)
  nb::tuple run(std::int64_t source) {
    const I from = narrowed<I>(source);
    unlocked([&] { plan.run(from); });
    return nb::make_tuple(copied<sssp_distance<W>>(ctx, plan.distances()), copied<I>(ctx, plan.parents()),
                          plan.reached(), to_string(plan.algorithm()), plan.reason());
  }
};

// (levels [vertex * sources + k], reached, distance sums, eccentricities)
template <class I, class O>
nb::tuple multi_search(const bound_graph<I, O>& g, const vector_of<const I>& sources, bool levels, int threads) {
  const auto ctx = threads_context(threads);
  const multi_bfs_options options{.output = levels ? multi_bfs_output::counts_and_levels : multi_bfs_output::counts};
  auto found = unlocked([&] { return multi_bfs(ctx, g.view(), view(sources), options); });
  const auto n = static_cast<std::int64_t>(found.counts.size());
  array<std::int64_t, host> reached(ctx, n);
  array<std::int64_t, host> sums(ctx, n);
  array<std::int32_t, host> eccentricities(ctx, n);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto& counts = found.counts[static_cast<std::size_t>(k)];
    reached[k] = counts.reached;
    sums[k] = counts.distance_sum;
    eccentricities[k] = counts.eccentricity;
  }
  return nb::make_tuple(moved(std::move(found.levels)), moved(std::move(reached)), moved(std::move(sums)),
                        moved(std::move(eccentricities)));
}

// The vertices in the order of a queue, and each one's predecessor (`none` without): one thread, O(vertices + edges).
// What SciPy and networkx promise is this order, which a search by levels does not know.
template <class I, class O>
nb::tuple queue_order(const bound_graph<I, O>& g, std::int64_t source, std::int64_t none) {
  const auto& out = g.view().out;
  SPARGO_EXPECTS(source >= 0 && source < out.rows,
                 "bfs_order: vertex " + std::to_string(source) + " of a graph of " + std::to_string(out.rows));
  const auto ctx = threads_context(1);
  array<I, host> order(ctx, out.rows);
  array<I, host> predecessors(ctx, out.rows);
  unlocked([&] {
    std::fill(predecessors.begin(), predecessors.end(), I(-1));
    std::int64_t found = 0;
    order[found++] = static_cast<I>(source);
    predecessors[source] = static_cast<I>(source);
    for (std::int64_t next = 0; next < found; ++next) {
      if (next % 4096 == 0) interruption::look();
      const I u = order[next];
      for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
        const I v = out.indices[e];
        if (predecessors[v] >= 0) continue;
        predecessors[v] = u;
        order[found++] = v;
      }
    }
    predecessors[source] = I(-1);
    if (none != -1) std::replace(predecessors.begin(), predecessors.end(), I(-1), static_cast<I>(none));
    order.truncate(found);
  });
  return nb::make_tuple(moved(std::move(order)), moved(std::move(predecessors)));
}

constexpr std::pair<std::string_view, components_connection> connections[] = {
    {"weak", components_connection::weak}, {"strong", components_connection::strong}};
constexpr std::pair<std::string_view, components_labels> labellings[] = {
    {"dense", components_labels::dense},
    {"smallest_vertex", components_labels::smallest_vertex},
    {"sinks_first", components_labels::sinks_first}};
constexpr std::pair<std::string_view, bfs_parents> parent_choices[] = {{"any", bfs_parents::any},
                                                                       {"smallest", bfs_parents::smallest}};
constexpr std::pair<std::string_view, pagerank_norm> norms[] = {{"l1", pagerank_norm::l1},
                                                                {"linf", pagerank_norm::linf}};
constexpr std::pair<std::string_view, pagerank_dangling> danglings[] = {
    {"personalization", pagerank_dangling::personalization},
    {"uniform", pagerank_dangling::uniform},
    {"drop", pagerank_dangling::drop}};
constexpr std::pair<std::string_view, betweenness_normalization> normalizations[] = {
    {"none", betweenness_normalization::none},
    {"pairs", betweenness_normalization::pairs},
    {"maximum", betweenness_normalization::by_maximum}};

template <class I, class O>
void bind_searches(nb::class_<bound_graph<I, O>>& bound, nb::module_& m) {
  using graph = bound_graph<I, O>;
  nb::class_<bfs_searcher<I, O>>(m, name_with_types<I, O>("BfsPlan").c_str())
      .def("run", &bfs_searcher<I, O>::run, "source"_a);
  bound
      .def(
          "bfs",
          [](const graph& g, std::string_view algorithm, bool levels, bool parents, std::string_view which,
             std::int64_t target, std::int64_t max_depth, int threads) {
            const auto output = levels && parents ? bfs_output::levels_and_parents
                                                  : (parents ? bfs_output::parents : bfs_output::levels);
            return new bfs_searcher<I, O>(g,
                                          {.algorithm = parse_bfs_algorithm(algorithm),
                                           .output = output,
                                           .parents = choose("parents", which, parent_choices),
                                           .target = target,
                                           .max_depth = max_depth},
                                          threads);
          },
          "algorithm"_a, "levels"_a, "parents"_a, "which"_a, "target"_a, "max_depth"_a, "threads"_a)
      .def("multi_bfs", &multi_search<I, O>, "sources"_a.noconvert(), "levels"_a, "threads"_a)
      .def("bfs_order", &queue_order<I, O>, "source"_a, "none"_a = -1);
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    using searcher = sssp_searcher<W, I, O>;
    nb::class_<searcher>(m, name_with_types<W, I, O>("SsspPlan").c_str()).def("run", &searcher::run, "source"_a);
    bound.def(
        "sssp",
        [](const graph& g, vector_of<const W> weights, std::string_view algorithm, bool parents, std::string_view which,
           std::int64_t target, double cutoff, double delta, int threads) {
          constexpr std::pair<std::string_view, sssp_parents> choices[] = {{"any", sssp_parents::any},
                                                                           {"smallest", sssp_parents::smallest}};
          return new searcher(g, std::move(weights),
                              {.algorithm = parse_sssp_algorithm(algorithm),
                               .delta = delta,
                               .output = parents ? sssp_output::distances_and_parents : sssp_output::distances,
                               .parents = choose("parents", which, choices),
                               .target = target,
                               .cutoff = cutoff},
                              threads);
        },
        "weights"_a.noconvert(), "algorithm"_a, "parents"_a, "which"_a, "target"_a, "cutoff"_a, "delta"_a, "threads"_a);
  });
}

template <class I, class O>
void bind_analytics(nb::class_<bound_graph<I, O>>& bound) {
  using graph = bound_graph<I, O>;
  bound
      .def(
          "components",
          [](const graph& g, std::string_view connection, std::string_view labels, std::string_view algorithm,
             int threads) {
            const components_options options{.connection = choose("connection", connection, connections),
                                             .labels = choose("labels", labels, labellings),
                                             .algorithm = parse_components_algorithm(algorithm)};
            auto found = unlocked([&] { return components(threads_context(threads), g.view(), options); });
            return nb::make_tuple(moved(std::move(found.labels)), found.count, to_string(found.algorithm));
          },
          "connection"_a, "labels"_a, "algorithm"_a, "threads"_a)
      .def(
          "betweenness",
          [](const graph& g, const vector_of<const I>& sources, std::string_view normalization, bool endpoints,
             std::string_view algorithm, int threads) {
            const betweenness_options options{
                .normalization = choose("normalization", normalization, normalizations),
                .endpoints = endpoints ? betweenness_endpoints::included : betweenness_endpoints::excluded,
                .algorithm = parse_betweenness_algorithm(algorithm)};
            return moved(unlocked([&] {
                           return betweenness(threads_context(threads), g.view(), view(sources), options);
                         }).values);
          },
          "sources"_a.noconvert(), "normalization"_a, "endpoints"_a, "algorithm"_a, "threads"_a)
      .def(
          "edge_betweenness",
          [](const graph& g, const vector_of<const I>& sources, std::string_view normalization, int threads) {
            const betweenness_options options{.normalization = choose("normalization", normalization, normalizations),
                                              .edges = betweenness_edges::counted};
            return moved(unlocked([&] {
                           return betweenness(threads_context(threads), g.view(), view(sources), options);
                         }).edges);
          },
          "sources"_a.noconvert(), "normalization"_a, "threads"_a)
      .def(
          "triangles",
          [](const graph& g, bool links, std::string_view algorithm, int threads) {
            const triangles_options options{.output = links ? triangles_output::links : triangles_output::per_vertex,
                                            .algorithm = parse_triangles_algorithm(algorithm)};
            auto found = unlocked([&] { return triangles(threads_context(threads), g.view(), options); });
            return nb::make_tuple(found.total, moved(std::move(found.per_vertex)), moved(std::move(found.links)),
                                  moved(std::move(found.degrees)));
          },
          "links"_a, "algorithm"_a, "threads"_a)
      .def(
          "communities",
          [](const graph& g, std::int64_t iterations, const vector_of<const I>& initial, std::string_view algorithm,
             int threads) {
            const communities_options options{.algorithm = parse_communities_algorithm(algorithm),
                                              .iterations = iterations};
            auto found =
                unlocked([&] { return communities(threads_context(threads), g.view(), options, view(initial)); });
            return nb::make_tuple(moved(std::move(found.labels)), found.count, found.rounds);
          },
          "iterations"_a, "initial"_a.noconvert(), "algorithm"_a, "threads"_a);
  for_each_type<float, double>([&]<class V>() {
    bound.def(
        "pagerank",
        [](const graph& g, const vector_of<const V>& personalization, const vector_of<const V>& guess, double damping,
           double tolerance, std::string_view norm, std::int64_t max_iterations, std::int64_t iterations,
           std::string_view dangling, std::string_view algorithm, int threads) {
          const pagerank_options options{.algorithm = parse_pagerank_algorithm(algorithm),
                                         .damping = damping,
                                         .tolerance = tolerance,
                                         .norm = choose("norm", norm, norms),
                                         .max_iterations = max_iterations,
                                         .iterations = iterations,
                                         .dangling = choose("dangling", dangling, danglings)};
          auto found = unlocked([&] {
            return pagerank<V>(threads_context(threads), g.view(), options, view(personalization), view(guess));
          });
          return nb::make_tuple(moved(std::move(found.ranks)), found.iterations, found.residual, found.converged,
                                to_string(found.algorithm));
        },
        "personalization"_a.noconvert(), "guess"_a.noconvert(), "damping"_a, "tolerance"_a, "norm"_a,
        "max_iterations"_a, "iterations"_a, "dangling"_a, "algorithm"_a, "threads"_a);
  });
}

template <class I, class O>
nb::tuple graph_arrays(const graph_view<I, O, host>& g, const context<host>& ctx) {
  return nb::make_tuple(copied<O>(ctx, g.out.offsets), copied<I>(ctx, g.out.indices));
}

// (offsets, indices[, weights]) of a canonical graph. Offsets are of the indices' type where they fit.
template <class I, class Build>
nb::object built(std::int64_t pairs, Build&& build) {
  if (2 * pairs <= std::numeric_limits<I>::max()) return build.template operator()<I>();
  return build.template operator()<std::int64_t>();
}

template <class I>
coo_pattern_view<I, host> pairs_of(std::int64_t vertices, const vector_of<const I>& sources,
                                   const vector_of<const I>& targets) {
  return {narrowed<I>(vertices), narrowed<I>(vertices), view(sources), view(targets)};
}

constexpr direction_kind direction_of(bool directed) {
  return directed ? direction_kind::directed : direction_kind::undirected;
}

template <class I>
void bind_builders(nb::module_& m) {
  m.def(
      "build_graph",
      [](std::int64_t vertices, const vector_of<const I>& sources, const vector_of<const I>& targets, bool directed,
         int threads) {
        const auto ctx = threads_context(threads);
        const auto pairs = pairs_of<I>(vertices, sources, targets);
        return built<I>(pairs.nnz(), [&]<class O>() -> nb::object {
          const auto g = unlocked([&] { return build_graph<O>(ctx, pairs, {.direction = direction_of(directed)}); });
          return graph_arrays<I, O>(g.view(), ctx);
        });
      },
      "vertices"_a, "sources"_a.noconvert(), "targets"_a.noconvert(), "directed"_a, "threads"_a);
  for_each_type<std::int32_t, std::int64_t, float, double>([&]<class W>() {
    m.def(
        "build_weighted_graph",
        [](std::int64_t vertices, const vector_of<const I>& sources, const vector_of<const I>& targets,
           const vector_of<const W>& weights, bool directed, std::string_view duplicates, bool keep_loops,
           int threads) {
          constexpr std::pair<std::string_view, duplicate_weights> choices[] = {
              {"min", duplicate_weights::min}, {"sum", duplicate_weights::sum}, {"first", duplicate_weights::first}};
          const auto ctx = threads_context(threads);
          const auto pairs = pairs_of<I>(vertices, sources, targets);
          const weighted_graph_options options{.direction = direction_of(directed),
                                               .duplicates = choose("duplicates", duplicates, choices),
                                               .loops = keep_loops ? self_loops::keep : self_loops::drop};
          return built<I>(pairs.nnz(), [&]<class O>() -> nb::object {
            const auto g = unlocked([&] { return build_weighted_graph<O>(ctx, pairs, view(weights), options); });
            const auto arrays = g.view();
            return nb::make_tuple(copied<O>(ctx, arrays.out.offsets), copied<I>(ctx, arrays.out.indices),
                                  copied<W>(ctx, arrays.out_weights));
          });
        },
        "vertices"_a, "sources"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.noconvert(), "directed"_a,
        "duplicates"_a, "keep_loops"_a, "threads"_a);
  });
}

}  // namespace

void bind_graph(nb::module_& m) {
  for_each_index([&]<class I, class O>() {
    nb::class_<bound_graph<I, O>> bound(m, name_with_types<I, O>("Graph").c_str());
    m.def(
        "graph",
        [](vector_of<const O> offsets, vector_of<const I> indices, std::optional<vector_of<const O>> in_offsets,
           std::optional<vector_of<const I>> in_indices, bool undirected) {
          return new bound_graph<I, O>(std::move(offsets), std::move(indices), std::move(in_offsets),
                                       std::move(in_indices), undirected);
        },
        "offsets"_a.noconvert(), "indices"_a.noconvert(), "in_offsets"_a.noconvert().none(),
        "in_indices"_a.noconvert().none(), "undirected"_a);
    bind_searches(bound, m);
    bind_analytics(bound);
  });
  for_each_type<std::int32_t, std::int64_t>([&]<class I>() {
    bind_builders<I>(m);
    m.def(
        "local_clustering",
        [](const vector_of<const std::int64_t>& counts, const vector_of<const I>& degrees, bool links, int threads) {
          const auto kind = links ? clustering_counts::links : clustering_counts::triangles;
          return moved(unlocked(
              [&] { return local_clustering<I>(threads_context(threads), view(counts), view(degrees), kind); }));
        },
        "counts"_a.noconvert(), "degrees"_a.noconvert(), "links"_a, "threads"_a);
    m.def(
        "transitivity",
        [](std::int64_t total, const vector_of<const I>& degrees) { return transitivity<I>(total, view(degrees)); },
        "total"_a, "degrees"_a.noconvert());
  });
}

}  // namespace spargo::python

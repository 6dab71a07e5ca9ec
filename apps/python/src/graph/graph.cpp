// Graphs on host and device. Each algorithm on them is bound in a file of its own.
#include "graph/graph.hpp"

namespace spargo::python {
namespace {

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
  for (const auto& bind : bind_functions<I, O, Space>()) bind(bound, m);
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

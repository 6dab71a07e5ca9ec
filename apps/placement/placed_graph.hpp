// A graph on the host or on the device, where it was built; the host copies only the parts that it needs.
//
// Idea: a search on the GPU needs the graph only there. Parts are copied to the host on first use: the offsets to
// choose a source by its degree, the out-edges to check a result, the whole graph to search it on the host.
#pragma once

#include "cli/timing.hpp"
#include "input/read.hpp"
#include "placement/graph_command.hpp"

#include <spargo/core/threaded_copy.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace spargo::apps {

template <index_type I, index_type O>
class placed_graph {
 public:
  using index = I;

  explicit placed_graph(graph<I, O, host> built) : host_(std::move(built)), facts_(facts_of(host_)) {}
  // `home`: the host whose memory and threads receive the copies.
  placed_graph(const context<device>& gpu, const context<host>& home, graph<I, O, device> built)
      : gpu_(gpu), home_(home), device_(std::move(built)), facts_(facts_of(device_)) {}

  [[nodiscard]] const placed_graph& edges_only() const { return *this; }
  [[nodiscard]] I vertices() const { return facts_.vertices; }
  [[nodiscard]] std::int64_t edges() const { return facts_.edges; }
  [[nodiscard]] direction_kind direction() const { return facts_.direction; }
  [[nodiscard]] std::int64_t entries() const { return facts_.entries; }  // of the out-edges
  [[nodiscard]] std::int64_t bytes() const { return facts_.bytes; }      // on a device

  [[nodiscard]] bool is_on_device() const { return gpu_.has_value(); }
  // On the device only.
  [[nodiscard]] const context<device>& gpu() const { return *gpu_; }
  [[nodiscard]] graph_view<I, O, device> device_view() const { return device_.view(); }
  // Copies from the device.
  template <class T>
  [[nodiscard]] array<T, host> fetch(span<const T, device> from) const {
    return to_host_by_threads(*gpu_, from, *home_);
  }

  // Of the out-edges.
  [[nodiscard]] span<const O, host> offsets() const {
    if (!is_on_device()) return host_.view().out.offsets;
    if (out_.offsets.empty()) out_.offsets = fetch(device_.view().out.offsets);
    return std::as_const(out_.offsets).view();
  }
  // Without the in-edges of a directed graph.
  [[nodiscard]] graph_view<I, O, host> out_view() const {
    if (!is_on_device()) return host_.view();
    const csr_pattern_view<I, O, host> out = copy_rows(device_.view().out, out_);
    return {out, direction() == direction_kind::undirected ? out : csr_pattern_view<I, O, host>{}, direction(),
            device_.loops()};
  }
  [[nodiscard]] graph_view<I, O, host> view() const {
    graph_view<I, O, host> all = out_view();
    const graph_view<I, O, device> whole = device_.view();
    if (is_on_device() && direction() == direction_kind::directed && whole.has_in_edges()) {
      all.in = copy_rows(whole.in, in_);
    }
    return all;
  }

 private:
  struct facts {
    I vertices = 0;
    direction_kind direction = direction_kind::directed;
    std::int64_t edges = 0;
    std::int64_t entries = 0;
    std::int64_t bytes = 0;
  };
  struct part {
    array<O, host> offsets;
    array<I, host> indices;
  };

  template <class Space>
  static std::int64_t bytes_of(const csr_pattern_view<I, O, Space>& rows) {
    return rows.offsets.size() * std::int64_t{sizeof(O)} + rows.indices.size() * std::int64_t{sizeof(I)};
  }
  template <class Space>
  static facts facts_of(const graph<I, O, Space>& g) {
    const graph_view<I, O, Space> all = g.view();
    const bool mirrored = g.direction() == direction_kind::undirected;
    return {g.vertices(), g.direction(), g.edges(), all.out.nnz(),
            bytes_of(all.out) + (mirrored || !all.has_in_edges() ? 0 : bytes_of(all.in))};
  }

  csr_pattern_view<I, O, host> copy_rows(const csr_pattern_view<I, O, device>& from, part& to) const {
    if (to.offsets.empty()) to.offsets = fetch(from.offsets);
    if (to.indices.empty()) to.indices = fetch(from.indices);
    return {from.rows, from.cols, std::as_const(to.offsets).view(), std::as_const(to.indices).view()};
  }

  graph<I, O, host> host_;
  std::optional<context<device>> gpu_;
  std::optional<context<host>> home_;
  graph<I, O, device> device_;
  facts facts_;
  mutable part out_;
  mutable part in_;
};

// The same with edge weights.
template <detail::scalar W, index_type I, index_type O>
class placed_weighted_graph {
 public:
  using index = I;
  using weight = W;

  placed_weighted_graph(placed_graph<I, O> edges, array<W, host> weights)
      : edges_(std::move(edges)), host_(std::move(weights)) {}
  // Requires edges on the device.
  placed_weighted_graph(placed_graph<I, O> edges, array<W, device> weights)
      : edges_(std::move(edges)), device_(std::move(weights)) {}
  explicit placed_weighted_graph(weighted_graph<W, I, O, host> built)
      : placed_weighted_graph(std::move(built).take_apart()) {}
  placed_weighted_graph(const context<device>& gpu, const context<host>& home, weighted_graph<W, I, O, device> built)
      : placed_weighted_graph(gpu, home, std::move(built).take_apart()) {}

  [[nodiscard]] const placed_graph<I, O>& edges_only() const { return edges_; }
  [[nodiscard]] I vertices() const { return edges_.vertices(); }
  [[nodiscard]] std::int64_t edges() const { return edges_.edges(); }
  [[nodiscard]] direction_kind direction() const { return edges_.direction(); }
  [[nodiscard]] bool is_on_device() const { return edges_.is_on_device(); }
  // On the device only.
  [[nodiscard]] weighted_graph_view<W, I, O, device> device_view() const {
    return with(edges_.device_view(), device_.view());
  }
  // Without the in-edges of a directed graph.
  [[nodiscard]] weighted_graph_view<W, I, O, host> view() const {
    if (is_on_device() && host_.empty()) host_ = edges_.fetch(device_.view());
    return with(edges_.out_view(), std::as_const(host_).view());
  }

 private:
  template <class Space>
  using parts = typename weighted_graph<W, I, O, Space>::parts;
  explicit placed_weighted_graph(parts<host> of)
      : placed_weighted_graph(placed_graph<I, O>(std::move(of.structure)), std::move(of.out_weights)) {}
  placed_weighted_graph(const context<device>& gpu, const context<host>& home, parts<device> of)
      : placed_weighted_graph(placed_graph<I, O>(gpu, home, std::move(of.structure)), std::move(of.out_weights)) {}

  template <class Space>
  static weighted_graph_view<W, I, O, Space> with(const graph_view<I, O, Space>& edges, span<const W, Space> weights) {
    return {edges, weights, edges.direction == direction_kind::undirected ? weights : span<const W, Space>()};
  }

  placed_graph<I, O> edges_;
  mutable array<W, host> host_;
  array<W, device> device_;
};

using any_placed_graph =
    std::variant<placed_graph<std::int32_t, std::int32_t>, placed_graph<std::int32_t, std::int64_t>,
                 placed_graph<std::int64_t, std::int64_t>>;

// Integral weights become integers, 32-bit if sufficient; others stay doubles.
template <class W>
using any_offsets = std::variant<placed_weighted_graph<W, std::int32_t, std::int32_t>,
                                 placed_weighted_graph<W, std::int32_t, std::int64_t>,
                                 placed_weighted_graph<W, std::int64_t, std::int64_t>>;
using any_placed_weighted_graph =
    typename joined<any_offsets<std::int32_t>, any_offsets<std::int64_t>, any_offsets<double>>::type;

// For the report. Loops count if `loops` is keep.
template <class Graph>
[[nodiscard]] graph_facts facts_of(const Graph& g, self_loops loops) {
  graph_facts facts{std::int64_t{g.vertices()}, g.edges(), g.direction() == direction_kind::directed};
  if (loops == self_loops::keep) facts.loops = count_loops(g.edges_only().entries(), facts.edges, facts.directed);
  return facts;
}

// The size of a graph before a search; the command sets branching and workspace.
template <index_type I, index_type O>
[[nodiscard]] search_size size_of_graph(const placed_graph<I, O>& g) {
  search_size size;
  size.vertices = g.vertices();
  size.entries = g.entries();
  size.graph_bytes = g.bytes();
  size.directed = g.direction() == direction_kind::directed;
  size.resident = g.is_on_device();
  return size;
}
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] search_size size_of_graph(const placed_weighted_graph<W, I, O>& g) {
  search_size size = size_of_graph(g.edges_only());
  size.weight_bytes = sizeof(W);
  size.graph_bytes += size.entries * size.weight_bytes;
  return size;
}

// The out-degree of a vertex, as a function that borrows the graph.
template <index_type I, index_type O>
[[nodiscard]] auto out_degrees(const placed_graph<I, O>& g) {
  return [offsets = g.offsets()](std::int64_t v) { return std::int64_t{offsets[v + 1]} - offsets[v]; };
}

// The maximum number of new vertices from one vertex.
template <index_type I, index_type O>
[[nodiscard]] std::int64_t branching_of(const placed_graph<I, O>& g) {
  const auto degree = out_degrees(g);
  const std::int64_t back = g.direction() == direction_kind::undirected ? 1 : 0;  // the edge that a search came by
  std::int64_t most = 0;
  for (std::int64_t v = 0; v < std::int64_t{g.vertices()}; ++v) most = std::max(most, degree(v) - back);
  return most;
}

template <index_type I, index_type O>
[[nodiscard]] csr_matrix<pattern, I, O, device> upload(const context<device>& gpu, const context<host>& by,
                                                       const csr_pattern_view<I, O, host>& rows) {
  return {rows.rows,
          rows.cols,
          to_device_by_threads(gpu, rows.offsets, by),
          to_device_by_threads(gpu, rows.indices, by),
          {}};
}
template <index_type I, index_type O>
[[nodiscard]] graph<I, O, device> upload(const context<device>& gpu, const context<host>& by,
                                         const graph_view<I, O, host>& g) {
  const bool has_own_in_edges = g.direction == direction_kind::directed && g.has_in_edges();
  csr_matrix<pattern, I, O, device> in;
  if (has_own_in_edges) in = upload(gpu, by, g.in);
  return {upload(gpu, by, g.out), std::move(in), g.direction, g.loops};
}

template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] weighted_graph<W, I, O, device> upload(const context<device>& gpu, const context<host>& by,
                                                     const weighted_graph_view<W, I, O, host>& g) {
  const graph_view<I, O, host>& structure = g;
  graph<I, O, device> edges = upload(gpu, by, structure);
  const std::int64_t count = edges.edges();
  return {std::move(edges), to_device_by_threads(gpu, g.out_weights, by), {}, count};
}

// f(ctx, view) on the chosen backend; returns the time of the copy in milliseconds, 0 if the graph was built there. A
// weighted graph has no in-edges.
template <class Graph, class F>
double on_graph(const backend& where, const Graph& g, F&& f) {
  double upload_ms = 0;
  on_backend(where, [&]<class Space>(const context<Space>& ctx) {
    if constexpr (std::same_as<Space, host>) {
      f(ctx, g.view());
    } else if (g.is_on_device()) {
      f(ctx, g.device_view());
    } else {
      const stopwatch uploading;
      const auto uploaded = upload(ctx, where.cpu, g.view());
      upload_ms = uploading.milliseconds();
      f(ctx, uploaded.view());
    }
  });
  return upload_ms;
}

}  // namespace spargo::apps

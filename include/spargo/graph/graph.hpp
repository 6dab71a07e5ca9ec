// A graph for traversal: out-edges as a CSR pattern, and optional in-edges.
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class direction_kind { directed, undirected };

enum class self_loops { drop, keep };

// Borrowed. For an undirected graph `out` stores both directions, and `in` equals `out`. For a directed one `in` is the
// transposed pattern, or empty (in.offsets empty): then only push algorithms apply. Self-loops count for PageRank, an
// undirected one as one edge; other algorithms ignore them.
template <index_type I, index_type O, class Space>
struct SPARGO_EXPORT graph_view {
  csr_pattern_view<I, O, Space> out;
  csr_pattern_view<I, O, Space> in;
  direction_kind direction = direction_kind::directed;
  std::int64_t loops = 0;  // self-loops in `out`, as counted by build_graph

  using const_view = graph_view;

  [[nodiscard]] SPARGO_HD I vertices() const { return out.rows; }
  [[nodiscard]] SPARGO_HD bool has_in_edges() const { return !in.offsets.empty(); }
};

struct SPARGO_EXPORT graph_options {
  direction_kind direction = direction_kind::directed;  // undirected: each pair is stored both ways
  bool in_edges = false;                                // directed only: also build the transpose
  self_loops loops = self_loops::drop;                  // keep: an undirected loop is stored once
};

template <index_type I, index_type O, class Space>
class graph;

// Adds in-edges to a directed graph that lacks them; otherwise does nothing. O(edges + vertices).
template <index_type I, index_type O, class Space>
SPARGO_EXPORT void add_in_edges(const context<Space>& ctx, graph<I, O, Space>& g);

// Owning. Canonical: neighbours ascending, no duplicates, no self-loops unless kept.
template <index_type I, index_type O, class Space>
class graph {
 public:
  graph() = default;
  // Takes the arrays, unchecked. loops: self-loops among the out-edges.
  graph(csr_matrix<pattern, I, O, Space> out, csr_matrix<pattern, I, O, Space> in, direction_kind direction,
        std::int64_t loops = 0)
      : out_(std::move(out)), in_(std::move(in)), direction_(direction), loops_(loops) {}

  [[nodiscard]] I vertices() const noexcept { return out_.rows(); }
  [[nodiscard]] direction_kind direction() const noexcept { return direction_; }
  // Distinct edges without self-loops: directed ones, or unordered pairs.
  [[nodiscard]] std::int64_t edges() const noexcept {
    return (out_.nnz() - loops_) / (direction_ == direction_kind::undirected ? 2 : 1);
  }
  [[nodiscard]] std::int64_t loops() const noexcept { return loops_; }  // self-loops kept
  [[nodiscard]] graph_view<I, O, Space> view() const noexcept {
    const csr_pattern_view<I, O, Space> out = out_.view();
    if (direction_ == direction_kind::undirected) return {out, out, direction_, loops_};
    return {out, in_.view(), direction_, loops_};
  }
  // Not for temporaries: a plan would outlive them.
  operator graph_view<I, O, Space>() const& noexcept { return view(); }  // NOLINT
  operator graph_view<I, O, Space>() const&& = delete;

 private:
  friend void add_in_edges<I, O, Space>(const context<Space>& ctx, graph& g);

  csr_matrix<pattern, I, O, Space> out_;
  csr_matrix<pattern, I, O, Space> in_;
  direction_kind direction_ = direction_kind::directed;
  std::int64_t loops_ = 0;
};

// Builds a graph from pairs in any order: drops duplicates, drops loops unless they are kept, and mirrors each pair of
// an undirected graph. Throws invalid_argument unless rows == cols, invalid_data naming the first pair with an end that
// is not a vertex, unsupported when the edges exceed O (64 bits by default). O(edges + vertices) time; deterministic
// for any number of threads. Memory besides the pairs, result included: 24 bytes per pair (I = int32; 32 with int64)
// and three offsets per vertex; more beyond 2^32 vertices. A device build synchronizes. H200: 2^27 pairs, undirected,
// in 13 ms.
template <index_type O = std::int64_t, index_type I, class Space>
[[nodiscard]] SPARGO_EXPORT graph<I, O, Space> build_graph(const context<Space>& ctx,
                                                           const coo_pattern_view<I, Space>& edges,
                                                           const graph_options& options = {});
template <index_type O = std::int64_t, class Space, detail::viewable Edges>
[[nodiscard]] auto build_graph(const context<Space>& ctx, const Edges& edges, const graph_options& options = {}) {
  return build_graph<O>(ctx, detail::view_of(edges), options);
}

// Copies; both synchronize the stream.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, device> to_device(const context<device>& ctx, const graph_view<I, O, host>& g);
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT graph<I, O, host> to_host(const context<device>& ctx, const graph_view<I, O, device>& g);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

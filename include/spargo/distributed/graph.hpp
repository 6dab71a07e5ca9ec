// Graphs whose vertices are distributed over ranks. Operations: bfs.hpp, components.hpp, pagerank.hpp.
//
// All functions are collective; results are those of each rank's own vertices. An error of one rank is thrown on all
// (agreed_error). Vertices are numbered 0 to n-1; rank r owns [parts().first(r), parts().last(r)). I: their type.
#pragma once

#include <spargo/distributed/exchange.hpp>
#include <spargo/graph/graph.hpp>

#include <memory>
#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <index_type I, class Space = host>
class distributed_graph;

// Canonical like `graph`: neighbours ascending, no duplicates, no self-loops unless kept.
template <index_type I>
class SPARGO_EXPORT distributed_graph<I, host> {
 public:
  // From pairs: each rank passes its own share, in any order (see read_edge_list and generate_part). Vertices are
  // partitioned by pairs. Throws unsupported if the vertices do not fit I, invalid_argument unless rows == cols.
  // Memory: the share, and twice the entries of this rank's rows while sorting.
  distributed_graph(const communicator& comm, const context<host>& ctx,
                    const coo_pattern_view<std::int64_t, host>& share, const graph_options& options = {});

  [[nodiscard]] std::int64_t vertices() const noexcept { return parts_.size(); }
  [[nodiscard]] std::int64_t edges() const noexcept { return edges_; }  // of all ranks, counted as in graph::edges
  [[nodiscard]] direction_kind direction() const noexcept { return direction_; }
  [[nodiscard]] const partition& parts() const noexcept { return parts_; }

  // Rows of this rank's vertices; columns are global vertex numbers. `in` equals `out` for an undirected graph; for a
  // directed one it is empty unless in-edges were requested.
  [[nodiscard]] csr_pattern_view<I, std::int64_t, host> out() const noexcept { return out_.view(); }
  [[nodiscard]] csr_pattern_view<I, std::int64_t, host> in() const noexcept {
    return direction_ == direction_kind::undirected ? out_.view() : in_.view();
  }

 private:
  partition parts_;
  std::int64_t edges_ = 0;
  direction_kind direction_ = direction_kind::directed;
  csr_matrix<pattern, I, std::int64_t, host> out_;
  csr_matrix<pattern, I, std::int64_t, host> in_;
};

// The same with each rank's rows on its device. Copies share the rows.
template <index_type I>
class SPARGO_EXPORT distributed_graph<I, device> {
 public:
  // Copies a host graph. If not `in_edges`, the in-edges of a directed graph stay on the host. Synchronises.
  distributed_graph(const communicator& comm, const context<device>& ctx, const distributed_graph<I>& g,
                    bool in_edges = true);
  // Builds the graph of generate(spec) on the devices, with no pair on the host; equals, bit for bit, the graph built
  // from shares of those pairs. Every rank generates all pairs and keeps those in some of its rows, in rounds.
  // `scratch_bytes`: device memory for building (24 bytes per pair kept in a round); 0: half of what is free, divided
  // among the ranks on the device. Throws unsupported for kinds that devices cannot generate
  // (generator_info::on_device) and for more than 2^31 - 1 vertices. Memory: that of the rows with duplicates.
  // Synchronises.
  distributed_graph(const communicator& comm, const context<device>& ctx, std::string_view spec,
                    const graph_options& options = {}, std::int64_t scratch_bytes = 0);

  [[nodiscard]] std::int64_t vertices() const noexcept { return parts_.size(); }
  [[nodiscard]] std::int64_t edges() const noexcept { return edges_; }
  [[nodiscard]] direction_kind direction() const noexcept { return direction_; }
  [[nodiscard]] const partition& parts() const noexcept { return parts_; }
  [[nodiscard]] const csr_pattern_view<I, std::int64_t, device>& out() const noexcept { return out_; }
  [[nodiscard]] const csr_pattern_view<I, std::int64_t, device>& in() const noexcept {
    return direction_ == direction_kind::undirected ? out_ : in_;
  }

 private:
  template <class Make>
  void take_rows(const communicator& comm, const Make& make);

  partition parts_;
  std::int64_t edges_ = 0;
  direction_kind direction_ = direction_kind::directed;
  csr_pattern_view<I, std::int64_t, device> out_;
  csr_pattern_view<I, std::int64_t, device> in_;
  std::shared_ptr<const void> rows_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

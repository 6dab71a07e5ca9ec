// Graphs whose vertices are distributed over ranks: BFS, PageRank, weakly connected components, and their checks.
//
// All functions are collective; results are those of each rank's own vertices. An error of one rank is thrown on all
// (agreed_error). Vertices are numbered 0 to n-1 as in one process; rank r owns [parts().first(r), parts().last(r)). I:
// type of vertex numbers.
#pragma once

#include <spargo/distributed/exchange.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/pagerank.hpp>

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
  // from shares of those pairs. Every rank generates all pairs and keeps those in a subset of its rows, in rounds until
  // it has all its rows. `scratch_bytes`: device memory for building (24 bytes per pair kept in a round); 0: half of
  // what is free, divided among the ranks on the device. Throws unsupported for kinds that devices cannot generate
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

struct SPARGO_EXPORT distributed_bfs_options {  // see bfs_options
  bfs_direction direction = bfs_direction::automatic;
  bfs_parents parents = bfs_parents::any;
};

// Breadth-first search by levels. A small frontier is pushed: reached vertices are sent to their owners. A large one is
// pulled over a bitmap of all vertices, which every rank holds. All ranks take the same direction, by the rule of
// direction.hpp.
//
// Levels are deterministic. Host parents are the smallest neighbours one level nearer, for any number of ranks and
// threads, except in a grid of ranks (below). Device parents are any such neighbour. A host rank pushes with one thread
// and pulls with all. Directed graphs without in-edges are only pushed. Memory: 16 bytes per own vertex and half a byte
// per vertex of the graph; on a device, besides a copy of this rank's rows, also two indices per vertex of the graph.
//
// Grid: more than 16 host ranks on several machines form a grid, as square as the number of ranks allows. Each receives
// from its row and column only: O(n / sqrt(ranks)) bits per level instead of n. Each copies its share of the edges,
// twice if it may pull. Parents are then the same on every run with the same number of ranks. If the smallest parents
// are requested, or the number of ranks is prime, all ranks form one row.
//
// Persistent kernels: up to 8 ranks that are threads of one process with peer access run all levels in one kernel per
// GPU. If a device waits 2 s for another one, the search fails on all ranks with device_failure. After 8 narrow levels
// in a row the first rank's GPU continues alone while levels stay narrow; for that it gathers all rows once, if they
// take at most a quarter of its free memory. Otherwise, and with CUDA_LAUNCH_BLOCKING set, the host steps through the
// levels.
// environment, the host goes from level to level.
template <index_type I, class Space = host>
class SPARGO_EXPORT distributed_bfs_plan {
 public:
  // Borrows a host graph; devices copy it. Throws unsupported for a pull on a directed graph without in-edges, and for
  // the smallest parents on devices. `links`: for devices.
  distributed_bfs_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                       const distributed_bfs_options& options = {}, const exchange_options& links = {});
  // Shares the rows of a device graph.
  distributed_bfs_plan(const communicator& comm, const context<device>& ctx, const distributed_graph<I, device>& g,
                       const distributed_bfs_options& options = {},
                       const exchange_options& links = {}) requires std::same_as<Space, device>;
  distributed_bfs_plan(distributed_bfs_plan&&) noexcept;
  distributed_bfs_plan& operator=(distributed_bfs_plan&&) noexcept;
  ~distributed_bfs_plan();

  // Synchronises a device once, and twice more each time one GPU continues alone; in every level if the host steps.
  void run(std::int64_t source);

  // Results of the last run for this rank's vertices; -1: unreached.
  [[nodiscard]] span<const std::int32_t, Space> levels() const noexcept;
  [[nodiscard]] span<const I, Space> parents() const noexcept;
  [[nodiscard]] std::int64_t reached() const noexcept;  // by all ranks
  [[nodiscard]] span<const std::int64_t, host> level_sizes() const noexcept;
  [[nodiscard]] std::int64_t pulled_levels() const noexcept;
  [[nodiscard]] std::int64_t narrow_levels() const noexcept;  // run by the first rank's GPU alone
  [[nodiscard]] std::string_view how() const noexcept;        // transport of reached vertices
  [[nodiscard]] std::string_view steps() const noexcept;      // "stepped by the host" or "by one kernel on each GPU"

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// Checks Graph500's five rules (bfs_validate.hpp). Each rank sees only its own rows: levels of ghosts are exchanged,
// and each parent's owner looks for the edge. Returns an empty string, or one sentence that is the same on every rank.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_bfs(const communicator& comm, const context<host>& ctx,
                                                  const distributed_graph<I>& g, std::int64_t source,
                                                  span<const std::int32_t, host> levels,
                                                  std::type_identity_t<span<const I, host>> parents);
// Out-edges of all ranks' reached vertices. Synchronises.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::int64_t count_traversed(const communicator& comm, const context<device>& ctx,
                                                         const distributed_graph<I, device>& g,
                                                         span<const std::int32_t, device> levels);
// On the devices, each of which receives all levels and parents: 8 or 12 bytes per vertex of the graph. Synchronises.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_bfs(const communicator& comm, const context<device>& ctx,
                                                  const distributed_graph<I, device>& g, std::int64_t source,
                                                  span<const std::int32_t, device> levels,
                                                  std::type_identity_t<span<const I, device>> parents);

// Workspace for many runs of PageRank on one graph: Jacobi iteration (pagerank.hpp) from 1/n, without personalization.
// Sums over ranks: the same bits on every run with the same number of ranks.
template <index_type I, class Space>
class SPARGO_EXPORT distributed_pagerank_plan {
 public:
  // Borrows a host graph; a device plan copies this rank's rows in the form of options.copy. Throws unsupported for a
  // directed graph without in-edges, and for gauss_seidel. `links`: for devices.
  distributed_pagerank_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                            const pagerank_options& options = {}, const exchange_options& links = {});
  distributed_pagerank_plan(distributed_pagerank_plan&&) noexcept;
  distributed_pagerank_plan& operator=(distributed_pagerank_plan&&) noexcept;
  ~distributed_pagerank_plan();

  // Synchronises a device after each step.
  void run();

  // Results of the last run: `ranks` of this rank's vertices, the others of the whole graph.
  [[nodiscard]] span<const double, Space> ranks() const noexcept;
  [[nodiscard]] std::int64_t iterations() const noexcept;
  [[nodiscard]] double residual() const noexcept;
  [[nodiscard]] bool converged() const noexcept;
  [[nodiscard]] std::string_view how() const noexcept;  // transport of contributions

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// A plan that is used once.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT pagerank_result<double, host> distributed_pagerank(const communicator& comm,
                                                                               const context<host>& ctx,
                                                                               const distributed_graph<I>& g,
                                                                               const pagerank_options& options = {});
// One more step, pushed along out-edges to their owners, must change the ranks by at most the tolerance (or the last
// step, if that is more), and they must sum to 1 unless dangling rank is dropped. Returns an empty string if right.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_pagerank(const communicator& comm, const context<host>& ctx,
                                                       const distributed_graph<I>& g,
                                                       const pagerank_result<double, host>& found,
                                                       const pagerank_options& options = {});

// Workspace for many runs of weakly connected components on one undirected graph (unsupported for a directed one). A
// vertex's label is the smallest vertex of its component. Labels travel to neighbouring ranks in rounds: usually about
// logarithmically many, at most the length of a component's path over ranks.
template <index_type I, class Space>
class SPARGO_EXPORT distributed_components_plan {
 public:
  // Copies this rank's rows. `links`: for devices.
  distributed_components_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                              const exchange_options& links = {});
  distributed_components_plan(distributed_components_plan&&) noexcept;
  distributed_components_plan& operator=(distributed_components_plan&&) noexcept;
  ~distributed_components_plan();

  // Synchronises a device in each round.
  void run();

  // Results of the last run: `labels` of this rank's vertices, the others of the whole graph.
  [[nodiscard]] span<const I, Space> labels() const noexcept;
  [[nodiscard]] std::int64_t count() const noexcept;
  [[nodiscard]] std::int64_t rounds() const noexcept;
  [[nodiscard]] std::string_view how() const noexcept;  // transport of labels

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// Result of a plan that is used once.
template <index_type I>
struct distributed_components_result {
  array<I, host> labels;
  std::int64_t count = 0;  // of components
  std::int64_t rounds = 0;
};
template <index_type I>
[[nodiscard]] SPARGO_EXPORT distributed_components_result<I> distributed_components(const communicator& comm,
                                                                                    const context<host>& ctx,
                                                                                    const distributed_graph<I>& g);
// No edge may join two labels; each label must be the smallest vertex that has it; and a search from all labels at once
// must reach every vertex from its own label. Returns an empty string if right.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_components(const communicator& comm, const context<host>& ctx,
                                                         const distributed_graph<I>& g,
                                                         std::type_identity_t<span<const I, host>> labels);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

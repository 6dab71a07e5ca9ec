// Graphs whose vertices are shared out among ranks: breadth-first search, PageRank, weak components, and their checks.
//
// All functions are collective; results are each rank's own vertices'. What can fail on one rank throws the same error
// on all (agreed_error). Vertices have the same numbers as in one process: 0 to n-1, rank r has [parts().first(r),
// parts().last(r)). I is the type of these numbers.
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

// Canonical as `graph` is: neighbours ascending, no duplicates, no self-loops unless they were kept.
template <index_type I>
class SPARGO_EXPORT distributed_graph<I, host> {
 public:
  // Of pairs in shares, in any order, of which each rank gives its own (see read_edge_list and generate_part). Vertices
  // are shared out by pairs. Throws unsupported for more vertices than I holds, invalid_argument unless rows == cols.
  // Memory: the share, and twice the entries of this rank's rows while they are sorted.
  distributed_graph(const communicator& comm, const context<host>& ctx,
                    const coo_pattern_view<std::int64_t, host>& share, const graph_options& options = {});

  [[nodiscard]] std::int64_t vertices() const noexcept { return parts_.size(); }
  [[nodiscard]] std::int64_t edges() const noexcept { return edges_; }  // as graph::edges, of all ranks
  [[nodiscard]] direction_kind direction() const noexcept { return direction_; }
  [[nodiscard]] const partition& parts() const noexcept { return parts_; }

  // Rows of this rank's vertices, whose columns are numbers of all vertices. In-edges are those of an undirected
  // graph's vertices; of a directed one they are empty unless they were asked for.
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
  // Of a graph on the host, copied. Without in_edges a directed one's stay there. Synchronises.
  distributed_graph(const communicator& comm, const context<device>& ctx, const distributed_graph<I>& g,
                    bool in_edges = true);
  // Of the pairs that generate(spec) returns, made on the devices with no pair on the host: the graph that shares of
  // them make, bit by bit. Every rank makes all pairs and keeps those of some of its rows, round by round until it has
  // all of them. `scratch_bytes`: of the device's memory, while it builds (24 for a pair that is kept in a round); 0:
  // half of what is free, shared by the ranks on the device. Throws unsupported for kinds that devices do not make
  // (generator_info::on_device), and for more than 2^31 - 1 vertices. Memory: that of the rows with duplicates.
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

struct SPARGO_EXPORT distributed_bfs_options {  // as in bfs_options
  bfs_direction direction = bfs_direction::automatic;
  bfs_parents parents = bfs_parents::any;
};

// Breadth-first search, level by level: pushed where the frontier is small, as ids to their owners; pulled where it is
// large, over a bitmap of all vertices that every rank has. One decision for all ranks, by direction.hpp's rule.
// Levels are deterministic; so are parents on the host: the smallest neighbours one level nearer, whatever the ranks
// and threads, unless ranks stand in a grid. On devices any such neighbour is. A rank of the host pushes with one
// thread and pulls with all. Directed graphs without in-edges are only pushed. Memory: 16 bytes for a vertex of this
// rank, half a byte for each of all; on a device, which has a copy of this rank's rows besides, two indices for each of
// all.
//
// More than 16 ranks on several hosts stand in a grid, as near to a square as divides their number, unless they have
// devices: they hear of those in their row and column only, O(n / sqrt(ranks)) bits a level rather than n. Each copies
// its share of the edges, twice where it may pull. Parents are the same on every run with as many ranks, the smallest
// where they are asked for: then all ranks stand in one row, as they do where their number is a prime.
//
// Where up to 8 ranks are threads of one process whose devices address each other's memory, one kernel on each GPU
// walks all levels, and a device that another one has waited 2 s for ends the search on all ranks: device_failure.
// After 8 narrow levels in a row the first rank's GPU goes on alone, as long as they are; for that it gathers all
// rows, once, where they take at most a quarter of its free memory. Elsewhere, and with CUDA_LAUNCH_BLOCKING in the
// environment, the host goes from level to level.
template <index_type I, class Space = host>
class SPARGO_EXPORT distributed_bfs_plan {
 public:
  // Borrows the graph on the host; devices copy it. Throws unsupported for a pull on a directed graph without in-edges,
  // and for the smallest parents on devices. `links`: of devices.
  distributed_bfs_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                       const distributed_bfs_options& options = {}, const exchange_options& links = {});
  // Of rows that are on the devices, which it shares.
  distributed_bfs_plan(const communicator& comm, const context<device>& ctx, const distributed_graph<I, device>& g,
                       const distributed_bfs_options& options = {},
                       const exchange_options& links = {}) requires std::same_as<Space, device>;
  distributed_bfs_plan(distributed_bfs_plan&&) noexcept;
  distributed_bfs_plan& operator=(distributed_bfs_plan&&) noexcept;
  ~distributed_bfs_plan();

  // A device is synchronised once, and again each time that one GPU goes on alone and ends doing so; or in each level,
  // where the host goes from one to the next.
  void run(std::int64_t source);

  // Of the last run: of this rank's vertices, -1 where unreached.
  [[nodiscard]] span<const std::int32_t, Space> levels() const noexcept;
  [[nodiscard]] span<const I, Space> parents() const noexcept;
  [[nodiscard]] std::int64_t reached() const noexcept;  // of all ranks, as the next
  [[nodiscard]] span<const std::int64_t, host> level_sizes() const noexcept;
  [[nodiscard]] std::int64_t pulled_levels() const noexcept;
  [[nodiscard]] std::int64_t narrow_levels() const noexcept;  // walked by the first rank's GPU alone
  [[nodiscard]] std::string_view how() const noexcept;        // ranks hear of each other's vertices
  [[nodiscard]] std::string_view steps() const noexcept;      // "stepped by the host", or "by one kernel on each GPU"

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// Graph500's five rules (bfs_validate.hpp), without any rank seeing more of the graph than its own rows: levels of
// ghosts are exchanged, and each parent's owner is asked for the edge. Empty when right; else a sentence, the same on
// every rank.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_bfs(const communicator& comm, const context<host>& ctx,
                                                  const distributed_graph<I>& g, std::int64_t source,
                                                  span<const std::int32_t, host> levels,
                                                  std::type_identity_t<span<const I, host>> parents);
// Out-edges of all ranks' vertices that have a level. Synchronises.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::int64_t count_traversed(const communicator& comm, const context<device>& ctx,
                                                         const distributed_graph<I, device>& g,
                                                         span<const std::int32_t, device> levels);
// By the devices, each of which sees all levels and parents: 8 bytes or 12 for a vertex of all. Synchronises.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_bfs(const communicator& comm, const context<device>& ctx,
                                                  const distributed_graph<I, device>& g, std::int64_t source,
                                                  span<const std::int32_t, device> levels,
                                                  std::type_identity_t<span<const I, device>> parents);

// Workspace for many runs of PageRank on one graph, by Jacobi's iteration, as pagerank.hpp has it, from 1/n and without
// a personalization; on devices, too. Sums over ranks: the same bits on every run with as many ranks.
template <index_type I, class Space>
class SPARGO_EXPORT distributed_pagerank_plan {
 public:
  // A host's plan borrows the graph, a device's copies this rank's rows, in the form that options.copy says. Throws
  // unsupported for a directed graph without in-edges, and for gauss_seidel. `links`: of devices.
  distributed_pagerank_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                            const pagerank_options& options = {}, const exchange_options& links = {});
  distributed_pagerank_plan(distributed_pagerank_plan&&) noexcept;
  distributed_pagerank_plan& operator=(distributed_pagerank_plan&&) noexcept;
  ~distributed_pagerank_plan();

  // Synchronises a device after each step.
  void run();

  // Of the last run: of this rank's vertices; and of all.
  [[nodiscard]] span<const double, Space> ranks() const noexcept;
  [[nodiscard]] std::int64_t iterations() const noexcept;
  [[nodiscard]] double residual() const noexcept;
  [[nodiscard]] bool converged() const noexcept;
  [[nodiscard]] std::string_view how() const noexcept;  // the others' contributions come

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// One run: a plan that is used once.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT pagerank_result<double, host> distributed_pagerank(const communicator& comm,
                                                                               const context<host>& ctx,
                                                                               const distributed_graph<I>& g,
                                                                               const pagerank_options& options = {});
// One more step, pushed over the out-edges to their owners, changes the ranks by no more than the tolerance (or the
// last step, if that is more), and they sum to 1 unless dangling rank is dropped. Empty when right.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_pagerank(const communicator& comm, const context<host>& ctx,
                                                       const distributed_graph<I>& g,
                                                       const pagerank_result<double, host>& found,
                                                       const pagerank_options& options = {});

// Workspace for many runs of weak components on one graph; on devices, too. The label of a vertex is the smallest
// vertex of its component. Of undirected graphs (unsupported for others: build them so). O(log-like many) rounds of
// labels to neighbouring ranks, at most as many as a component's path between ranks is long.
template <index_type I, class Space>
class SPARGO_EXPORT distributed_components_plan {
 public:
  // Copies this rank's rows. `links`: of devices.
  distributed_components_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                              const exchange_options& links = {});
  distributed_components_plan(distributed_components_plan&&) noexcept;
  distributed_components_plan& operator=(distributed_components_plan&&) noexcept;
  ~distributed_components_plan();

  // Synchronises a device in each round.
  void run();

  // Of the last run: of this rank's vertices; and of all.
  [[nodiscard]] span<const I, Space> labels() const noexcept;
  [[nodiscard]] std::int64_t count() const noexcept;  // of components
  [[nodiscard]] std::int64_t rounds() const noexcept;
  [[nodiscard]] std::string_view how() const noexcept;  // ranks hear of each other's labels

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// One run: a plan that is used once.
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
// No edge joins two labels; every label is its own vertex' and no larger than any with it; and a search from all of
// them at once reaches every vertex by its own label. Empty when right.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_components(const communicator& comm, const context<host>& ctx,
                                                         const distributed_graph<I>& g,
                                                         std::type_identity_t<span<const I, host>> labels);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

// Breadth-first search over the ranks of a distributed graph, and the check of its result.
#pragma once

#include <spargo/distributed/graph.hpp>
#include <spargo/graph/bfs.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT distributed_bfs_options {  // see bfs_options
  bfs_direction direction = bfs_direction::automatic;
  bfs_parents parents = bfs_parents::any;
};

// Breadth-first search by levels. A small frontier is pushed: reached vertices are sent to their owners. A large one is
// pulled over a bitmap of all vertices that every rank holds. All ranks go the same way (direction.hpp).
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

  // Synchronises a device once, and twice more each time one GPU continues alone; in every level if the host steps.
  void run(std::int64_t source);

  // Results of the last run for this rank's vertices; -1: unreached.
  [[nodiscard]] span<const std::int32_t, Space> levels() const noexcept;
  [[nodiscard]] span<const I, Space> parents() const noexcept;
  [[nodiscard]] std::int64_t reached() const noexcept;  // by all ranks
  [[nodiscard]] span<const std::int64_t, host> level_sizes() const noexcept;
  [[nodiscard]] std::int64_t pulled_levels() const noexcept;
  [[nodiscard]] std::int64_t narrow_levels() const noexcept;  // run by the first rank's GPU alone
  [[nodiscard]] std::string reason() const;                   // one sentence about the distribution
  [[nodiscard]] std::string_view how() const noexcept;        // transport of reached vertices
  [[nodiscard]] std::string_view steps() const noexcept;      // "stepped by the host" or "by one kernel on each GPU"

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
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

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

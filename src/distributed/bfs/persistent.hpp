// Device searches by one persistent kernel where possible, level by level elsewhere.
#pragma once

#include "distributed/bfs/executor.hpp"
#include "distributed/exchange/device_channel.hpp"

#include <chrono>

namespace spargo::detail::distributed {

struct persistence {
  // Longest wait for another rank's device at a barrier; a level takes milliseconds at most.
  std::chrono::nanoseconds patience = std::chrono::seconds(2);
  int absent_rank = -1;  // a rank whose device stays away, for tests
  // Narrow levels before one GPU continues (narrow.cuh); 0: never. H200, two ranks, 300 x 300: 16: 0.96 ms, 8: 0.82.
  int narrow_levels = 8;
  std::int64_t whole_bytes = -1;  // memory limit for the gathered graph; -1: a quarter of the free memory
};

// Whether the blocks of all ranks on each device can be resident at once and store into all other ranks' memory. False
// with CUDA_LAUNCH_BLOCKING, which debuggers set. Collective.
template <class I>
[[nodiscard]] bool can_persist(const communicator& comm, const context<device>& ctx, const link_choice& choice);

// Collective; requires can_persist. A search throws device_failure if a rank has waited in vain; so do all later ones.
template <class I>
[[nodiscard]] std::unique_ptr<bfs_executor<I, device>> make_persistent_bfs(const communicator& comm,
                                                                           const context<device>& ctx,
                                                                           const distributed_graph<I, device>& g,
                                                                           const bfs_task& task, std::string_view how,
                                                                           const persistence& options = {});
template <class I>
[[nodiscard]] std::unique_ptr<bfs_executor<I, device>> make_stepped_bfs(const communicator& comm,
                                                                        const context<device>& ctx,
                                                                        const distributed_graph<I, device>& g,
                                                                        const bfs_task& task,
                                                                        const link_choice& choice);

}  // namespace spargo::detail::distributed

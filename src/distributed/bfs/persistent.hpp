// Searches on devices by a kernel that walks all levels, where that can be, and level by level elsewhere.
#pragma once

#include "distributed/bfs/executor.hpp"
#include "distributed/exchange/device_channel.hpp"

#include <chrono>

namespace spargo::detail::distributed {

struct persistence {
  // With another rank's device, at each meeting: a level takes milliseconds at most.
  std::chrono::nanoseconds patience = std::chrono::seconds(2);
  int left_out = -1;  // a rank whose device does not come, for tests
  // In a row, after which one GPU goes on alone (bfs_narrow.cuh); 0: it never does. H200, two ranks, grid of 300 x 300:
  // 0.96 ms with 16, 0.82 with 8.
  int narrow_levels = 8;
  std::int64_t whole_bytes = -1;  // that it may take for the whole graph; -1: a quarter of what is free
};

// Whether every rank's blocks can run at once beside those of the ranks on its device, and store into all others'
// memory. Not with CUDA_LAUNCH_BLOCKING, where a debugger may be at work. Collective.
template <class I>
[[nodiscard]] bool can_persist(const communicator& comm, const context<device>& ctx, const link_choice& choice);

// Collective, for ranks that can. A search throws device_failure where a rank has waited in vain, and so do all after.
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

// Device SSSP: the check of the weights, and the executors for 32-bit integers.
#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/frontier/row_of.hpp"
#include "graph/sssp/cuda_executor.cuh"
#include "graph/sssp/executor.hpp"

namespace spargo::detail::sssp {

namespace {

// Partial facts per block; sums have the same order on every run.
template <class W>
__global__ void __launch_bounds__(block_threads)
    examine_kernel(const W* weights, std::int64_t size, partial_facts* of_blocks) {
  __shared__ partial_facts of_warps[block_threads / warp_size];
  constexpr partial_facts nothing{};
  partial_facts mine = nothing;
  for (std::int64_t e = global_thread(); e < size; e += grid_threads()) {
    const W w = weights[e];
    if (!(w >= W{0})) {
      if (e < mine.offending) mine.offending = e;
      continue;
    }
    const auto weight = static_cast<double>(w);
    const bool finite = weight < std::numeric_limits<double>::infinity();
    if (weight < mine.smallest) mine.smallest = weight;
    if (weight > mine.largest) mine.largest = weight;
    if (finite) mine.sum += weight;
    mine.finite += finite ? 1 : 0;
  }
  mine = block_reduce(mine, of_warps, [](partial_facts a, const partial_facts& b) {
    a.add(b);
    return a;
  });
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = mine;
}

}  // namespace

template <class W, class I, class O>
weight_facts examine_weights(const context<device>& ctx, const csr_pattern_view<I, O, device>& edges,
                             span<const W, device> weights) {
  const device_guard guard(ctx);
  const unsigned blocks = blocks_for(ctx, weights.size(), block_threads);
  array<partial_facts, device> of_blocks(ctx, blocks);
  launch_kernel(ctx, {blocks, block_threads}, examine_kernel<W>, weights.data(), weights.size(), of_blocks.data());
  const auto parts = to_host(ctx, of_blocks.view());
  partial_facts all;
  for (const partial_facts& part : parts) all.add(part);
  if (all.offending < weights.size()) {
    refuse_weight<W>(row_of(ctx, edges, all.offending), element<I>(ctx, edges.indices, all.offending),
                     element<W>(ctx, weights, all.offending));
  }
  return facts_of(all);
}

#define INSTANTIATE_W(W, I, O)                                                                         \
  template weight_facts examine_weights(const context<device>&, const csr_pattern_view<I, O, device>&, \
                                        span<const W, device>);
#define INSTANTIATE(I, O)                                                                                  \
  SPARGO_FOR_EACH_WEIGHT(INSTANTIATE_W, I, O)                                                              \
  template std::unique_ptr<executor<std::int32_t, I, device>> make_executor(                               \
      const context<device>&, const weighted_graph_view<std::int32_t, I, O, device>&, const weight_facts&, \
      const sssp_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::sssp

// Walks on the device, one thread per walk: a step is a chain of dependent loads, whose latency many walks hide. A run
// is one kernel; making a plan waits for the checks of weights and starts.
#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "graph/frontier/edge_shares.cuh"
#include "graph/walks/executor.hpp"
#include "graph/walks/fixed_weights.hpp"
#include "primitives/element.hpp"

#include <utility>

namespace spargo::detail::walks {

namespace {

// --- The plan -------------------------------------------------------------

[[nodiscard]] array<count64, device> number_of(const context<device>& ctx, std::int64_t start) {
  array<count64, device> number(ctx, 1);
  for_each(ctx, 1, [start, to = number.data()] __device__(std::int64_t) { *to = static_cast<count64>(start); });
  return number;
}
// Synchronizes.
[[nodiscard]] std::int64_t fetch(const context<device>& ctx, const array<count64, device>& number) {
  return static_cast<std::int64_t>(element<count64>(ctx, number.view(), 0));
}

// The first of `size` numbers for which `holds`, or -1. Synchronizes.
template <class F>
[[nodiscard]] std::int64_t first_number(const context<device>& ctx, std::int64_t size, F holds) {
  auto first = number_of(ctx, size);
  for_each(ctx, size, [=, to = first.data()] __device__(std::int64_t k) {
    if (holds(k)) atomicMin(to, static_cast<count64>(k));
  });
  const std::int64_t found = fetch(ctx, first);
  return found < size ? found : -1;
}

constexpr std::int64_t order_share = 1024;  // edges per warp in the test for ascending rows

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    find_descent_kernel(const O* offsets, const I* indices, edge_range edges, count64* descends) {
  for_each_edge_in_share(
      offsets, edges, order_share, [](std::int64_t) {},
      [&](std::int64_t e, std::int64_t v) {
        if (e > static_cast<std::int64_t>(offsets[v]) && indices[e - 1] > indices[e]) *descends = 1;
      });
}

template <class I, class O>
[[nodiscard]] bool rows_ascend(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows) {
  if (rows.nnz() == 0) return true;
  const device_guard guard(ctx);
  auto descends = number_of(ctx, 0);
  launch_kernel(ctx, one_thread_each(div_up(rows.nnz(), order_share) * warp_size, block_threads),
                find_descent_kernel<I, O>, rows.offsets.data(), rows.indices.data(),
                edge_range{0, rows.rows, 0, rows.nnz()}, descends.data());
  return fetch(ctx, descends) == 0;
}

// A warp per row: the largest weight, then prefix sums of 32 entries at a time.
template <class W, class O>
__global__ void __launch_bounds__(block_threads)
    sum_rows_kernel(const O* offsets, const W* weights, std::int64_t rows, std::uint64_t* sums) {
  const int lane = lane_id();
  for (std::int64_t v = global_thread() / warp_size; v < rows; v += grid_threads() / warp_size) {
    const auto first = static_cast<std::int64_t>(offsets[v]);
    const auto last = static_cast<std::int64_t>(offsets[v + 1]);
    double largest = 0;
    for (std::int64_t e = first + lane; e < last; e += warp_size) {
      const auto weight = static_cast<double>(weights[e]);
      largest = largest < weight ? weight : largest;
    }
    largest = warp_reduce(largest, maximum{});
    const int scale = largest > 0 ? scale_of_row(largest, last - first) : 0;
    std::uint64_t before = 0;
    for (std::int64_t tile = first; tile < last; tile += warp_size) {
      const std::int64_t e = tile + lane;
      const std::uint64_t own = e < last ? fixed_weight(static_cast<double>(weights[e]), scale) : 0;
      const std::uint64_t sum = before + warp_inclusive_sum(own, lane);
      if (e < last) sums[e] = sum;
      before = shuffle(sum, warp_size - 1);
    }
  }
}

// --- The run --------------------------------------------------------------

constexpr int staged_steps = 16;

// Buffers the latest steps of a block's walks. A warp writes 16 steps of each of its walks at once, in whole sectors:
// R-MAT 22, 2^22 walks of 80 steps, H100: 34.7 ms step by step, 15.7 ms like this.
template <class I>
using step_stage = I[block_threads][staged_steps + 1];

// Stores the vertex after step `step` of the calling thread's walk. All lanes of the warp call it, with the same step.
template <class I>
__device__ __forceinline__ void store_step(step_stage<I>& stage, const walk_rule& rule, std::int64_t walk,
                                           std::int64_t step, I v, I* vertices) {
  const auto place = static_cast<int>(step % staged_steps);
  stage[threadIdx.x][place] = v;
  if (place + 1 < staged_steps && step + 1 < rule.length) return;
  __syncwarp();
  const int lane = lane_id();
  const int column = lane % staged_steps;
  for (int k = lane / staged_steps; k < warp_size; k += warp_size / staged_steps) {
    const std::int64_t other = walk - lane + k;
    if (other < rule.walks && column <= place) {
      vertices[other * (rule.length + 1) + step - place + 1 + column] = stage[threadIdx.x - lane + k][column];
    }
  }
  __syncwarp();
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    first_order_kernel(walked_rows<I, O> g, walk_rule rule, I* __restrict__ vertices) {
  __shared__ step_stage<I> stage;
  const std::int64_t walk = global_thread();
  I v = walk < rule.walks ? vertices[walk * (rule.length + 1)] : I{-1};
  for (std::int64_t step = 0; step < rule.length; step += 2) {
    const philox_block block = block_of_pair(rule.seed, walk, step);
    const auto advance = [&](int half) {
      const std::int64_t e = v < 0 ? no_edge : first_order_entry(g, static_cast<std::int64_t>(v), block.bits(half));
      v = e == no_edge ? I{-1} : g.indices[e];
      store_step(stage, rule, walk, step + half, v, vertices);
    };
    advance(0);
    if (step + 1 < rule.length) advance(1);
  }
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    second_order_kernel(walked_rows<I, O> g, walk_rule rule, I* __restrict__ vertices) {
  __shared__ step_stage<I> stage;
  const std::int64_t walk = global_thread();
  I previous = -1;
  I v = walk < rule.walks ? vertices[walk * (rule.length + 1)] : I{-1};
  for (std::int64_t step = 0; step < rule.length; ++step) {
    std::int64_t e = no_edge;
    if (v >= 0) {
      e = step == 0 ? first_order_entry(g, static_cast<std::int64_t>(v), block_of_pair(rule.seed, walk, 0).bits(0))
                    : second_order_entry(g, rule.order, static_cast<std::int64_t>(previous),
                                         static_cast<std::int64_t>(v), rule.seed, walk, step);
    }
    previous = v;
    v = e == no_edge ? I{-1} : g.indices[e];
    store_step(stage, rule, walk, step, v, vertices);
  }
}

// The first vertex of each walk.
template <class I>
void place_starts(const context<device>& ctx, span<const I, device> starts, std::int64_t vertices,
                  const walk_rule& rule, I* to) {
  for_each(ctx, rule.walks,
           [=, stride = rule.length + 1, from = starts.empty() ? nullptr : starts.data()] __device__(std::int64_t k) {
             to[k * stride] = from == nullptr ? static_cast<I>(k % vertices) : from[k];
           });
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, span<const I, device> starts,
                  array<std::uint64_t, device> sums, const walk_rule& rule)
      : ctx_(ctx),
        sums_(std::move(sums)),
        rule_(rule),
        g_{g.out.offsets.data(), g.out.indices.data(), sums_.empty() ? nullptr : sums_.data(),
           rule.order.is_first_order() || rows_ascend(ctx, g.out)},
        vertices_(ctx, rule.walks * (rule.length + 1)) {
    place_starts(ctx, starts, std::int64_t{g.vertices()}, rule, vertices_.data());
    ctx.synchronize();  // the caller may free the starts
  }

  void run() override {
    if (rule_.walks == 0 || rule_.length == 0) return;
    const device_guard guard(ctx_);
    launch_kernel(ctx_, one_thread_each(rule_.walks, block_threads),
                  rule_.order.is_first_order() ? first_order_kernel<I, O> : second_order_kernel<I, O>, g_, rule_,
                  vertices_.data());
  }

  [[nodiscard]] array<I, device>& vertices() noexcept override { return vertices_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return bytes_of(sums_, vertices_); }

 private:
  context<device> ctx_;
  array<std::uint64_t, device> sums_;
  walk_rule rule_;
  walked_rows<I, O> g_;
  array<I, device> vertices_;
};

}  // namespace

template <class W, class O>
row_sums<device> sum_rows(const context<device>& ctx, span<const O, device> offsets, span<const W, device> weights) {
  row_sums<device> of{{ctx, weights.size()}};
  of.offending = first_number(ctx, weights.size(), [from = weights.data()] __device__(std::int64_t e) {
    return !is_weight(static_cast<double>(from[e]));
  });
  const std::int64_t rows = offsets.size() - 1;
  if (of.offending >= 0 || rows <= 0) return of;
  const device_guard guard(ctx);
  launch_kernel(ctx, grid_stride(ctx, rows, block_threads / warp_size), sum_rows_kernel<W, O>, offsets.data(),
                weights.data(), rows, of.sums.data());
  return of;
}

template <class I>
std::int64_t first_bad_start(const context<device>& ctx, span<const I, device> starts, std::int64_t vertices) {
  return first_number(ctx, starts.size(), [vertices, from = starts.data()] __device__(std::int64_t k) {
    return from[k] < 0 || static_cast<std::int64_t>(from[k]) >= vertices;
  });
}

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   span<const I, device> starts, array<std::uint64_t, device> sums,
                                                   const walk_rule& rule) {
  return std::make_unique<device_executor<I, O>>(ctx, g, starts, std::move(sums), rule);
}

#define INSTANTIATE_SUMS(W, O) \
  template row_sums<device> sum_rows(const context<device>&, span<const O, device>, span<const W, device>);
SPARGO_FOR_EACH_WEIGHT_INDEX(INSTANTIATE_SUMS)
#define INSTANTIATE_START(I) \
  template std::int64_t first_bad_start(const context<device>&, span<const I, device>, std::int64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_START)
#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              span<const I, device>, array<std::uint64_t, device>,     \
                                                              const walk_rule&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::walks

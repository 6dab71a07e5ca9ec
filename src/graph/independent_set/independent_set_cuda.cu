// Maximal independent sets on a device: vertices in order (greedy/ordered.cuh), in one launch.
//
// As on the host: a vertex joins as soon as no neighbour of lower rank is undecided, unless one has joined, and whoever
// joins excludes its neighbours. Hubs, the last by default, are decided by then and their rows are not read.
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/greedy/ordered.cuh"
#include "graph/independent_set/executor.hpp"

#include <utility>

namespace spargo::detail::independent_set {

namespace {

struct cuda_tuning {
  static constexpr int block = 256;
  static constexpr int blocks = 8;  // per SM, at most
  static constexpr int unroll = 4;  // neighbours in flight per lane
};

struct control_block {
  greedy::rank_counters taken;
  count64 size;
};

template <class I, class O>
struct set_state {
  greedy::neighbour_rows<I, O> rows;
  greedy::vertex_sequence<I> sequence;
  std::uint8_t* states;
  control_block* control;
};

template <class I, class O>
class chooser {
 public:
  explicit __device__ chooser(const set_state<I, O>& s) : s_(s) {}

  [[nodiscard]] __device__ bool is_short(I v) const { return s_.rows.degree(v) < greedy::long_row; }

  __device__ __forceinline__ bool alone(I v, I rank) {
    if (greedy::load_state(s_.states + v) != undecided) return true;
    bool excluded = false;
    bool waits = false;
    s_.rows.for_each(v, [&](I u) {
      const std::uint8_t state = greedy::load_state(s_.states + u);
      excluded = excluded || state == inside;
      waits = waits || (state == undecided && s_.sequence.rank[u] < rank);
    });
    if (excluded) {
      greedy::store_state(s_.states + v, outside);
      return true;
    }
    if (waits) return false;
    join(v);
    s_.rows.for_each(v, [&](I u) {
      if (u != v) greedy::store_state(s_.states + u, outside);
    });
    return true;
  }

  __device__ void together(I v, I rank) {
    if (__any_sync(full_mask, greedy::load_state(s_.states + v) != undecided)) return;
    bool excluded = false;
    s_.rows.template for_each_by_warp<cuda_tuning::unroll>(v, [&](const I(&u)[cuda_tuning::unroll]) {
#pragma unroll
      for (int q = 0; q < cuda_tuning::unroll; ++q) {
        if (u[q] < 0) continue;
        std::uint8_t state = greedy::load_state(s_.states + u[q]);
        if (state == undecided && s_.sequence.rank[u[q]] < rank) {
          while (state == undecided) state = greedy::load_state(s_.states + u[q]);
        }
        excluded = excluded || state == inside;
      }
    });
    if (__any_sync(full_mask, excluded)) {
      if (lane_id() == 0) greedy::store_state(s_.states + v, outside);
      return;
    }
    if (lane_id() == 0) join(v);
    s_.rows.template for_each_by_warp<1>(v, [&](const I(&u)[1]) {
      if (u[0] >= 0 && u[0] != v) greedy::store_state(s_.states + u[0], outside);
    });
  }

  // By all lanes of the warp.
  __device__ void count() const {
    const unsigned joined = warp_sum(joined_);
    if (lane_id() == 0 && joined > 0) atomicAdd(&s_.control->size, joined);
  }

 private:
  __device__ void join(I v) {
    greedy::store_state(s_.states + v, inside);
    ++joined_;
  }

  const set_state<I, O>& s_;
  unsigned joined_ = 0;  // by this lane
};

template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block) choose_kernel(const __grid_constant__ set_state<I, O> s) {
  chooser<I, O> chosen(s);
  greedy::decide_in_order(s.sequence, chosen);
  chosen.count();
}

template <class I, class O>
class device_executor final : public executor<device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, greedy::ranking<I, device>&& ranks)
      : ctx_(ctx), ranks_(std::move(ranks)), memory_(ctx) {
    const std::int64_t n = g.vertices();
    size_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    size_[0] = 0;
    s_.rows = greedy::rows_of(g);
    s_.states = memory_.take<std::uint8_t>(n);
    s_.control = memory_.take<control_block>(1);
    s_.sequence = {ranks_.order.data(), ranks_.rank.data(), n, 0, ranks_.long_rows, &s_.control->taken};
    if (n == 0) return;
    const device_guard guard(ctx);
    kernel_ = {ctx, choose_kernel<I, O>, cuda_tuning::block, "independent_set", 0, cuda_tuning::blocks};
  }

  void run() override {
    const std::int64_t n = s_.sequence.size;
    if (n == 0) return;
    const device_guard guard(ctx_);
    SPARGO_CUDA_TRY(cudaMemsetAsync(s_.states, undecided, static_cast<std::size_t>(n), ctx_.stream()));
    SPARGO_CUDA_TRY(cudaMemsetAsync(s_.control, 0, sizeof(control_block), ctx_.stream()));
    kernel_.launch(ctx_, s_);
    copy_to_host(ctx_, &s_.control->size, size_.data(), sizeof(count64));
  }

  [[nodiscard]] span<const std::uint8_t, device> members() const noexcept override {
    return {s_.states, s_.sequence.size};
  }
  [[nodiscard]] std::int64_t size() const override {
    ctx_.synchronize();
    return static_cast<std::int64_t>(size_[0]);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return memory_.bytes() + 2 * s_.sequence.size * std::int64_t{sizeof(I)};
  }

 private:
  context<device> ctx_;
  greedy::ranking<I, device> ranks_;
  plan_memory memory_;
  set_state<I, O> s_{};
  cooperative_kernel<set_state<I, O>> kernel_;
  array<count64, host> size_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                greedy::ranking<I, device>&& ranks) {
  return std::make_unique<device_executor<I, O>>(ctx, g, std::move(ranks));
}

#define INSTANTIATE(I, O)                                                                                           \
  template std::unique_ptr<executor<device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                           greedy::ranking<I, device>&&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::independent_set

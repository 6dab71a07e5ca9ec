// Maximal matchings on a device: vertices in order (greedy/ordered.cuh), in one launch.
//
// As on the host: a vertex takes its free neighbour w of the lowest rank once no neighbour of either that is undecided
// has a lower rank than its own; w's mate is written first.
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/greedy/ordered.cuh"
#include "graph/matching/executor.hpp"

#include <utility>

namespace spargo::detail::matching {

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
struct matching_state {
  greedy::neighbour_rows<I, O> rows;
  greedy::vertex_sequence<I> sequence;
  I* mates;  // below `single`: undecided
  control_block* control;
};

template <class I, class O>
class matcher {
 public:
  explicit __device__ matcher(const matching_state<I, O>& s) : s_(s) {}

  [[nodiscard]] __device__ bool is_short(I v) const { return s_.rows.degree(v) < greedy::long_row; }

  // A lane that waits looks only at the vertex that it waits for, and at the one that it wants.
  __device__ __forceinline__ bool alone(I v, I rank) {
    if (mate_of(v) >= 0) return forget();
    if (blocker_ >= 0 && mate_of(blocker_) < single && (wanted_ < 0 || mate_of(wanted_) < single)) return false;
    blocker_ = wanted_ = I{-1};
    auto best = static_cast<I>(s_.sequence.size);  // rank
    s_.rows.for_each(v, [&](I u) {
      if (u == v || mate_of(u) >= single) return;
      const I other = s_.sequence.rank[u];
      if (other < rank) blocker_ = u;
      best = other < best ? other : best;
    });
    if (blocker_ >= 0) return false;
    if (best == s_.sequence.size) return stay_single(v);
    wanted_ = s_.sequence.order[best];
    if (!is_short(wanted_)) return false;  // the warp looks at its row
    s_.rows.for_each(wanted_, [&](I u) {
      if (blocks(u, rank)) blocker_ = u;
    });
    return blocker_ < 0 && match(v, wanted_) && forget();
  }
  // Looks at the long rows of vertices that lanes want.
  __device__ bool assist(bool waits, I v, I rank) {
    bool decided = false;
    for (unsigned lanes = __ballot_sync(full_mask, waits && wanted_ >= 0 && blocker_ < 0); lanes != 0;
         lanes &= lanes - 1) {
      const int lane = __ffs(static_cast<int>(lanes)) - 1;
      const I limit = shuffle(rank, lane);
      const I found = s_.rows.find_by_warp(shuffle(wanted_, lane), [&](I u) { return blocks(u, limit); });
      if (lane_id() != lane) continue;
      if (found >= 0) {
        blocker_ = found;
      } else {
        decided = match(v, wanted_);
        (void)forget();
      }
    }
    return decided;
  }

  __device__ void together(I v, I rank) {
    while (__all_sync(full_mask, mate_of(v) < single)) {
      auto best = static_cast<I>(s_.sequence.size);
      s_.rows.template for_each_by_warp<cuda_tuning::unroll>(v, [&](const I(&u)[cuda_tuning::unroll]) {
#pragma unroll
        for (int q = 0; q < cuda_tuning::unroll; ++q) {
          if (u[q] < 0 || u[q] == v || mate_of(u[q]) >= single) continue;
          const I other = s_.sequence.rank[u[q]];
          if (other < rank) {
            wait_for(u[q]);
          } else {
            best = other < best ? other : best;
          }
        }
      });
      best = warp_reduce(best, minimum{});
      if (best < s_.sequence.size) {
        const I w = s_.sequence.order[best];
        s_.rows.template for_each_by_warp<1>(w, [&](const I(&u)[1]) {
          if (u[0] >= 0 && mate_of(u[0]) < single && s_.sequence.rank[u[0]] < rank) wait_for(u[0]);
        });
        __syncwarp();
        if (lane_id() == 0) (void)match(v, w);
      } else if (lane_id() == 0) {
        (void)stay_single(v);
      }
      __syncwarp();
    }
  }

  // By all lanes of the warp.
  __device__ void count() const {
    const unsigned matched = warp_sum(matched_);
    if (lane_id() == 0 && matched > 0) atomicAdd(&s_.control->size, matched);
  }

 private:
  [[nodiscard]] __device__ __forceinline__ I mate_of(I v) const { return greedy::load_state(s_.mates + v); }
  [[nodiscard]] __device__ __forceinline__ bool blocks(I u, I rank) const {
    return mate_of(u) < single && s_.sequence.rank[u] < rank;
  }
  __device__ bool forget() {
    blocker_ = wanted_ = I{-1};
    return true;
  }
  __device__ void wait_for(I u) const {
    while (mate_of(u) < single) {
    }
  }
  // Once nobody of lower rank can take v or w any more. False: another has taken w.
  __device__ bool match(I v, I w) {
    __threadfence();  // what made neighbours decided is seen now
    if (mate_of(v) >= 0) return true;
    if (mate_of(w) >= 0) return false;
    greedy::store_state(s_.mates + w, v);
    __threadfence();
    greedy::store_state(s_.mates + v, w);
    ++matched_;
    return true;
  }
  __device__ bool stay_single(I v) {
    __threadfence();
    if (mate_of(v) < single) greedy::store_state(s_.mates + v, I{single});
    return true;
  }

  const matching_state<I, O>& s_;
  unsigned matched_ = 0;  // by this lane
  I blocker_ = -1;        // the lane's vertex waits for this one
  I wanted_ = -1;         // and would be matched with this one
};

template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block) match_kernel(const __grid_constant__ matching_state<I, O> s) {
  matcher<I, O> matches(s);
  greedy::decide_in_order(s.sequence, matches);
  matches.count();
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, greedy::ranking<I, device>&& ranks)
      : ctx_(ctx), ranks_(std::move(ranks)), memory_(ctx) {
    const std::int64_t n = g.vertices();
    size_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    size_[0] = 0;
    s_.rows = greedy::rows_of(g);
    s_.mates = memory_.take<I>(n);
    s_.control = memory_.take<control_block>(1);
    s_.sequence = {ranks_.order.data(), ranks_.rank.data(), n, 0, ranks_.long_rows, &s_.control->taken};
    if (n == 0) return;
    const device_guard guard(ctx);
    kernel_ = {ctx, match_kernel<I, O>, cuda_tuning::block, "matching", 0, cuda_tuning::blocks};
  }

  void run() override {
    const std::int64_t n = s_.sequence.size;
    if (n == 0) return;
    const device_guard guard(ctx_);
    SPARGO_CUDA_TRY(cudaMemsetAsync(s_.mates, 0x80, static_cast<std::size_t>(n) * sizeof(I), ctx_.stream()));
    SPARGO_CUDA_TRY(cudaMemsetAsync(s_.control, 0, sizeof(control_block), ctx_.stream()));
    kernel_.launch(ctx_, s_);
    copy_to_host(ctx_, &s_.control->size, size_.data(), sizeof(count64));
  }

  [[nodiscard]] span<const I, device> mates() const noexcept override { return {s_.mates, s_.sequence.size}; }
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
  matching_state<I, O> s_{};
  cooperative_kernel<matching_state<I, O>> kernel_;
  array<count64, host> size_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   greedy::ranking<I, device>&& ranks) {
  return std::make_unique<device_executor<I, O>>(ctx, g, std::move(ranks));
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              greedy::ranking<I, device>&&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::matching

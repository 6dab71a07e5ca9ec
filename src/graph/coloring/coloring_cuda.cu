// Colouring on a device: vertices in order (greedy/ordered.cuh) take the smallest colour that is free, in one launch.
//
// A vertex without a colour has a negative state, ~rank, so one load tells who has to wait. A lane reads its row once
// and remembers the neighbours before it that have no colour. While it waits it publishes a colour that its own will
// not be below, and gives its vertex colour c as soon as no neighbour before it can still take c, though some have no
// colour yet (Alabandi, Powers, Burtscher, PPoPP 2020). A neighbour behind it that has done so has a colour that is
// taken here anyway. A warp, or a block, reads a long row once, waits where it has to, and marks colours in shared
// memory; it reads the row again for each further 1024 colours.
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/coloring/executor.hpp"
#include "graph/greedy/ordered.cuh"

#include <utility>

namespace spargo::detail::coloring {

namespace {

struct cuda_tuning {
  static constexpr int block = 256;
  static constexpr int warps = block / warp_size;
  static constexpr int blocks = 8;          // per SM, at most
  static constexpr int unroll = 4;          // neighbours in flight per lane
  static constexpr unsigned waiting = 192;  // neighbours of a row that a warp waits for in the end; others at once
  static constexpr unsigned lane_waits = waiting / warp_size;  // the same of a lane; with more it reads the row again
};

struct control_block {
  greedy::rank_counters taken;
  count64 colors;
};

template <class I, class O>
struct coloring_state {
  greedy::neighbour_rows<I, O> rows;
  greedy::vertex_sequence<I> sequence;
  I* color;             // negative: ~rank
  std::uint8_t* least;  // of an uncoloured vertex of a short row: its colour will not be below
  control_block* control;
};

// Shared memory of those who color a long row together.
template <class I>
struct row_scratch {
  unsigned* marks;    // a bit for each colour of the window
  unsigned* waiting;  // how many neighbours wait
  I* neighbours;      // of lower rank that had no colour when the row was read
  unsigned capacity;  // of `neighbours`
};

template <class I, class O>
class colorer {
 public:
  __device__ colorer(const coloring_state<I, O>& s, const row_scratch<I>& of_warp, const row_scratch<I>& of_block)
      : s_(s), of_warp_(of_warp), of_block_(of_block) {}

  [[nodiscard]] __device__ bool is_short(I v) const { return s_.rows.degree(v) < greedy::long_row; }

  __device__ __forceinline__ bool alone(I v, I rank) {
    if (v != held_ || waits_ > cuda_tuning::lane_waits) {
      read_row(v, rank);
    } else {
      look_again();
    }
    const auto free = static_cast<unsigned>(__ffsll(static_cast<long long>(~used_)) - 1);
    if (free < least_) {
      set(v, static_cast<I>(free));
      return true;
    }
    if (free > published_) greedy::store_state(s_.least + v, static_cast<std::uint8_t>(free));
    published_ = free;
    return false;
  }

  __device__ void together(I v, I rank) {
    color_by(lane_id(), warp_size, of_warp_, v, rank, [] { __syncwarp(); });
  }
  __device__ void by_block(I v, I rank) {
    color_by(static_cast<int>(threadIdx.x), cuda_tuning::block, of_block_, v, rank, [] { __syncthreads(); });
  }

  // By all lanes of the warp.
  __device__ void count() const {
    const auto most = warp_reduce(static_cast<count64>(most_), maximum{});
    if (lane_id() == 0 && most > 0) atomicMax(&s_.control->colors, most);
  }

 private:
  static constexpr int window = 32 * warp_size;  // colours that are marked at once
  static constexpr unsigned any = ~0U;           // least_: of no neighbour

  // Of a lane's neighbours, which are fewer than 64.
  __device__ __forceinline__ void read_row(I v, I rank) {
    if (v != held_) published_ = 0;
    held_ = v;
    used_ = 0;
    waits_ = 0;
    s_.rows.template for_each_by<cuda_tuning::unroll>(0, 1, v, [&](const I(&u)[cuda_tuning::unroll]) {
      I color[cuda_tuning::unroll];
#pragma unroll
      for (int q = 0; q < cuda_tuning::unroll; ++q) color[q] = u[q] < 0 ? ~rank : greedy::load_state(s_.color + u[q]);
#pragma unroll
      for (int q = 0; q < cuda_tuning::unroll; ++q) {
        use(color[q]);
        if (color[q] < 0 && ~color[q] < rank) {
          if (waits_ < cuda_tuning::lane_waits) waiting_for(waits_) = u[q];
          ++waits_;
        }
      }
    });
    least_ = waits_ > 0 ? 0 : any;
  }
  // At the neighbours that had no colour.
  __device__ __forceinline__ void look_again() {
    unsigned left = 0;
    least_ = any;
    for (unsigned k = 0; k < waits_; ++k) {
      const I u = waiting_for(k);
      const unsigned least = greedy::load_state(s_.least + u);
      const I color = greedy::load_state(s_.color + u);
      use(color);
      if (color >= 0) continue;
      waiting_for(left++) = u;
      least_ = min(least_, least);
    }
    waits_ = left;
  }
  __device__ __forceinline__ void use(I color) {
    if (color >= 0 && color < greedy::long_row) used_ |= std::uint64_t{1} << color;
  }
  [[nodiscard]] __device__ __forceinline__ I& waiting_for(unsigned k) {
    return of_warp_.neighbours[k * warp_size + static_cast<unsigned>(lane_id())];
  }

  // By `threads` threads that `join` waits for. The row is read to its end before anyone waits: after the last
  // neighbour has its colour, only the marks are left to look at.
  template <class Join>
  __device__ __forceinline__ void color_by(int thread, int threads, const row_scratch<I>& at, I v, I rank,
                                           const Join& join) {
    for (I base = 0;; base += window) {
      join();
      if (thread < warp_size) at.marks[thread] = 0;
      if (thread == 0) *at.waiting = 0;
      join();
      s_.rows.template for_each_by<cuda_tuning::unroll>(
          thread, threads, v, [&](const I(&u)[cuda_tuning::unroll]) { mark_or_list(u, base, rank, at); });
      join();
      const unsigned listed = min(*at.waiting, at.capacity);
      for (auto k = static_cast<unsigned>(thread); k < listed; k += static_cast<unsigned>(threads)) {
        mark(wait_for(at.neighbours[k]), base, at);
      }
      join();
      const unsigned word = at.marks[lane_id()];
      const unsigned lanes = __ballot_sync(full_mask, word != ~0U);
      if (lanes == 0) continue;
      const int lane = __ffs(static_cast<int>(lanes)) - 1;
      const int bit = __ffs(static_cast<int>(~shuffle(word, lane))) - 1;
      if (thread == 0) set(v, static_cast<I>(base + 32 * lane + bit));
      return;
    }
  }
  // Marks the colours of the neighbours u in [base, base + window), and lists those of lower rank that have none.
  __device__ __forceinline__ void mark_or_list(const I (&u)[cuda_tuning::unroll], I base, I rank,
                                               const row_scratch<I>& at) const {
    I color[cuda_tuning::unroll];
#pragma unroll
    for (int q = 0; q < cuda_tuning::unroll; ++q) color[q] = u[q] < 0 ? I{-1} : greedy::load_state(s_.color + u[q]);
#pragma unroll
    for (int q = 0; q < cuda_tuning::unroll; ++q) {
      if (u[q] >= 0 && color[q] < 0 && ~color[q] < rank) {
        const unsigned k = atomicAdd(at.waiting, 1U);
        if (k < at.capacity) {
          at.neighbours[k] = u[q];
        } else {
          color[q] = wait_for(u[q]);
        }
      }
      mark(color[q], base, at);
    }
  }
  __device__ __forceinline__ void mark(I color, I base, const row_scratch<I>& at) const {
    const auto bit = static_cast<std::int64_t>(color) - base;
    if (color >= 0 && bit >= 0 && bit < window) atomicOr(at.marks + bit / 32, 1U << bit % 32);
  }
  [[nodiscard]] __device__ __forceinline__ I wait_for(I u) const {
    I color = greedy::load_state(s_.color + u);
    while (color < 0) color = greedy::load_state(s_.color + u);
    return color;
  }

  __device__ void set(I v, I color) {
    greedy::store_state(s_.color + v, color);
    most_ = color + 1 > most_ ? color + 1 : most_;
  }

  const coloring_state<I, O>& s_;
  row_scratch<I> of_warp_;
  row_scratch<I> of_block_;
  I most_ = 0;  // colours that this lane has used
  // Of the vertex that this lane decides:
  I held_ = -1;
  std::uint64_t used_ = 0;  // a bit for each colour of a neighbour
  unsigned waits_ = 0;      // neighbours before it without a colour
  unsigned least_ = 0;      // colour that these may still take
  unsigned published_ = 0;
};

template <class I, class O>
__global__ void __launch_bounds__(cuda_tuning::block) color_kernel(const __grid_constant__ coloring_state<I, O> s) {
  __shared__ unsigned marks[cuda_tuning::warps][warp_size];
  __shared__ unsigned waiting[cuda_tuning::warps];
  __shared__ I neighbours[cuda_tuning::warps][cuda_tuning::waiting];
  const unsigned warp = threadIdx.x / warp_size;
  colorer<I, O> colors(s, {marks[warp], waiting + warp, neighbours[warp], cuda_tuning::waiting},
                       {marks[0], waiting, neighbours[0], cuda_tuning::warps * cuda_tuning::waiting});
  greedy::decide_giants(s.sequence, colors);
  greedy::decide_in_order(s.sequence, colors);
  colors.count();
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, greedy::ranking<I, device>&& ranks)
      : ctx_(ctx), ranks_(std::move(ranks)), memory_(ctx) {
    const std::int64_t n = g.vertices();
    count_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    count_[0] = 0;
    s_.rows = greedy::rows_of(g);
    s_.color = memory_.take<I>(n);
    s_.least = memory_.take<std::uint8_t>(n);
    s_.control = memory_.take<control_block>(1);
    s_.sequence = {ranks_.order.data(), ranks_.rank.data(), n, ranks_.giants, ranks_.long_rows, &s_.control->taken};
    if (n == 0) return;
    const device_guard guard(ctx);
    kernel_ = {ctx, color_kernel<I, O>, cuda_tuning::block, "coloring", 0, cuda_tuning::blocks};
  }

  void run() override {
    const std::int64_t n = s_.sequence.size;
    if (n == 0) return;
    const device_guard guard(ctx_);
    for_each(ctx_, n, [s = s_] __device__(std::int64_t v) {
      s.color[v] = ~s.sequence.rank[v];
      s.least[v] = 0;
    });
    SPARGO_CUDA_TRY(cudaMemsetAsync(s_.control, 0, sizeof(control_block), ctx_.stream()));
    kernel_.launch(ctx_, s_);
    copy_to_host(ctx_, &s_.control->colors, count_.data(), sizeof(count64));
  }

  [[nodiscard]] span<const I, device> colors() const noexcept override { return {s_.color, s_.sequence.size}; }
  [[nodiscard]] I count() const override {
    ctx_.synchronize();
    return static_cast<I>(count_[0]);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return memory_.bytes() + 2 * s_.sequence.size * std::int64_t{sizeof(I)};
  }

 private:
  context<device> ctx_;
  greedy::ranking<I, device> ranks_;
  plan_memory memory_;
  coloring_state<I, O> s_{};
  cooperative_kernel<coloring_state<I, O>> kernel_;
  array<count64, host> count_;
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

}  // namespace spargo::detail::coloring

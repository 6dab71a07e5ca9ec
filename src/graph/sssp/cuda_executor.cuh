// Device SSSP: the executor. A search is one cooperative kernel and a pass over the vertices, plus a few kernels for
// parents. The host synchronizes once, at the end.
#pragma once

#include "core/bytes_of.hpp"
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "graph/sssp/cuda_kernel.cuh"
#include "graph/sssp/cuda_parents.cuh"
#include "graph/sssp/cuda_sorted.cuh"
#include "graph/sssp/executor.hpp"

#include <bit>

namespace spargo::detail::sssp {

// H200, weights 1..255: R-MAT 22 with delta 8, uniform 2^22 with delta 16.
struct executor_tuning {
  // Edges per bucket entry: longer rows are split. R-MAT, 256 / 512 / 1024 / 2048: 1.04 / 0.93 / 0.86 / 0.86 ms.
  static constexpr int part = 1024;
  // Unreached vertices pull once their edges times this are fewer than the edges left to push. R-MAT, 2 / 4 / 8: 0.96 /
  // 0.93 / 0.93 ms, uniform, 1 / 2 / 4: 1.78 / 1.52 / 1.52.
  static constexpr int pull_at = 4;
  // After a pull the threshold rises by this many deltas: few vertices remain, and most lengths are final. R-MAT, 32 /
  // 256: 0.93 / 0.88 ms, uniform 1.52 / 1.52; smaller values are slower.
  static constexpr double beyond = 256;
  // Staging slots per warp and bucket in shared memory. Uniform, 64 / 128 / 200: no difference.
  static constexpr int most_staged = 128;
};

template <class W, class D, class I, class O>
class device_executor final : public executor<W, I, device> {
  using distance = sssp_distance<W>;
  using length = stored_length<D>;
  using search_type = device_search<W, D, I, O>;
  static constexpr bool in_place = sizeof(D) == sizeof(distance);

 public:
  device_executor(const context<device>& ctx, const weighted_graph_view<W, I, O, device>& g,
                  const weight_facts& weights, const sssp_options& options)
      : ctx_(ctx), n_(g.vertices()), which_(options.parents) {
    const device_guard guard(ctx_);
    sorted_ = sort_rows<W, I, O>(ctx_, g.out, g.out_weights, weights);
    allocate(g, options);
    if (n_ == 0) return;
    together_ = {ctx_, search_kernel<W, D, I, O>, cuda_tuning::block, "sssp", shared_bytes()};
    adopt_ = {ctx_, adopt_orphans_kernel<W, D, I, O>, parents_tuning::adopt_block, "sssp"};
  }

  void run(I source) override {
    const device_guard guard(ctx_);
    search_.source = source;
    fill_zero(ctx_, span<search_control, device>(search_.control, 1));
    together_.launch(ctx_, search_);
    constexpr int block = parents_tuning::block;
    launch_kernel(ctx_, {blocks_for(ctx_, n_, block), block}, publish_kernel<W, D, I, O>, search_, distances_);
    if (parents_ != nullptr) find_parents();
    copy_to_host(ctx_, &search_.control->reached, reached_.data(), sizeof(count64));
    ctx_.synchronize();
  }

  [[nodiscard]] span<const distance, device> distances() const noexcept override { return {distances_, n_}; }
  [[nodiscard]] span<const I, device> parents() const noexcept override {
    return {parents_, parents_ == nullptr ? 0 : n_};
  }
  [[nodiscard]] std::int64_t reached() const noexcept override { return static_cast<std::int64_t>(reached_[0]); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return memory_.bytes() + bytes_of(sorted_); }

 private:
  using entry = bucket_entry<D, I, O>;

  [[nodiscard]] std::size_t shared_bytes() const {
    const auto staged = static_cast<std::size_t>(2 * cuda_tuning::warps * search_.staged) * sizeof(entry);
    return std::max(staged, narrow_tuning::bytes<entry>);
  }
  // Staging slots per warp that fit beside the kernel's static shared memory.
  [[nodiscard]] int staged() const {
    constexpr int own = 12 << 10;
    int most = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx_.ordinal()));
    const int fitting = (most - own) / (2 * cuda_tuning::warps * static_cast<int>(sizeof(entry)));
    return std::clamp(fitting, cuda_tuning::least_staged, executor_tuning::most_staged);
  }

  void allocate(const weighted_graph_view<W, I, O, device>& g, const sssp_options& options) {
    // One entry per part of a row, plus slack for stale entries.
    const std::int64_t slots = n_ + n_ / 4 + g.out.nnz() / executor_tuning::part;
    distances_ = memory_.take<distance>(n_);
    entry* const near = memory_.take<entry>(2 * slots);
    entry* const far = memory_.take<entry>(2 * slots);
    reached_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    reached_[0] = 0;
    if (options.output == sssp_output::distances_and_parents) {
      parents_ = memory_.take<I>(n_);
      settled_ = memory_.take<unsigned>(div_up(n_, std::int64_t{warp_size}));
    }
    length* lengths = nullptr;
    if constexpr (in_place) {
      lengths = reinterpret_cast<length*>(distances_);
    } else {
      lengths = memory_.take<length>(n_);
    }
    any_rows<W, I, O> in{};
    if (g.direction == direction_kind::undirected) {
      in = {g.out.offsets.data(), sorted_.data(), nullptr, nullptr};
    } else if (g.has_in_edges()) {
      in = {g.in.offsets.data(), nullptr, g.in.indices.data(), g.in_weights.data()};
    }
    const bool mirrored = g.direction == direction_kind::undirected;
    search_ = {.out = {g.out.offsets.data(), sorted_.data()},
               .in = in,
               .n = n_,
               .edges = g.out.nnz(),
               .lengths = lengths,
               .near = {near, near + slots},
               .far = {far, far + slots},
               .slots = slots,
               .control = memory_.take<search_control>(1),
               .source = 0,
               .target = options.target,
               .least_degree = mirrored ? O{2} : O{1},  // the only edge leads back to the predecessor
               .limit = std::bit_cast<length>(length_limit<D>(options.cutoff)),
               .delta = as_delta(options.delta),
               .delta_beyond = as_delta(options.delta * executor_tuning::beyond),
               .mirrored = mirrored ? 1 : 0,
               .staged = staged(),
               .part = executor_tuning::part,
               .pull_at = executor_tuning::pull_at,
               .lanes_log = lanes_log_for(g.out.nnz())};
  }

  // Lanes per vertex in a narrow step: about its average degree, 4 to 32.
  [[nodiscard]] int lanes_log_for(std::int64_t edges) const {
    int log = 2;
    while (log < 5 && n_ << log < edges) ++log;
    return log;
  }

  [[nodiscard]] static D as_delta(double delta) {
    if constexpr (std::integral<D>) {
      return delta >= static_cast<double>(unreached<D>) ? unreached<D> : static_cast<D>(delta);
    } else {
      return delta;
    }
  }

  void find_parents() {
    constexpr int block = parents_tuning::block;
    fill_bytes(ctx_, parents_, 0xff, static_cast<std::size_t>(n_) * sizeof(I));
    if (search_.edges > 0) {
      const std::int64_t warps = div_up(search_.edges, std::int64_t{parents_tuning::edges});
      launch_kernel(ctx_, one_thread_each(warps * warp_size, block), offer_parents_kernel<W, D, I, O>, search_,
                    parents_, which_);
    }
    launch_kernel(ctx_, one_thread_each(n_, block), find_orphans_kernel<W, D, I, O>, search_, parents_, settled_);
    adopt_.launch(ctx_, search_, parents_, settled_, reinterpret_cast<I*>(search_.near[0]));  // `near` is free by now
  }

  context<device> ctx_;
  std::int64_t n_;
  sssp_parents which_;
  cooperative_kernel<search_type> together_;
  cooperative_kernel<search_type, I*, unsigned*, I*> adopt_;
  search_type search_{};
  plan_memory memory_{ctx_};
  distance* distances_ = nullptr;
  I* parents_ = nullptr;  // null: not requested
  unsigned* settled_ = nullptr;
  array<target_and_weight<W, I>, device> sorted_;
  array<count64, host> reached_;
};

template <class W, class I, class O>
std::unique_ptr<executor<W, I, device>> make_executor(const context<device>& ctx,
                                                      const weighted_graph_view<W, I, O, device>& g,
                                                      const weight_facts& weights, const sssp_options& options) {
  if constexpr (std::same_as<W, std::int32_t>) {
    if (fit_32_bits(weights.largest, g.vertices())) {
      return std::make_unique<device_executor<W, std::uint32_t, I, O>>(ctx, g, weights, options);
    }
  }
  return std::make_unique<device_executor<W, wide_length<W>, I, O>>(ctx, g, weights, options);
}

}  // namespace spargo::detail::sssp

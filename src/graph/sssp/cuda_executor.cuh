// The device's executor: a search is one cooperative kernel and a pass over the vertices, and a few more for parents.
// The host waits once, at the end.
#pragma once

#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "graph/sssp/cuda_kernel.cuh"
#include "graph/sssp/cuda_parents.cuh"
#include "graph/sssp/cuda_sorted.cuh"
#include "graph/sssp/executor.hpp"

#include <bit>
#include <cstddef>

namespace spargo::detail::sssp {

// H200, weights 1..255: R-MAT 22 with delta 8, uniform 2^22 with delta 16.
struct executor_tuning {
  // Edges of an entry of a pile: a longer row is cut. R-MAT, 256 / 512 / 1024 / 2048: 1.04 / 0.93 / 0.86 / 0.86 ms.
  static constexpr int part = 1024;
  // Vertices pull when their edges, so many times, are fewer than those that are left to follow. R-MAT, 2 / 4 / 8: 0.96
  // / 0.93 / 0.93 ms, uniform, 1 / 2 / 4: 1.78 / 1.52 / 1.52.
  static constexpr int pull_at = 4;
  // Deltas that the threshold rises by after that: few vertices are left, and most have their final length. R-MAT, 32 /
  // 256: 0.93 / 0.88 ms, uniform 1.52 / 1.52; less is worse.
  static constexpr double beyond = 256;
  // Entries of a warp in shared memory, for each pile. Uniform, 64 / 128 / 200: alike.
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
    search_blocks_ =
        resident_blocks(reinterpret_cast<const void*>(&search_kernel<W, D, I, O>), cuda_tuning::block, shared_bytes());
    adopt_blocks_ = resident_blocks(reinterpret_cast<const void*>(&adopt_orphans_kernel<W, D, I, O>),
                                    parents_tuning::adopt_block, 0);
  }

  void run(I source) override {
    const device_guard guard(ctx_);
    search_.source = source;
    fill_zero(ctx_, control_.view());
    launch_together(reinterpret_cast<const void*>(&search_kernel<W, D, I, O>), search_blocks_, cuda_tuning::block,
                    shared_bytes(), search_);
    constexpr int block = parents_tuning::block;
    publish_kernel<<<blocks_for(ctx_, n_, block), block, 0, ctx_.stream()>>>(search_, distances_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    if (!parents_.empty()) find_parents();
    const auto* const reached = reinterpret_cast<const unsigned char*>(control_.data());
    copy_to_host(ctx_, reached + offsetof(search_control, reached), reached_.data(), sizeof(count64));
    ctx_.synchronize();
  }

  [[nodiscard]] span<const distance, device> distances() const noexcept override { return distances_.view(); }
  [[nodiscard]] span<const I, device> parents() const noexcept override { return parents_.view(); }
  [[nodiscard]] std::int64_t reached() const noexcept override { return static_cast<std::int64_t>(reached_[0]); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const auto bytes = [](const auto& a) {
      return a.size() * static_cast<std::int64_t>(sizeof(typename std::decay_t<decltype(a)>::value_type));
    };
    return bytes(distances_) + bytes(found_) + bytes(parents_) + bytes(settled_) + bytes(near_) + bytes(far_) +
           bytes(control_) + bytes(sorted_);
  }

 private:
  using entry = pile_entry<D, I, O>;

  [[nodiscard]] std::size_t shared_bytes() const {
    const auto staged = static_cast<std::size_t>(2 * cuda_tuning::warps * search_.staged) * sizeof(entry);
    return std::max(staged, narrow_tuning::bytes<entry>);
  }
  // Of the shared memory that a block can have, some is the kernel's own.
  [[nodiscard]] int staged() const {
    constexpr int own = 12 << 10;
    int most = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx_.ordinal()));
    const int fitting = (most - own) / (2 * cuda_tuning::warps * static_cast<int>(sizeof(entry)));
    return std::clamp(fitting, cuda_tuning::least_staged, executor_tuning::most_staged);
  }

  void allocate(const weighted_graph_view<W, I, O, device>& g, const sssp_options& options) {
    // An entry of each part of a row, and some that no longer count.
    const std::int64_t slots = n_ + n_ / 4 + g.out.nnz() / executor_tuning::part;
    distances_ = {ctx_, n_};
    if constexpr (!in_place) found_ = {ctx_, n_};
    near_ = {ctx_, 2 * slots};
    far_ = {ctx_, 2 * slots};
    control_ = {ctx_, 1};
    reached_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    reached_[0] = 0;
    if (options.output == sssp_output::distances_and_parents) {
      parents_ = {ctx_, n_};
      settled_ = {ctx_, div_up(n_, std::int64_t{warp_size})};
    }
    length* found = nullptr;
    if constexpr (in_place) {
      found = reinterpret_cast<length*>(distances_.data());
    } else {
      found = found_.data();
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
               .found = found,
               .near = {near_.data(), near_.data() + slots},
               .far = {far_.data(), far_.data() + slots},
               .slots = slots,
               .control = control_.data(),
               .source = 0,
               .target = options.target,
               .least_degree = mirrored ? O{2} : O{1},  // the one edge leads back where the vertex was met from
               .limit = std::bit_cast<length>(length_limit<D>(options.cutoff)),
               .delta = as_delta(options.delta),
               .delta_beyond = as_delta(options.delta * executor_tuning::beyond),
               .mirrored = mirrored ? 1 : 0,
               .staged = staged(),
               .part = executor_tuning::part,
               .pull_at = executor_tuning::pull_at,
               .lanes_log = lanes_log_for(g.out.nnz())};
  }

  // Lanes that follow a vertex's edges in a narrow step: about as many as it has, 4 to 32.
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

  // As many as can be resident together, which the grid's barrier needs.
  [[nodiscard]] unsigned resident_blocks(const void* kernel, int block, std::size_t shared) const {
    int cooperative = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx_.ordinal()));
    if (cooperative == 0) throw error(error_code::unsupported, "sssp: the device cannot launch cooperative kernels");
    if (shared > 0) {
      SPARGO_CUDA_TRY(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    }
    int a_multiprocessor = 0;
    SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, kernel, block, shared));
    if (a_multiprocessor == 0) {
      throw error(error_code::unsupported, "sssp: no block of the search fits a multiprocessor");
    }
    return static_cast<unsigned>(a_multiprocessor * ctx_.properties().multiprocessors);
  }

  template <class... Arguments>
  void launch_together(const void* kernel, unsigned blocks, int block, std::size_t shared, Arguments... arguments) {
    void* pointers[] = {&arguments...};
    SPARGO_CUDA_TRY(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(static_cast<unsigned>(block)), pointers,
                                                shared, ctx_.stream()));
  }

  void find_parents() {
    constexpr int block = parents_tuning::block;
    I* const parents = parents_.data();
    fill_bytes(ctx_, parents, 0xff, static_cast<std::size_t>(n_) * sizeof(I));
    const auto blocks = [](std::int64_t threads) {
      return static_cast<unsigned>(div_up(threads, std::int64_t{block}));
    };
    if (search_.edges > 0) {
      const std::int64_t warps = div_up(search_.edges, std::int64_t{parents_tuning::edges});
      offer_parents_kernel<<<blocks(warps * warp_size), block, 0, ctx_.stream()>>>(search_, parents, which_);
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    find_orphans_kernel<<<blocks(n_), block, 0, ctx_.stream()>>>(search_, parents, settled_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    launch_together(reinterpret_cast<const void*>(&adopt_orphans_kernel<W, D, I, O>), adopt_blocks_,
                    parents_tuning::adopt_block, 0, search_, parents, settled_.data(),
                    reinterpret_cast<I*>(near_.data()));  // the piles are free by now
  }

  context<device> ctx_;
  std::int64_t n_;
  sssp_parents which_;
  unsigned search_blocks_ = 0;
  unsigned adopt_blocks_ = 0;
  search_type search_{};
  array<distance, device> distances_;
  array<length, device> found_;  // where it is not the same memory
  array<I, device> parents_;
  array<unsigned, device> settled_;
  array<pile_entry<D, I, O>, device> near_;
  array<pile_entry<D, I, O>, device> far_;
  array<target_and_weight<W, I>, device> sorted_;
  array<search_control, device> control_;
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

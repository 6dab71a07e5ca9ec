// Histograms on the device: choice of algorithm, launch. Instantiated in histogram_*_cuda.cu, a few types each.
#pragma once

#include "core/device/shared_limit.cuh"
#include "primitives/histogram/backend.hpp"
#include "primitives/histogram/packed.cuh"

namespace spargo::detail::histogram {

struct choice_tuning {
  // With fewer elements per bin, a table per block costs more than it saves, since each block sweeps its own.
  static constexpr std::int64_t elements_per_bin = 4;
  // From this many windows on, one random atomic per element is faster than reading all elements once per window: 11 ms
  // against 0.22 ms per window (2^28 int32).
  static constexpr std::int64_t windows = 44;
  // Least elements per thread, so that the sweep over a block's table is a small part.
  static constexpr std::int64_t elements_per_thread = 16;
};

template <class Bins>
struct request {
  const context<device>& ctx;
  values<typename Bins::value> in;
  Bins bins;
  result out;

  [[nodiscard]] int staged() const { return static_cast<int>(staged_bytes(bins)); }
  // 32-bit counters that fit shared memory beside the edges.
  [[nodiscard]] std::int64_t counters() const { return (ctx.properties().shared_memory_per_block - staged()) / 4; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(out.size); }

  // Blocks that are resident with `shared` bytes each, but no more than the elements need.
  [[nodiscard]] std::int64_t resident_grid_size(std::int64_t shared) const {
    const auto& device = ctx.properties();
    const std::int64_t by_memory =
        device.shared_memory_per_multiprocessor / (shared + 1024);  // 1 KiB is reserved by CUDA
    const std::int64_t of_one =
        std::clamp<std::int64_t>(by_memory, 1, std::max(1, device.max_threads_per_multiprocessor / tuning::threads));
    return std::clamp<std::int64_t>(div_up(in.size, choice_tuning::elements_per_thread * tuning::threads), 1,
                                    of_one * device.multiprocessors);
  }
};

template <class... T>
void launch(const launch_site& at, std::int64_t blocks, std::int64_t shared, void (*kernel)(T...),
            std::type_identity_t<T>... arguments) {
  const launch_shape shape{blocks, tuning::threads, static_cast<std::size_t>(shared)};
  if (shared > 48 << 10) allow_shared(kernel, shape.shared_bytes);
  launch_kernel(at, shape, kernel, arguments...);
}

template <class Bins>
void run_direct(const request<Bins>& r, void (*kernel)(values<typename Bins::value>, Bins, result)) {
  launch_kernel(r.ctx, grid_stride(r.ctx, r.in.size), kernel, r.in, r.bins, r.out);
}

template <class Bins>
void run_privatized(const request<Bins>& r) {
  const auto held = static_cast<unsigned>(std::min<std::int64_t>(r.size(), tuning::block_bins));
  launch(r.ctx, div_up(r.in.size, tuning::threads), std::int64_t{held} * 4, privatized<Bins>, r.in, r.bins, r.out,
         held);
}

template <class Bins>
void run_coarsened(const request<Bins>& r) {
  const auto held = static_cast<unsigned>(std::min(r.size(), r.counters()));
  const std::int64_t shared = r.staged() + std::int64_t{held} * 4;
  launch(r.ctx, r.resident_grid_size(shared), shared, coarsened<Bins>, r.in, r.bins, r.out, held, r.staged());
}

template <class Bins>
void run_lanes(const request<Bins>& r) {
  if constexpr (sizeof(typename Bins::value) == 1) {
    constexpr std::int64_t shared = 256 * tuning::lanes * 4;
    launch(r.ctx, r.resident_grid_size(shared), shared, lanes_of_bytes<Bins>, r.in, r.bins, r.out);
  } else {
    const auto held = static_cast<unsigned>(std::min(r.size(), r.counters()));
    int shift = 5;  // 32 tables
    while (shift > 0 && std::int64_t{held} << shift > r.counters()) --shift;
    const std::int64_t shared = r.staged() + (std::int64_t{held} * 4 << shift);
    launch(r.ctx, r.resident_grid_size(shared), shared, lanes_of_values<Bins>, r.in, r.bins, r.out, held, shift,
           r.staged());
  }
}

// In as few windows as shared memory allows, of equal, even size.
template <class Bins>
void run_packed(const request<Bins>& r) {
  const std::int64_t count = div_up(r.size(), 2 * r.counters());
  const std::int64_t held = std::min(r.size(), div_up(div_up(r.size(), count), std::int64_t{2}) * 2);
  const std::int64_t shared = r.staged() + (held + 1) / 2 * 4;
  const std::int64_t tiles = std::max<std::int64_t>(r.resident_grid_size(shared) / count, 1);
  launch(r.ctx, tiles * count, shared, packed<Bins>, r.in, r.bins, r.out,
         windows{static_cast<unsigned>(held), static_cast<unsigned>(count), r.staged()});
}

template <class Bins>
histogram_algorithm choose(const request<Bins>& r) {
  if (sizeof(typename Bins::value) == 1) return histogram_algorithm::lane_privatized;
  if (r.in.size < choice_tuning::elements_per_bin * r.size()) return histogram_algorithm::aggregated;
  if (r.size() <= r.counters()) return histogram_algorithm::privatized_coarsened;
  if (r.size() <= choice_tuning::windows * 2 * r.counters()) return histogram_algorithm::multi_pass;
  return histogram_algorithm::aggregated;
}

template <class Bins, class Count>
void run(const context<device>& ctx, span<const typename Bins::value, device> values, const Bins& bins,
         span<Count, device> counts, histogram_algorithm algorithm) {
  const device_guard guard(ctx);
  const request<Bins> r{ctx,
                        histogram::values<typename Bins::value>(values.data(), values.size()),
                        bins,
                        {counts.data(), static_cast<std::uint64_t>(counts.size()), sizeof(Count) == 8}};
  switch (algorithm == histogram_algorithm::automatic ? choose(r) : algorithm) {
    case histogram_algorithm::contiguous_partition:
      return run_direct(r, contiguous<Bins>);
    case histogram_algorithm::global_atomic:
      return run_direct(r, global_atomic<Bins>);
    case histogram_algorithm::privatized:
      return run_privatized(r);
    case histogram_algorithm::privatized_coarsened:
      return run_coarsened(r);
    case histogram_algorithm::lane_privatized:
      return run_lanes(r);
    case histogram_algorithm::multi_pass:
      return run_packed(r);
    default:
      return run_direct(r, aggregated<Bins>);
  }
}

}  // namespace spargo::detail::histogram

#define SPARGO_INSTANTIATE_HISTOGRAM(Bins)                                                                             \
  template void run<Bins, std::int32_t>(const context<device>&, span<const typename Bins::value, device>, const Bins&, \
                                        span<std::int32_t, device>, histogram_algorithm);                              \
  template void run<Bins, std::int64_t>(const context<device>&, span<const typename Bins::value, device>, const Bins&, \
                                        span<std::int64_t, device>, histogram_algorithm);

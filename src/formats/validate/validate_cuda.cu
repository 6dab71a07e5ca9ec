// The searches of `validate` on the device: each thread keeps its first hit, and the lowest wins.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "formats/validate/backend.hpp"

namespace spargo::detail::validate {

namespace {

template <class Wrong>
__global__ void __launch_bounds__(block_threads)
    find_kernel(std::int64_t size, Wrong wrong, unsigned long long* first) {
  for (std::int64_t i = global_thread(); i < size; i += grid_threads()) {
    if (!wrong(i)) continue;
    atomicMin(first, static_cast<unsigned long long>(i));
    return;
  }
}

// All ones, read as -1, if none.
template <class Wrong>
std::int64_t find_first(const context<device>& ctx, std::int64_t size, Wrong wrong) {
  if (size <= 0) return -1;
  const device_guard guard(ctx);
  array<unsigned long long, device> first(ctx, 1);
  fill_bytes(ctx, first.data(), 0xff, sizeof(unsigned long long));
  launch_kernel(ctx, grid_stride(ctx, size), find_kernel<Wrong>, size, wrong, first.data());
  return static_cast<std::int64_t>(element<unsigned long long>(ctx, first.view(), 0));
}

template <class I>
__global__ void __launch_bounds__(block_threads)
    sum_kernel(const I* values, std::int64_t size, unsigned long long* total) {
  unsigned long long mine = 0;
  for (std::int64_t i = global_thread(); i < size; i += grid_threads())
    mine += static_cast<unsigned long long>(values[i]);
  mine = warp_sum(mine);
  if (threadIdx.x % warp_size == 0 && mine != 0) atomicAdd(total, mine);
}

}  // namespace

template <index_type O>
std::int64_t find_decrease(const context<device>& ctx, span<const O, device> offsets) {
  return find_first(ctx, offsets.size() - 1, [=] __device__(std::int64_t i) { return offsets[i] > offsets[i + 1]; });
}

template <index_type I>
std::int64_t find_outside(const context<device>& ctx, span<const I, device> values, std::int64_t first,
                          std::int64_t last) {
  return find_first(ctx, values.size(),
                    [=] __device__(std::int64_t i) { return values[i] < first || values[i] >= last; });
}

template <index_type I, index_type O>
std::int64_t find_unordered(const context<device>& ctx, span<const O, device> offsets, span<const I, device> indices) {
  return find_first(ctx, indices.size(), [=] __device__(std::int64_t k) {
    if (k == 0 || indices[k] > indices[k - 1]) return false;
    const std::int64_t at = lower_bound(offsets.data(), offsets.size(), k);
    return at == offsets.size() || offsets[at] != k;  // unless a row starts at k
  });
}

template <index_type O>
std::int64_t find_uneven_slice(const context<device>& ctx, span<const O, device> slice_offsets, std::int64_t height) {
  return find_first(ctx, slice_offsets.size() - 1,
                    [=] __device__(std::int64_t s) { return (slice_offsets[s + 1] - slice_offsets[s]) % height != 0; });
}

template <index_type I, index_type O>
std::int64_t find_long_slot(const context<device>& ctx, span<const O, device> slice_offsets,
                            span<const I, device> permutation, span<const I, device> lengths, std::int64_t height) {
  return find_first(ctx, lengths.size(), [=] __device__(std::int64_t s) {
    const std::int64_t width = (slice_offsets[s / height + 1] - slice_offsets[s / height]) / height;
    return lengths[s] < 0 || lengths[s] > (permutation[s] < 0 ? 0 : width);
  });
}

template <index_type I>
void claim_rows(const context<device>& ctx, span<const I, device> permutation, span<std::uint64_t, device> owner) {
  fill_bytes(ctx, owner.data(), 0xff, static_cast<std::size_t>(owner.size()) * sizeof(std::uint64_t));
  for_each(ctx, permutation.size(), [=] __device__(std::int64_t s) {
    if (permutation[s] < 0) return;
    atomicMin(reinterpret_cast<unsigned long long*>(owner.data() + permutation[s]), static_cast<unsigned long long>(s));
  });
}

template <index_type I>
std::int64_t find_repeated(const context<device>& ctx, span<const I, device> permutation,
                           span<const std::uint64_t, device> owner) {
  return find_first(ctx, permutation.size(), [=] __device__(std::int64_t s) {
    return permutation[s] >= 0 && owner[permutation[s]] != static_cast<std::uint64_t>(s);
  });
}

std::int64_t find_unclaimed(const context<device>& ctx, span<const std::uint64_t, device> owner) {
  return find_first(ctx, owner.size(), [=] __device__(std::int64_t r) { return owner[r] == UINT64_MAX; });
}

template <index_type I>
std::int64_t sum_lengths(const context<device>& ctx, span<const I, device> lengths) {
  if (lengths.empty()) return 0;
  const device_guard guard(ctx);
  array<unsigned long long, device> total(ctx, 1);
  fill_zero(ctx, total.view());
  launch_kernel(ctx, grid_stride(ctx, lengths.size(), 4 * block_threads), sum_kernel<I>, lengths.data(), lengths.size(),
                total.data());
  return static_cast<std::int64_t>(element<unsigned long long>(ctx, total.view(), 0));
}

#define INSTANTIATE_I(I)                                                                                         \
  template std::int64_t find_decrease(const context<device>&, span<const I, device>);                            \
  template std::int64_t find_outside(const context<device>&, span<const I, device>, std::int64_t, std::int64_t); \
  template std::int64_t find_uneven_slice(const context<device>&, span<const I, device>, std::int64_t);          \
  template void claim_rows(const context<device>&, span<const I, device>, span<std::uint64_t, device>);          \
  template std::int64_t find_repeated(const context<device>&, span<const I, device>,                             \
                                      span<const std::uint64_t, device>);                                        \
  template std::int64_t sum_lengths(const context<device>&, span<const I, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

#define INSTANTIATE_IO(I, O)                                                                                  \
  template std::int64_t find_unordered(const context<device>&, span<const O, device>, span<const I, device>); \
  template std::int64_t find_long_slot(const context<device>&, span<const O, device>, span<const I, device>,  \
                                       span<const I, device>, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)

}  // namespace spargo::detail::validate

// CSR to and from ELL and SELL-C-sigma on the device.
//
// ELL: one thread per stored entry, padding included: writes are coalesced, and long rows cause no imbalance. SELL: one
// block per slice. Indices and values are moved by the same kernels, as words of their size. Cost: O(stored entries);
// order_rows is one radix sort of the rows' lengths with the window in the key.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/device/words.cuh"
#include "core/instantiate.hpp"
#include "formats/convert/backend.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <bit>

namespace spargo::detail::convert {

namespace {

constexpr int slice_threads = 128;  // a slice of 32 rows of 4 entries uses all of them

// One warp per slice.
template <class I>
__global__ void __launch_bounds__(block_threads)
    slice_sizes_kernel(const I* lengths, std::int64_t slices, I height, std::int64_t* sizes) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t s = global_thread() / warp_size; s < slices; s += grid_threads() / warp_size) {
    long long width = 0;
    for (std::int64_t l = lane; l < height; l += warp_size) {
      const long long length = lengths[s * height + l];
      width = width < length ? length : width;
    }
    width = warp_max(width);
    if (lane == 0) sizes[s] = width * height;
  }
}

template <class O, class Word>
void pad_rows(const context<device>& ctx, span<const O, device> offsets, std::int64_t width, const Word* from,
              Word* to) {
  const std::int64_t rows = offsets.size() - 1;
  const O* offset = offsets.data();
  for_each(ctx, rows * width, [=] __device__(std::int64_t at) {
    const std::int64_t row = at % rows;
    const std::int64_t k = offset[row] + at / rows;
    to[at] = k < offset[row + 1] ? from[k] : Word{};
  });
}

template <class I, class O, class Word>
void unpad_rows(const context<device>& ctx, std::int64_t width, span<const I, device> lengths,
                span<const O, device> offsets, const Word* from, Word* to) {
  const std::int64_t rows = lengths.size();
  const I* length = lengths.data();
  const O* offset = offsets.data();
  for_each(ctx, rows * width, [=] __device__(std::int64_t at) {
    const std::int64_t row = at % rows;
    const std::int64_t k = at / rows;
    if (k < length[row]) to[offset[row] + k] = from[at];
  });
}

template <class I, class O>
struct slices_view {
  std::int64_t count;
  std::int64_t height;
  const O* offsets;
  const I* permutation;
  const I* lengths;

  template <class V>
  explicit slices_view(const sell_view<const V, I, O, device>& m)
      : count(m.slices()),
        height(m.slice_height),
        offsets(m.slice_offsets.data()),
        permutation(m.permutation.data()),
        lengths(m.row_lengths.data()) {}
};

template <class I, class O, class Word>
__global__ void __launch_bounds__(slice_threads)
    pad_slices(slices_view<I, O> slices, const O* offsets, const Word* from, Word* to) {
  for (std::int64_t s = blockIdx.x; s < slices.count; s += gridDim.x) {
    const std::int64_t base = slices.offsets[s];
    const std::int64_t size = slices.offsets[s + 1] - base;
    for (std::int64_t at = threadIdx.x; at < size; at += slice_threads) {
      const std::int64_t slot = s * slices.height + at % slices.height;
      const std::int64_t k = at / slices.height;
      to[base + at] = k < slices.lengths[slot] ? from[offsets[slices.permutation[slot]] + k] : Word{};
    }
  }
}

template <class I, class O, class Word>
__global__ void __launch_bounds__(slice_threads)
    unpad_slices(slices_view<I, O> slices, const O* offsets, const Word* from, Word* to) {
  for (std::int64_t s = blockIdx.x; s < slices.count; s += gridDim.x) {
    const std::int64_t base = slices.offsets[s];
    const std::int64_t size = slices.offsets[s + 1] - base;
    for (std::int64_t at = threadIdx.x; at < size; at += slice_threads) {
      const std::int64_t slot = s * slices.height + at % slices.height;
      const std::int64_t k = at / slices.height;
      if (k < slices.lengths[slot]) to[offsets[slices.permutation[slot]] + k] = from[base + at];
    }
  }
}

launch_shape a_block_each(std::int64_t slices) { return {std::min<std::int64_t>(slices, 1 << 20), slice_threads}; }

// Key: the row's window, then longest - length.
template <class O>
array<std::uint32_t, device> sorted_rows(const context<device>& ctx, span<const O, device> offsets, std::int64_t window,
                                         std::int64_t longest) {
  const std::int64_t rows = offsets.size() - 1;
  const auto length_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest)));
  const auto window_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>((rows - 1) / window)));
  if (length_bits + window_bits > 64) {
    throw error(error_code::unsupported, "to_sell: " + std::to_string(rows) + " rows of up to " +
                                             std::to_string(longest) + " entries are too many to sort");
  }
  array<std::uint32_t, device> order = iota(ctx, rows);
  array<std::uint64_t, device> keys(ctx, rows);
  std::uint64_t* key = keys.data();
  const O* offset = offsets.data();
  for_each(ctx, rows, [=] __device__(std::int64_t r) {
    const auto shortfall = static_cast<std::uint64_t>(longest - (offset[r + 1] - offset[r]));
    key[r] = static_cast<std::uint64_t>(r / window) << length_bits | shortfall;
  });
  sort_pairs(ctx, keys, order, 0, length_bits + window_bits);
  return order;
}

}  // namespace

template <entry_type V, index_type I, index_type O>
void fill_ell(const context<device>& ctx, const csr_view<const V, I, O, device>& m, I width, span<I, device> lengths,
              span<I, device> indices, span<V, device> values) {
  const O* offset = m.offsets.data();
  I* length = lengths.data();
  for_each(ctx, m.rows, [=] __device__(std::int64_t r) { length[r] = static_cast<I>(offset[r + 1] - offset[r]); });
  pad_rows(ctx, m.offsets, width, as_words(m.indices), as_words(indices));
  if constexpr (!is_pattern<V>) pad_rows(ctx, m.offsets, width, as_words(m.values), as_words(values));
}

template <index_type I, index_type O>
void order_rows(const context<device>& ctx, span<const O, device> offsets, std::int64_t window, std::int64_t longest,
                span<I, device> permutation, span<I, device> lengths) {
  const std::int64_t rows = offsets.size() - 1;
  array<std::uint32_t, device> order;
  if (window > 1 && rows > 0) order = sorted_rows(ctx, offsets, window, longest);
  const std::uint32_t* sorted = order.data();  // null: keep the order
  const O* offset = offsets.data();
  I* row_of = permutation.data();
  I* length = lengths.data();
  for_each(ctx, permutation.size(), [=] __device__(std::int64_t slot) {
    const std::int64_t row = slot >= rows ? -1 : sorted == nullptr ? slot : std::int64_t{sorted[slot]};
    row_of[slot] = static_cast<I>(row);
    length[slot] = row < 0 ? I{0} : static_cast<I>(offset[row + 1] - offset[row]);
  });
}

template <index_type I>
void slice_sizes(const context<device>& ctx, span<const I, device> lengths, I height,
                 span<std::int64_t, device> sizes) {
  const std::int64_t slices = sizes.size() - 1;
  fill_zero(ctx, sizes.subspan(slices, 1));
  if (slices == 0) return;
  const device_guard guard(ctx);
  launch_kernel(ctx, grid_stride(ctx, slices, block_threads / warp_size), slice_sizes_kernel<I>, lengths.data(), slices,
                height, sizes.data());
}

template <entry_type V, index_type I, index_type O>
void fill_sell(const context<device>& ctx, const csr_view<const V, I, O, device>& m,
               const sell_view<const V, I, O, device>& shape, span<I, device> indices, span<V, device> values) {
  if (indices.empty()) return;
  const device_guard guard(ctx);
  const slices_view<I, O> slices(shape);
  launch_kernel(ctx, a_block_each(slices.count), pad_slices<I, O, word_t<I>>, slices, m.offsets.data(),
                as_words(m.indices), as_words(indices));
  if constexpr (!is_pattern<V>) {
    launch_kernel(ctx, a_block_each(slices.count), pad_slices<I, O, word_t<V>>, slices, m.offsets.data(),
                  as_words(m.values), as_words(values));
  }
}

template <index_type I, index_type O>
void place_lengths(const context<device>& ctx, span<const I, device> permutation, span<const I, device> lengths,
                   span<O, device> row_lengths) {
  fill_zero(ctx, row_lengths);
  const I* row_of = permutation.data();  // null: slot s is row s
  const I* length = lengths.data();
  O* out = row_lengths.data();
  for_each(ctx, lengths.size(), [=] __device__(std::int64_t slot) {
    const std::int64_t row = row_of == nullptr ? slot : std::int64_t{row_of[slot]};
    if (row >= 0) out[row] = static_cast<O>(length[slot]);
  });
}

template <entry_type V, index_type I, index_type O>
void gather_ell(const context<device>& ctx, const ell_view<const V, I, device>& m, span<const O, device> offsets,
                span<I, device> indices, span<V, device> values) {
  unpad_rows(ctx, m.width, m.row_lengths, offsets, as_words(m.indices), as_words(indices));
  if constexpr (!is_pattern<V>) {
    unpad_rows(ctx, m.width, m.row_lengths, offsets, as_words(m.values), as_words(values));
  }
}

template <entry_type V, index_type I, index_type O>
void gather_sell(const context<device>& ctx, const sell_view<const V, I, O, device>& m, span<const O, device> offsets,
                 span<I, device> indices, span<V, device> values) {
  if (indices.empty()) return;
  const device_guard guard(ctx);
  const slices_view<I, O> slices(m);
  launch_kernel(ctx, a_block_each(slices.count), unpad_slices<I, O, word_t<I>>, slices, offsets.data(),
                as_words(m.indices), as_words(indices));
  if constexpr (!is_pattern<V>) {
    launch_kernel(ctx, a_block_each(slices.count), unpad_slices<I, O, word_t<V>>, slices, offsets.data(),
                  as_words(m.values), as_words(values));
  }
}

template <index_type O>
void narrow(const context<device>& ctx, span<const std::int64_t, device> in, span<O, device> out) {
  const std::int64_t* from = in.data();
  O* to = out.data();
  for_each(ctx, in.size(), [=] __device__(std::int64_t i) { to[i] = static_cast<O>(from[i]); });
}

#define INSTANTIATE_I(I)                                                                                   \
  template void slice_sizes(const context<device>&, span<const I, device>, I, span<std::int64_t, device>); \
  template void narrow(const context<device>&, span<const std::int64_t, device>, span<I, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

#define INSTANTIATE_IO(I, O)                                                                                           \
  template void order_rows(const context<device>&, span<const O, device>, std::int64_t, std::int64_t, span<I, device>, \
                           span<I, device>);                                                                           \
  template void place_lengths(const context<device>&, span<const I, device>, span<const I, device>, span<O, device>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)

#define INSTANTIATE_VIO(V, I, O)                                                                                    \
  template void fill_ell(const context<device>&, const csr_view<const V, I, O, device>&, I, span<I, device>,        \
                         span<I, device>, span<V, device>);                                                         \
  template void fill_sell(const context<device>&, const csr_view<const V, I, O, device>&,                           \
                          const sell_view<const V, I, O, device>&, span<I, device>, span<V, device>);               \
  template void gather_ell(const context<device>&, const ell_view<const V, I, device>&, span<const O, device>,      \
                           span<I, device>, span<V, device>);                                                       \
  template void gather_sell(const context<device>&, const sell_view<const V, I, O, device>&, span<const O, device>, \
                            span<I, device>, span<V, device>);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_VIO)

}  // namespace spargo::detail::convert

// CSR to and from ELL and SELL-C-sigma on the host.
//
// The padded formats store entry k of neighbouring rows side by side. Rows are processed in blocks with the outer loop
// over k: writes are contiguous while the block's CSR rows stay in cache. Cost: O(stored entries); order_rows sorts
// each window of sigma rows, O(rows * log(sigma)).
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "formats/convert/backend.hpp"

#include <algorithm>

namespace spargo::detail::convert {

namespace {

constexpr std::int64_t row_block = 64;  // rows per block: 64 cache lines of L1

// Copies rows [first, last) of CSR: entry k of row first + l to base + k * stride + l, k < width.
template <class V, class I, class O, class RowOf>
void fill_block(const csr_view<const V, I, O, host>& m, std::int64_t lanes, std::int64_t width, std::int64_t base,
                std::int64_t stride, const RowOf& row_of, I* indices, V* values) {
  for (std::int64_t k = 0; k < width; ++k) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      const std::int64_t row = row_of(l);
      const std::int64_t from = row < 0 ? 0 : m.offsets[row] + k;
      const bool present = row >= 0 && from < m.offsets[row + 1];
      const std::int64_t to = base + k * stride + l;
      indices[to] = present ? m.indices[from] : I{0};
      if constexpr (!is_pattern<V>) values[to] = present ? m.values[from] : V{};
    }
  }
}

}  // namespace

template <entry_type V, index_type I, index_type O>
void fill_ell(const context<host>& ctx, const csr_view<const V, I, O, host>& m, I width, span<I, host> lengths,
              span<I, host> indices, span<V, host> values) {
  const std::int64_t rows = m.rows;
  parallel_for(ctx.threads(), div_up(rows, row_block), div_up(grain::rows, row_block), [&](std::int64_t b) {
    const std::int64_t first = b * row_block;
    const std::int64_t lanes = std::min(row_block, rows - first);
    for (std::int64_t r = first; r < first + lanes; ++r) lengths[r] = static_cast<I>(m.offsets[r + 1] - m.offsets[r]);
    fill_block(
        m, lanes, width, first, rows, [first](std::int64_t l) { return first + l; }, indices.data(), values.data());
  });
}

template <index_type I, index_type O>
void order_rows(const context<host>& ctx, span<const O, host> offsets, std::int64_t window, std::int64_t,
                span<I, host> permutation, span<I, host> lengths) {
  const std::int64_t rows = offsets.size() - 1;
  const auto length = [&](I row) { return offsets[row + 1] - offsets[row]; };
  parallel_for(ctx.threads(), div_up(rows, window), div_up(grain::rows, window), [&](std::int64_t w) {
    const std::int64_t first = w * window;
    const std::int64_t last = std::min(first + window, rows);
    for (std::int64_t r = first; r < last; ++r) permutation[r] = static_cast<I>(r);
    // Ties are broken by row number: a stable sort without memory.
    std::sort(permutation.data() + first, permutation.data() + last,
              [&](I a, I b) { return length(a) != length(b) ? length(a) > length(b) : a < b; });
    for (std::int64_t s = first; s < last; ++s) lengths[s] = static_cast<I>(length(permutation[s]));
  });
  for (std::int64_t s = rows; s < permutation.size(); ++s) {
    permutation[s] = -1;
    lengths[s] = 0;
  }
}

template <index_type I>
void slice_sizes(const context<host>& ctx, span<const I, host> lengths, I height, span<std::int64_t, host> sizes) {
  const std::int64_t slices = sizes.size() - 1;
  parallel_for(ctx.threads(), slices, div_up<std::int64_t>(grain::elements, height), [&](std::int64_t s) {
    const I* first = lengths.data() + s * height;
    sizes[s] = std::int64_t{*std::max_element(first, first + height)} * height;
  });
  sizes[slices] = 0;
}

template <entry_type V, index_type I, index_type O>
void fill_sell(const context<host>& ctx, const csr_view<const V, I, O, host>& m,
               const sell_view<const V, I, O, host>& shape, span<I, host> indices, span<V, host> values) {
  const std::int64_t height = shape.slice_height;
  parallel_for(ctx.threads(), shape.slices(), div_up(grain::rows, height), [&](std::int64_t s) {
    const std::int64_t base = shape.slice_offsets[s];
    const std::int64_t width = (shape.slice_offsets[s + 1] - base) / height;
    const I* rows = shape.permutation.data() + s * height;
    fill_block(
        m, height, width, base, height, [rows](std::int64_t l) { return std::int64_t{rows[l]}; }, indices.data(),
        values.data());
  });
}

template <index_type I, index_type O>
void place_lengths(const context<host>& ctx, span<const I, host> permutation, span<const I, host> lengths,
                   span<O, host> row_lengths) {
  fill_zero(ctx, row_lengths);
  parallel_for(ctx.threads(), lengths.size(), grain::elements, [&](std::int64_t s) {
    const std::int64_t row = permutation.empty() ? s : std::int64_t{permutation[s]};
    if (row >= 0) row_lengths[row] = static_cast<O>(lengths[s]);
  });
}

template <entry_type V, index_type I, index_type O>
void gather_ell(const context<host>& ctx, const ell_view<const V, I, host>& m, span<const O, host> offsets,
                span<I, host> indices, span<V, host> values) {
  const std::int64_t rows = m.rows;
  parallel_for(ctx.threads(), rows, grain::rows, [&](std::int64_t r) {
    std::int64_t from = r;
    for (std::int64_t to = offsets[r]; to < offsets[r + 1]; ++to, from += rows) {
      indices[to] = m.indices[from];
      if constexpr (!is_pattern<V>) values[to] = m.values[from];
    }
  });
}

template <entry_type V, index_type I, index_type O>
void gather_sell(const context<host>& ctx, const sell_view<const V, I, O, host>& m, span<const O, host> offsets,
                 span<I, host> indices, span<V, host> values) {
  const std::int64_t height = m.slice_height;
  parallel_for(ctx.threads(), m.permutation.size(), grain::rows, [&](std::int64_t s) {
    const I row = m.permutation[s];
    if (row < 0) return;
    std::int64_t from = m.slice_offsets[s / height] + s % height;
    for (std::int64_t to = offsets[row]; to < offsets[row + 1]; ++to, from += height) {
      indices[to] = m.indices[from];
      if constexpr (!is_pattern<V>) values[to] = m.values[from];
    }
  });
}

template <index_type O>
void narrow(const context<host>& ctx, span<const std::int64_t, host> in, span<O, host> out) {
  parallel_for(ctx.threads(), in.size(), grain::elements, [&](std::int64_t i) { out[i] = static_cast<O>(in[i]); });
}

#define INSTANTIATE_I(I)                                                                             \
  template void slice_sizes(const context<host>&, span<const I, host>, I, span<std::int64_t, host>); \
  template void narrow(const context<host>&, span<const std::int64_t, host>, span<I, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

#define INSTANTIATE_IO(I, O)                                                                                     \
  template void order_rows(const context<host>&, span<const O, host>, std::int64_t, std::int64_t, span<I, host>, \
                           span<I, host>);                                                                       \
  template void place_lengths(const context<host>&, span<const I, host>, span<const I, host>, span<O, host>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)

#define INSTANTIATE_VIO(V, I, O)                                                                                      \
  template void fill_ell(const context<host>&, const csr_view<const V, I, O, host>&, I, span<I, host>, span<I, host>, \
                         span<V, host>);                                                                              \
  template void fill_sell(const context<host>&, const csr_view<const V, I, O, host>&,                                 \
                          const sell_view<const V, I, O, host>&, span<I, host>, span<V, host>);                       \
  template void gather_ell(const context<host>&, const ell_view<const V, I, host>&, span<const O, host>,              \
                           span<I, host>, span<V, host>);                                                             \
  template void gather_sell(const context<host>&, const sell_view<const V, I, O, host>&, span<const O, host>,         \
                            span<I, host>, span<V, host>);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_VIO)

}  // namespace spargo::detail::convert

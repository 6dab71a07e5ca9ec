// Stacked matrices and Kronecker products on a device. Every entry finds its place from its row: entries are read in
// their order, and those of a row are written side by side.
#include "core/device/complex.cuh"
#include "core/instantiate.hpp"
#include "sparse/algebra/entries.cuh"
#include "sparse/rounded.cuh"

namespace spargo::detail::algebra {

namespace {

template <class D>
__device__ __forceinline__ void store_product(D* to, const D* a, const D* b) {
  if constexpr (!std::is_same_v<D, pattern>) *to = rounded_product(*a, *b);
}

}  // namespace

template <index_type I, index_type O>
void stack_below(const context<device>& ctx, const std::vector<block<I, O, device>>& blocks, value_moves values,
                 csr_matrix<pattern, I, O, device>& to) {
  std::int64_t row = 0;
  std::int64_t entry = 0;
  for (const block<I, O, device>& p : blocks) {
    const std::int64_t nnz = p.rows.nnz();
    copy<I>(ctx, p.rows.indices, to.indices().view().subspan(entry, nnz));
    copy_on_device(ctx, p.values, static_cast<char*>(values.to) + static_cast<std::size_t>(entry) * values.bytes,
                   static_cast<std::size_t>(nnz) * values.bytes);
    const O* const from = p.rows.offsets.data();
    O* const offset = to.offsets().data() + row;
    // The last one is that of the next matrix's first row too.
    for_each(ctx, p.rows.offsets.size(),
             [=] __device__(std::int64_t r) { offset[r] = static_cast<O>(entry + from[r]); });
    row += p.rows.rows;
    entry += nnz;
  }
}

template <index_type I, index_type O>
void stack_beside(const context<device>& ctx, const std::vector<block<I, O, device>>& blocks, value_moves values,
                  csr_matrix<pattern, I, O, device>& to) {
  O* const offset = to.offsets().data();
  const std::int64_t rows = to.rows();
  fill_zero(ctx, to.offsets());
  for (const block<I, O, device>& p : blocks) {
    const O* const from = p.rows.offsets.data();
    for_each(ctx, rows + 1, [=] __device__(std::int64_t r) { offset[r] = static_cast<O>(offset[r] + from[r]); });
  }
  array<O, device> places(ctx, rows);  // of the next entry of each row
  copy<O>(ctx, std::as_const(to).offsets().view().subspan(0, rows), places.view());
  O* const place = places.data();
  I* const column = to.indices().data();
  I shift = 0;
  for (const block<I, O, device>& p : blocks) {
    const O* const from = p.rows.offsets.data();
    const I* const index = p.rows.indices.data();
    const I before = shift;
    values.from = p.values;
    for_each_entry(ctx, p.rows.offsets, p.rows.nnz(), [=] __device__(std::int64_t k, std::int64_t row) {
      const std::int64_t at = place[row] + (k - from[row]);
      column[at] = static_cast<I>(index[k] + before);
      move_value(values, at, k);
    });
    for_each(ctx, rows,
             [=] __device__(std::int64_t r) { place[r] = static_cast<O>(place[r] + from[r + 1] - from[r]); });
    shift = static_cast<I>(shift + p.rows.cols);
  }
}

template <entry_type V, index_type I, index_type O>
void fill_kronecker(const context<device>& ctx, const csr_view<const V, I, O, device>& a,
                    const csr_view<const V, I, O, device>& b, csr_matrix<V, I, O, device>& to) {
  const O* const a_offset = a.offsets.data();
  const O* const b_offset = b.offsets.data();
  const std::int64_t b_rows = b.rows;
  const std::int64_t b_nnz = b.nnz();
  const std::int64_t nnz = to.nnz();
  O* const offset = to.offsets().data();
  const std::int64_t rows = to.rows();
  for_each(ctx, rows + 1, [=] __device__(std::int64_t r) {
    std::int64_t before = nnz;
    if (r < rows) {
      const std::int64_t i = r / b_rows;
      before = a_offset[i] * b_nnz + (a_offset[i + 1] - a_offset[i]) * std::int64_t{b_offset[r % b_rows]};
    }
    offset[r] = static_cast<O>(before);
  });
  const I* const a_index = a.indices.data();
  const I* const b_index = b.indices.data();
  const I b_cols = b.cols;
  I* const column = to.indices().data();
  const auto* const a_value = device_cast(a.values.data());
  const auto* const b_value = device_cast(b.values.data());
  auto* const value = device_cast(to.values().data());
  for_each_entry<O>(ctx, to.offsets(), nnz, [=] __device__(std::int64_t k, std::int64_t r) {
    const std::int64_t own = k - offset[r];
    const std::int64_t first = b_offset[r % b_rows];
    const std::int64_t length = b_offset[r % b_rows + 1] - first;
    const std::int64_t p = a_offset[r / b_rows] + own / length;
    const std::int64_t q = first + own % length;
    column[k] = static_cast<I>(a_index[p] * b_cols + b_index[q]);
    store_product(value + k, a_value + p, b_value + q);
  });
}

#define INSTANTIATE_IO(I, O)                                                                               \
  template void stack_below(const context<device>&, const std::vector<block<I, O, device>>&, value_moves,  \
                            csr_matrix<pattern, I, O, device>&);                                           \
  template void stack_beside(const context<device>&, const std::vector<block<I, O, device>>&, value_moves, \
                             csr_matrix<pattern, I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)

#define INSTANTIATE(V, I, O)                                                                   \
  template void fill_kronecker(const context<device>&, const csr_view<const V, I, O, device>&, \
                               const csr_view<const V, I, O, device>&, csr_matrix<V, I, O, device>&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::algebra

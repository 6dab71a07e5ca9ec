// What the structure operations do on a device. In *_cuda.cu.
#pragma once

#include <spargo/formats/csr.hpp>

namespace spargo::detail::algebra {

template <index_type I, index_type O>
[[nodiscard]] bool has_canonical_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix);

// Throws `unsupported` if a sum has more entries than offsets of this size hold.
void expect_sum_fits(std::int64_t nnz, std::size_t offset_bytes);

// alpha A + beta B of canonical matrices of the same shape.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] csr_matrix<V, I, O, device> device_sum(const context<device>& ctx, V alpha,
                                                     const csr_view<const V, I, O, device>& a, V beta,
                                                     const csr_view<const V, I, O, device>& b);

}  // namespace spargo::detail::algebra

// The inner loops of all host products, chosen once for the processor.
//
// `portable` compiles anywhere. On x86-64, simd/x86 adds AVX2 and AVX-512 versions for real values. Each file is
// compiled with its own flags and has internal symbols only, so that none of its instructions leaks into code for older
// processors. CMake selects simd/x86 or simd/portable.
#pragma once

#include <spargo/core/types.hpp>

#include <vector>

namespace spargo::detail::spmv {

template <class V, class I, class O>
struct host_kernels {
  // y[r] = alpha * (row r times x) + beta * y[r] for first <= r < last; beta = 0 does not read y.
  void (*csr_rows)(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                   std::int64_t first, std::int64_t last);
  // csr_rows for beta = 0 with non-temporal stores where available: for a y larger than the caches.
  void (*stream_rows)(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                      std::int64_t first, std::int64_t last);
  // Sum of values[k] * x[indices[k]], 0 <= k < count.
  V (*dot)(const V* values, const I* indices, std::int64_t count, const V* x);
  // sums[l] = sum of values[k * stride + l] * x[indices[k * stride + l]], 0 <= k < lengths[l], for `lanes` lanes. May
  // read past a lane's length if another lane has an entry there (indices must be valid), but never adds that.
  void (*lane_sums)(const V* values, const I* indices, std::int64_t stride, const I* lengths, std::int64_t lanes,
                    const V* x, V* sums);
  const char* name;  // "AVX-512", "AVX2" or "portable"
};

// The fastest that this processor supports; chosen once.
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>& best_host_kernels();

// The fastest for matrices that fit L2 or have few entries per row: there instructions dominate. Same bits.
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>& best_cached_kernels();

// Whether this processor's gathers are faster than single loads: then lane_sums beats rows by loads in cache.
[[nodiscard]] bool gathers_are_fast();

// All that this processor supports, the portable ones first: for tests.
template <class V, class I, class O>
[[nodiscard]] std::vector<const host_kernels<V, I, O>*> usable_host_kernels();

}  // namespace spargo::detail::spmv

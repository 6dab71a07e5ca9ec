// The inner loops of every host product, chosen once for the processor at hand.
//
// `portable` compiles anywhere; on x86-64 src/sparse/simd/x86 adds AVX2 and AVX-512 versions for real values, each
// file compiled with its own flags and holding internal symbols only, so that no instruction of it can leak into
// code that older processors run. CMake takes either simd/x86 or simd/portable.
#pragma once

#include <spargo/core/types.hpp>

#include <vector>

namespace spargo::detail::spmv {

template <class V, class I, class O>
struct host_kernels {
  // y[r] = alpha * (row r times x) + beta * y[r] for first <= r < last; beta = 0 leaves y unread.
  void (*csr_rows)(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                   std::int64_t first, std::int64_t last);
  // csr_rows with beta = 0, whose y goes to memory past the caches where the processor can: for a y that no cache
  // keeps.
  void (*stream_rows)(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                      std::int64_t first, std::int64_t last);
  // The sum of values[k] * x[indices[k]], 0 <= k < count.
  V (*dot)(const V* values, const I* indices, std::int64_t count, const V* x);
  // sums[l] = the sum of values[k * stride + l] * x[indices[k * stride + l]], 0 <= k < lengths[l], for `lanes` lanes.
  // Elements at or past a lane's length may be read where another lane of the call has an entry (its index must be
  // valid) but never reach a sum.
  void (*lane_sums)(const V* values, const I* indices, std::int64_t stride, const I* lengths, std::int64_t lanes,
                    const V* x, V* sums);
  const char* name;  // "AVX-512", "AVX2" or "portable"
};

// The fastest that this processor runs. The choice is made once; every call returns the same table.
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>& best_host_kernels();

// The same for rows of a matrix that the L2 cache holds, or of rows of few entries: where instructions are what a
// product waits for. Sums have the same bits.
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>& best_cached_kernels();

// Whether this processor's gathers beat as many loads, so that lane_sums is faster than rows by loads in cache.
[[nodiscard]] bool gathers_are_fast();

// All that this processor runs, the portable ones first: for tests.
template <class V, class I, class O>
[[nodiscard]] std::vector<const host_kernels<V, I, O>*> usable_host_kernels();

}  // namespace spargo::detail::spmv

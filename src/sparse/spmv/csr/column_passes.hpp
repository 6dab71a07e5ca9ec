// Products in passes over ranges of columns, for an x that the L2 cache does not hold.
#pragma once

#include "sparse/spmv/executor.hpp"

namespace spargo::detail::spmv {

// The vector that a product gathers from, and the cache between it and the SMs.
struct gathered_vector {
  std::int64_t size = 0;
  std::int64_t value_bytes = 0;
  std::int64_t cache_bytes = 0;

  [[nodiscard]] std::int64_t bytes() const { return size * value_bytes; }
};

// Whether the L2 cache keeps nearly all of x, and a matrix of nnz entries uses each element often enough to fetch
// more of it than a gather asks for.
[[nodiscard]] bool is_kept(std::int64_t nnz, const gathered_vector& x);

// Passes, two at least, such that the part of x that one gathers from stays in the L2 cache.
[[nodiscard]] int column_passes(const gathered_vector& x);

// Whether passes are expected to be faster than merge_path, for regular rows.
[[nodiscard]] bool passes_pay(const row_profile& profile, const gathered_vector& x);

template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_passes_executor(const context<device>& ctx,
                                                   const csr_view<const V, I, O, device>& matrix);

}  // namespace spargo::detail::spmv

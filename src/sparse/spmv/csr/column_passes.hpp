// Products in passes over ranges of columns, for an x larger than L2.
#pragma once

#include "sparse/spmv/executor.hpp"

namespace spargo::detail::spmv {

// The vector that a product gathers from, and the L2 cache.
struct gathered_vector {
  std::int64_t size = 0;
  std::int64_t value_bytes = 0;
  std::int64_t cache_bytes = 0;

  [[nodiscard]] std::int64_t bytes() const { return size * value_bytes; }
};

// Whether L2 keeps nearly all of x, and nnz entries use each element often enough that loading whole lines pays off.
[[nodiscard]] bool is_kept(std::int64_t nnz, const gathered_vector& x);

// Number of passes (at least two) such that each one's part of x stays in L2.
[[nodiscard]] int column_passes(const gathered_vector& x);

// Whether passes are expected to be faster than merge_path, for regular rows.
[[nodiscard]] bool passes_pay(const row_profile& profile, const gathered_vector& x);

template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_passes_executor(const context<device>& ctx,
                                                   const csr_view<const V, I, O, device>& matrix);

}  // namespace spargo::detail::spmv

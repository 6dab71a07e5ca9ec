// A plan's executors: one per format, algorithm and backend.
#pragma once

#include "sparse/row_profile.hpp"

#include <spargo/sparse/spmv.hpp>

#include <memory>

namespace spargo::detail::spmv {

// The analysed matrix. `run` gets valid, non-overlapping x and y, alpha != 0, at least one row and one entry.
template <class V>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  virtual void run(V alpha, const V* x, V beta, V* y) const = 0;
  // Whether the executor reads a copy of the matrix instead of the caller's arrays.
  [[nodiscard]] virtual spmv_storage storage() const noexcept { return spmv_storage::borrowed; }
  // Only for copies: new values, in the order of the original CSR matrix.
  virtual void update_values(const V* /*values*/) {}
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept { return 0; }
};

template <class V>
using executor_ptr = std::unique_ptr<executor<V>>;

// y = beta * y; beta = 0 does not read y.
template <class V>
void scale(const context<host>& ctx, V beta, V* y, std::int64_t size);
template <class V>
void scale(const context<device>& ctx, V beta, V* y, std::int64_t size);

// values[k] = conj(values[k]), for complex values.
template <class V>
void conjugate(const context<host>& ctx, V* values, std::int64_t size);
template <class V>
void conjugate(const context<device>& ctx, V* values, std::int64_t size);

// `algorithm` is one that the format and the backend have; `row_profile` is for tuning.
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                            spmv_algorithm algorithm, const row_profile& profile);
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                            spmv_algorithm algorithm, const row_profile& profile);
template <class V, class I>
[[nodiscard]] executor_ptr<V> make_executor(const context<host>& ctx, const ell_view<const V, I, host>& matrix);
template <class V, class I>
[[nodiscard]] executor_ptr<V> make_executor(const context<device>& ctx, const ell_view<const V, I, device>& matrix);
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_executor(const context<host>& ctx, const sell_view<const V, I, O, host>& matrix);
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V> make_executor(const context<device>& ctx, const sell_view<const V, I, O, device>& matrix);
template <class V, class I>
[[nodiscard]] executor_ptr<V> make_executor(const context<host>& ctx, const coo_view<const V, I, host>& matrix,
                                            spmv_algorithm algorithm);
template <class V, class I>
[[nodiscard]] executor_ptr<V> make_executor(const context<device>& ctx, const coo_view<const V, I, device>& matrix,
                                            spmv_algorithm algorithm);

}  // namespace spargo::detail::spmv

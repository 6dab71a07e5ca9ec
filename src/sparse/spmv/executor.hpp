// What a plan hides: one executor a (format, algorithm, backend), and the row profile that chooses among them.
#pragma once

#include <spargo/sparse/spmv.hpp>

#include <memory>

namespace spargo::detail {

// The analysed matrix. `run` gets valid, non-overlapping x and y, alpha != 0, at least one row and one entry.
template <class V>
class spmv_executor {
 public:
  spmv_executor() = default;
  spmv_executor(const spmv_executor&) = delete;
  spmv_executor& operator=(const spmv_executor&) = delete;
  virtual ~spmv_executor() = default;

  virtual void run(V alpha, const V* x, V beta, V* y) const = 0;
  // Whether the executor reads a copy of the matrix instead of the caller's arrays.
  [[nodiscard]] virtual spmv_storage storage() const noexcept { return spmv_storage::borrowed; }
  // Only for those that keep a copy: other values, in the order of the CSR matrix that it was made from.
  virtual void update_values(const V* /*values*/) {}
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept { return 0; }
};

template <class V>
using spmv_executor_ptr = std::unique_ptr<spmv_executor<V>>;

struct row_profile {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t longest = 0;  // entries of the longest row
  std::int64_t empty_rows = 0;
  std::int64_t long_entries = 0;  // entries in rows of more than long_row_limit entries
  // Device: of pairs of entries at the same place in neighbouring rows, in a sample, those whose columns are near.
  std::int64_t sampled_pairs = 0;
  std::int64_t near_pairs = 0;

  // Whether neighbouring rows gather neighbouring elements of x, as those of stencils and bands do.
  [[nodiscard]] bool is_local() const { return 2 * near_pairs >= sampled_pairs; }

  [[nodiscard]] double mean() const { return rows == 0 ? 0.0 : static_cast<double>(nnz) / static_cast<double>(rows); }
};

// A row beyond this length upsets a static assignment of rows to threads: eight times the mean, and 32 more so that
// matrices of few entries per row are not called irregular for a row of ten.
[[nodiscard]] inline std::int64_t long_row_limit(std::int64_t rows, std::int64_t nnz) {
  return rows == 0 ? 0 : 8 * (nnz / rows) + 32;
}

// O(rows). The device one synchronises the stream.
template <class I, class O>
[[nodiscard]] row_profile profile_rows(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix);
template <class I, class O>
[[nodiscard]] row_profile profile_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix);

// Equal for equal patterns, and for others with a chance of 2^-64: the sum over offsets and indices of a mix of place
// and value, so threads may add in any order. O(rows + nnz). The device one synchronises the stream.
template <class I, class O>
[[nodiscard]] std::uint64_t pattern_fingerprint(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix);
template <class I, class O>
[[nodiscard]] std::uint64_t pattern_fingerprint(const context<device>& ctx,
                                                const csr_pattern_view<I, O, device>& matrix);

// y = beta * y, with beta = 0 leaving y unread.
template <class V>
void scale(const context<host>& ctx, V beta, V* y, std::int64_t size);
template <class V>
void scale(const context<device>& ctx, V beta, V* y, std::int64_t size);

// `algorithm` is one that the format and the backend have; `row_profile` serves tuning.
template <class V, class I, class O>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                                 spmv_algorithm algorithm, const row_profile& profile);
template <class V, class I, class O>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<device>& ctx,
                                                 const csr_view<const V, I, O, device>& matrix,
                                                 spmv_algorithm algorithm, const row_profile& profile);
template <class V, class I>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<host>& ctx, const ell_view<const V, I, host>& matrix);
template <class V, class I>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<device>& ctx,
                                                 const ell_view<const V, I, device>& matrix);
template <class V, class I, class O>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<host>& ctx,
                                                 const sell_view<const V, I, O, host>& matrix);
template <class V, class I, class O>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<device>& ctx,
                                                 const sell_view<const V, I, O, device>& matrix);
template <class V, class I>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<host>& ctx, const coo_view<const V, I, host>& matrix,
                                                 spmv_algorithm algorithm);
template <class V, class I>
[[nodiscard]] spmv_executor_ptr<V> make_executor(const context<device>& ctx, const coo_view<const V, I, device>& matrix,
                                                 spmv_algorithm algorithm);

}  // namespace spargo::detail

// A plan's executor: C's pattern, and its values.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/sparse/spgemm.hpp>

#include <memory>

namespace spargo::detail::spgemm {

template <class V, class I, class O, class Space>
class executor : public plan_executor {
 public:
  [[nodiscard]] virtual std::int64_t products() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t nnz() const noexcept = 0;
  // A device may write columns only now, where `fill` did not.
  [[nodiscard]] virtual csr_matrix<pattern, I, O, Space>& result() = 0;
  // For a pattern does nothing.
  virtual void fill(V* values) = 0;
};

template <class V, class I, class O, class Space>
using executor_ptr = std::unique_ptr<executor<V, I, O, Space>>;

// Throws out_of_memory or `unsupported` if C's entries take more than the limit or exceed offsets of this size.
void expect_result_fits(std::int64_t nnz, const spgemm_options& options, std::int64_t entry_bytes,
                        std::size_t offset_bytes);

// Arguments are checked; without a mask `mask` is null.
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, I, O, host> make_executor(const context<host>& ctx,
                                                        const csr_view<const V, I, O, host>& a,
                                                        const csr_view<const V, I, O, host>& b,
                                                        const csr_pattern_view<I, O, host>* mask,
                                                        const spgemm_options& options);
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, I, O, device> make_executor(const context<device>& ctx,
                                                          const csr_view<const V, I, O, device>& a,
                                                          const csr_view<const V, I, O, device>& b,
                                                          const csr_pattern_view<I, O, device>* mask,
                                                          const spgemm_options& options);

}  // namespace spargo::detail::spgemm

// Products by a transposed copy of a CSR matrix: the plan of the copy, and the copy as long as that plan reads it.
#pragma once

#include "sparse/spmv/executor.hpp"

#include <spargo/formats/convert.hpp>

namespace spargo::detail::spmv {

template <class V, class I, class O, class Space>
class transposed_copy final : public executor<V> {
 public:
  transposed_copy(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, spmv_options options)
      : ctx_(ctx),
        operation_(std::exchange(options.operation, spmv_operation::none)),
        copy_(make(matrix)),
        plan_(ctx, copy_.view(), options),
        rows_(matrix.rows),
        cols_(matrix.cols) {
    if (plan_.storage() == spmv_storage::copied) copy_ = {};
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    plan_.run(alpha, span<const V, Space>(x, rows_), beta, span<V, Space>(y, cols_));
  }

  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }

  // For a matrix of the same pattern.
  void update(const csr_view<const V, I, O, Space>& matrix) {
    csr_matrix<V, I, O, Space> fresh = make(matrix);
    plan_.update_values(fresh.view());
    if (plan_.storage() == spmv_storage::borrowed) copy_ = std::move(fresh);
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return plan_.workspace_bytes() + copy_.offsets().size() * static_cast<std::int64_t>(sizeof(O)) +
           copy_.nnz() * static_cast<std::int64_t>(sizeof(I) + sizeof(V));
  }

  [[nodiscard]] plan_choice<spmv_algorithm> choice() const {
    return {plan_.algorithm(), "of a transposed copy: " + plan_.reason()};
  }

 private:
  csr_matrix<V, I, O, Space> make(const csr_view<const V, I, O, Space>& matrix) const {
    csr_matrix<V, I, O, Space> copy = transpose(ctx_, matrix);
    if (operation_ == spmv_operation::conjugate_transpose) conjugate(ctx_, copy.values().data(), copy.nnz());
    return copy;
  }

  context<Space> ctx_;
  spmv_operation operation_;
  csr_matrix<V, I, O, Space> copy_;  // empty if the plan has its own copy
  spmv_plan<V, I, O, Space> plan_;
  std::int64_t rows_;
  std::int64_t cols_;
};

}  // namespace spargo::detail::spmv

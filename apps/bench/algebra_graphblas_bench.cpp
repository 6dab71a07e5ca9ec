// Peer on the host: SuiteSparse:GraphBLAS with matrices by rows. The results are finished, sorted rows included.
#include "bench/algebra_cases.hpp"

#include "bench/graphblas_peer.hpp"

namespace spargo::bench {

namespace {

GrB_Matrix imported(const native::csr_arrays<double>& a) {
  const auto rows = static_cast<GrB_Index>(a.rows);
  const auto nnz = static_cast<GrB_Index>(a.nnz);
  const std::vector<GrB_Index> offsets(a.offsets, a.offsets + rows + 1);
  const std::vector<GrB_Index> indices(a.indices, a.indices + nnz);
  GrB_Matrix to = nullptr;
  expect_done(GrB_Matrix_import_FP64(&to, GrB_FP64, rows, static_cast<GrB_Index>(a.cols), offsets.data(),
                                     indices.data(), a.values, rows + 1, nnz, nnz, GrB_CSR_FORMAT));
  expect_done(GrB_Matrix_wait(to, GrB_MATERIALIZE));
  return to;
}

class call final : public native::algebra_call {
 public:
  call(native::algebra operation, const native::csr_arrays<double>& a, const native::csr_arrays<double>& turned)
      : operation_(operation), rows_(a.rows), cols_(a.cols), a_(imported(a)), turned_(imported(turned)) {}
  call(const call&) = delete;
  call& operator=(const call&) = delete;
  ~call() override {
    GrB_Matrix_free(&a_);
    GrB_Matrix_free(&turned_);
    GrB_Matrix_free(&out_);
  }

  void run() override {
    GrB_Matrix_free(&out_);
    expect_done(GrB_Matrix_new(&out_, GrB_FP64, static_cast<GrB_Index>(rows_), static_cast<GrB_Index>(cols_)));
    if (operation_ == native::algebra::transpose) {
      expect_done(GrB_transpose(out_, nullptr, nullptr, a_, nullptr));
    } else if (operation_ == native::algebra::add) {
      expect_done(GrB_Matrix_eWiseAdd_BinaryOp(out_, nullptr, nullptr, GrB_PLUS_FP64, a_, turned_, nullptr));
    } else {
      expect_done(GrB_mxm(out_, nullptr, nullptr, GrB_PLUS_TIMES_SEMIRING_FP64, a_, a_, nullptr));
    }
    expect_done(GrB_Matrix_wait(out_, GrB_MATERIALIZE));
  }

  native::csr_arrays<double> result() override {
    GrB_Index offsets = 0;
    GrB_Index indices = 0;
    GrB_Index values = 0;
    expect_done(GrB_Matrix_exportSize(&offsets, &indices, &values, GrB_CSR_FORMAT, out_));
    std::vector<GrB_Index> wide_offsets(offsets);
    std::vector<GrB_Index> wide_indices(indices);
    values_.resize(values);
    expect_done(GrB_Matrix_export_FP64(wide_offsets.data(), wide_indices.data(), values_.data(), &offsets, &indices,
                                       &values, GrB_CSR_FORMAT, out_));
    offsets_.assign(wide_offsets.begin(), wide_offsets.end());
    indices_.assign(wide_indices.begin(), wide_indices.end());
    return {rows_, cols_, static_cast<std::int32_t>(values_.size()), offsets_.data(), indices_.data(), values_.data()};
  }

 private:
  native::algebra operation_;
  std::int32_t rows_;
  std::int32_t cols_;
  GrB_Matrix a_;
  GrB_Matrix turned_;
  GrB_Matrix out_ = nullptr;
  std::vector<std::int32_t> offsets_{};
  std::vector<std::int32_t> indices_{};
  std::vector<double> values_{};
};

const bool added = [] {
  algebra_peers().push_back({.name = "graphblas",
                             .make =
                                 [](native::algebra operation, const native::csr_arrays<double>& a,
                                    const native::csr_arrays<double>& turned, const double*, int threads) {
                                   start_graphblas(threads);
                                   return std::shared_ptr<native::algebra_call>(
                                       std::make_shared<call>(operation, a, turned));
                                 },
                             .is_threaded = true,
                             .has_cg = false});
  return true;
}();

}  // namespace

}  // namespace spargo::bench

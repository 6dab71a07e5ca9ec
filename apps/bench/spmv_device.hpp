// A matrix on the device with its vectors, the check of its product, and cuSPARSE's products as peers.
#pragma once

#include "bench/cached.hpp"
#include "bench/check_device.hpp"
#include "bench/cusparse_peer.hpp"
#include "bench/spmv_cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

namespace spargo::bench {

template <class V>
struct spmv_problem {
  using index = std::int32_t;

  const context<device>& ctx = device_context();
  csr_matrix<V, index, index, device> matrix;
  array<V, device> x;
  array<V, device> y;
  std::vector<bounded> expected;  // A x in double precision

  explicit spmv_problem(const std::string& source)
      : matrix(to_csr<index>(ctx, to_device(ctx, generated_as<V>(context<host>(), source).view()).view())),
        x(ctx, matrix.cols()),
        y(ctx, matrix.rows()) {
    std::vector<V> there(static_cast<std::size_t>(x.size()));
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = x_of(static_cast<std::int64_t>(i));
    copy<V>(ctx, span<const V, host>(there), x.view());
    ctx.synchronize();
    set_expected(there);
  }

  [[nodiscard]] static V x_of(std::int64_t i) { return static_cast<V>(1) / static_cast<V>(1 + i % 1000); }

  // Throws unless y is A x within rounding.
  void validate() const {
    expect_all_on_device("y: element", y, [&](std::int64_t row) { return expected[static_cast<std::size_t>(row)]; });
  }

  void forget() { poison(ctx, y.view()); }

 private:
  void set_expected(const std::vector<V>& there) {
    const auto a = to_host(ctx, matrix.view());
    const std::int64_t rows = a.rows();
    expected.resize(static_cast<std::size_t>(rows));
#pragma omp parallel for schedule(dynamic, 4096)
    for (std::int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      double size = 0;
      for (index k = a.offsets()[row]; k < a.offsets()[row + 1]; ++k) {
        const double product =
            static_cast<double>(a.values()[k]) * static_cast<double>(there[static_cast<std::size_t>(a.indices()[k])]);
        sum += product;
        size += std::abs(product);
      }
      const double length = a.offsets()[row + 1] - a.offsets()[row];
      expected[static_cast<std::size_t>(row)] = {sum, rounding_bound<V>(length, size)};
    }
  }
};

enum class cusparse_layout { csr, coo };
enum class cusparse_preparation { none, preprocessed };

// cuSPARSE's product y = A x, ready to run on the problem's stream.
template <class V>
class cusparse_product {
 public:
  cusparse_product(spmv_problem<V>& p, cusparse_layout layout, cusparseSpMVAlg_t algorithm,
                   cusparse_preparation preparation)
      : algorithm_(algorithm) {
    expect_done(cusparseCreate(&handle_));
    expect_done(cusparseSetStream(handle_, p.ctx.stream()));
    auto& m = p.matrix;
    if (layout == cusparse_layout::csr) {
      a_ = describe_csr(m);
    } else {
      coo_ = to_coo(p.ctx, m.view());
      expect_done(cusparseCreateCoo(&a_, m.rows(), m.cols(), m.nnz(), coo_.row_indices().data(),
                                    coo_.col_indices().data(), coo_.values().data(), CUSPARSE_INDEX_32I,
                                    CUSPARSE_INDEX_BASE_ZERO, type));
    }
    expect_done(cusparseCreateDnVec(&x_, p.x.size(), p.x.data(), type));
    expect_done(cusparseCreateDnVec(&y_, p.y.size(), p.y.data(), type));
    std::size_t bytes = 0;
    expect_done(cusparseSpMV_bufferSize(handle_, op, &one_, a_, x_, &zero_, y_, type, algorithm_, &bytes));
    buffer_ = {p.ctx, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1))};
    if (preparation == cusparse_preparation::preprocessed) {
      expect_done(cusparseSpMV_preprocess(handle_, op, &one_, a_, x_, &zero_, y_, type, algorithm_, buffer_.data()));
    }
  }
  cusparse_product(const cusparse_product&) = delete;
  cusparse_product& operator=(const cusparse_product&) = delete;
  ~cusparse_product() {
    cusparseDestroyDnVec(y_);
    cusparseDestroyDnVec(x_);
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }

  void operator()() {
    expect_done(cusparseSpMV(handle_, op, &one_, a_, x_, &zero_, y_, type, algorithm_, buffer_.data()));
  }

 private:
  static constexpr cudaDataType type = cusparse_type<V>;
  static constexpr cusparseOperation_t op = not_transposed;

  V one_ = 1;
  V zero_ = 0;
  cusparseSpMVAlg_t algorithm_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  coo_matrix<V, std::int32_t, device> coo_;
  array<char, device> buffer_;
};

struct cusparse_rung {
  const char* name;
  cusparse_layout layout;
  cusparseSpMVAlg_t algorithm;
  cusparse_preparation preparation;
};

inline const std::vector<cusparse_rung>& cusparse_rungs() {
  static const std::vector<cusparse_rung> all{
      {"cusparse:csr_alg1", cusparse_layout::csr, CUSPARSE_SPMV_CSR_ALG1, cusparse_preparation::none},
      {"cusparse:csr_alg1_prepared", cusparse_layout::csr, CUSPARSE_SPMV_CSR_ALG1, cusparse_preparation::preprocessed},
      {"cusparse:csr_alg2", cusparse_layout::csr, CUSPARSE_SPMV_CSR_ALG2, cusparse_preparation::none},
      {"cusparse:csr_alg2_prepared", cusparse_layout::csr, CUSPARSE_SPMV_CSR_ALG2, cusparse_preparation::preprocessed},
      {"cusparse:coo_alg1", cusparse_layout::coo, CUSPARSE_SPMV_COO_ALG1, cusparse_preparation::none},
      {"cusparse:coo_alg2", cusparse_layout::coo, CUSPARSE_SPMV_COO_ALG2, cusparse_preparation::none},
  };
  return all;
}

}  // namespace spargo::bench

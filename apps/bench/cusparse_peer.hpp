// What the benchmarks beside cuSPARSE share.
#pragma once

#include <spargo/formats/csr.hpp>

#include <cusparse.h>

#include <concepts>
#include <cstdint>
#include <stdexcept>

namespace spargo::bench {

inline void expect_done(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

template <class V>
inline constexpr cudaDataType cusparse_type = std::same_as<V, float> ? CUDA_R_32F : CUDA_R_64F;

inline constexpr cusparseOperation_t not_transposed = CUSPARSE_OPERATION_NON_TRANSPOSE;

// Borrows the matrix's arrays; the caller destroys the descriptor.
template <class V>
[[nodiscard]] cusparseSpMatDescr_t describe_csr(csr_matrix<V, std::int32_t, std::int32_t, device>& m) {
  cusparseSpMatDescr_t made = nullptr;
  expect_done(cusparseCreateCsr(&made, m.rows(), m.cols(), m.nnz(), m.offsets().data(), m.indices().data(),
                                m.values().data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                cusparse_type<V>));
  return made;
}

}  // namespace spargo::bench

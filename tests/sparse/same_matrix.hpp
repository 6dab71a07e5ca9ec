// Matrices that have to be equal bit by bit, NaNs aside.
#pragma once

#include <spargo/formats/csr.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace spargo::test {

template <class V>
bool has_same_bits(const V& a, const V& b) {
  if constexpr (complex_type<V>) {
    return has_same_bits(a.real(), b.real()) && has_same_bits(a.imag(), b.imag());
  } else {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  }
}

template <class V, class I, class O>
void expect_same(const csr_matrix<V, I, O, host>& got, const csr_matrix<V, I, O, host>& expected,
                 const std::string& what) {
  ASSERT_EQ(got.rows(), expected.rows()) << what;
  ASSERT_EQ(got.cols(), expected.cols()) << what;
  ASSERT_EQ(got.nnz(), expected.nnz()) << what;
  for (std::int64_t r = 0; r <= got.rows(); ++r)
    ASSERT_EQ(got.offsets()[r], expected.offsets()[r]) << what << ", " << r;
  for (std::int64_t k = 0; k < got.nnz(); ++k) {
    ASSERT_EQ(got.indices()[k], expected.indices()[k]) << what << ", entry " << k;
    if constexpr (!is_pattern<V>) {
      ASSERT_TRUE(has_same_bits(got.values()[k], expected.values()[k]))
          << what << ", entry " << k << ": " << got.values()[k] << " for " << expected.values()[k];
    }
  }
}

}  // namespace spargo::test

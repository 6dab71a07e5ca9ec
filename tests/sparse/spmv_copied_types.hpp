// The types for tests of plans with a copy: each width of values, columns and offsets.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>

namespace spargo::test {

template <class V_, class I_, class O_>
struct copied_type {
  using V = V_;
  using I = I_;
  using O = O_;
};

using copied_types =
    testing::Types<copied_type<float, std::int32_t, std::int32_t>, copied_type<double, std::int32_t, std::int64_t>,
                   copied_type<std::complex<float>, std::int64_t, std::int64_t>,
                   copied_type<std::complex<double>, std::int32_t, std::int32_t>,
                   copied_type<double, std::int64_t, std::int64_t>>;

}  // namespace spargo::test

// First line of a typed test.
#define SPMV_TYPES                 \
  using V = typename TypeParam::V; \
  using I = typename TypeParam::I; \
  using O = typename TypeParam::O

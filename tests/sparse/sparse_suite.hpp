// Typed suites of products: types of values, indices and offsets, and the space.
#pragma once

#include "sparse/spmv_cases.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <complex>
#include <cstdint>

namespace spargo::test {

using i32 = std::int32_t;
using i64 = std::int64_t;
using cfloat = std::complex<float>;
using cdouble = std::complex<double>;

template <class V_, class I_, class O_, class Space_>
struct product_case {
  using V = V_;
  using I = I_;
  using O = O_;
  using Space = Space_;
};

template <class Case>
class product_suite : public space_suite<typename Case::Space> {};

using all_product_cases = suite_types<
    product_case<float, i32, i32, host>, product_case<float, i32, i64, host>, product_case<float, i64, i64, host>,
    product_case<double, i32, i32, host>, product_case<double, i32, i64, host>, product_case<double, i64, i64, host>,
    product_case<cfloat, i32, i32, host>, product_case<cfloat, i32, i64, host>, product_case<cfloat, i64, i64, host>,
    product_case<cdouble, i32, i32, host>, product_case<cdouble, i32, i64, host>, product_case<cdouble, i64, i64, host>,
    product_case<float, i32, i32, device>, product_case<float, i32, i64, device>, product_case<float, i64, i64, device>,
    product_case<double, i32, i32, device>, product_case<double, i32, i64, device>,
    product_case<double, i64, i64, device>, product_case<cfloat, i32, i32, device>,
    product_case<cfloat, i32, i64, device>, product_case<cfloat, i64, i64, device>,
    product_case<cdouble, i32, i32, device>, product_case<cdouble, i32, i64, device>,
    product_case<cdouble, i64, i64, device>>;

}  // namespace spargo::test

// First line of a typed test.
#define SPARGO_PRODUCT_TYPES       \
  using V = typename TypeParam::V; \
  using I = typename TypeParam::I; \
  using O = typename TypeParam::O; \
  using Space = typename TypeParam::Space

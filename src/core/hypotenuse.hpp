// The square root of a^2 + b^2, without overflow and to the last bit as std::hypot gives it: the absolute value of a
// complex number. std::hypot itself would need glibc 2.35, where wheels run from 2.34 on.
#pragma once

#include <complex>

namespace spargo::detail {

[[nodiscard]] inline double hypotenuse(double a, double b) { return std::abs(std::complex<double>(a, b)); }

}  // namespace spargo::detail

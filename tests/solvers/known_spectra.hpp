// Full matrices with given eigenvalues or singular values.
#pragma once

#include "support/number.hpp"

#include <spargo/formats/csr.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

namespace spargo::test {

template <class V>
struct owned_matrix {
  std::int32_t rows = 0, cols = 0;
  std::vector<std::int32_t> offsets{0}, indices{};
  std::vector<V> values{};
  [[nodiscard]] csr_view<const V, std::int32_t, std::int32_t, host> view() const {
    return {{rows, cols, offsets, indices}, values};
  }
};

// Entry (i, j) of I - 2 u u^H for a random unit vector u of V's numbers.
template <class V>
class reflection {
 public:
  using wide = std::complex<long double>;

  reflection(std::size_t n, unsigned seed) : u_(n) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    long double norm = 0;
    for (wide& each : u_) {
      each = widened(number<V>(uniform(random), uniform(random)));
      norm += std::norm(each);
    }
    for (wide& each : u_) each /= std::sqrt(norm);
  }
  [[nodiscard]] wide operator()(std::size_t i, std::size_t j) const {
    return (i == j ? wide(1) : wide(0)) - 2.0L * u_[i] * std::conj(u_[j]);
  }

 private:
  std::vector<wide> u_;
};

// G D H for reflections G and H and the diagonal D of these values; of equal G and H with real diagonal elements.
template <class V>
owned_matrix<V> with_values(const reflection<V>& g, const reflection<V>& h, std::int32_t rows, std::int32_t cols,
                            const std::vector<double>& values) {
  owned_matrix<V> a{rows, cols};
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(cols); ++j) {
      std::complex<long double> sum = 0;
      for (std::size_t k = 0; k < values.size(); ++k) sum += g(i, k) * static_cast<long double>(values[k]) * h(k, j);
      const bool is_real = &g == &h && i == j;
      a.indices.push_back(static_cast<std::int32_t>(j));
      a.values.push_back(number<V>(static_cast<double>(sum.real()), is_real ? 0 : static_cast<double>(sum.imag())));
    }
    a.offsets.push_back(static_cast<std::int32_t>(a.indices.size()));
  }
  return a;
}

}  // namespace spargo::test

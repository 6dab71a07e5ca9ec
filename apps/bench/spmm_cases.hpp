// What the benchmarks of products with multi-vectors share: widths, X, compulsory traffic, and peers on the host.
#pragma once

#include "bench/spmv_cases.hpp"

#include <spargo/sparse/spmm.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace spargo::bench {

inline constexpr std::int64_t spmm_widths[] = {4, 8, 32};

// The bytes that any CSR product must move: the matrix, X once, Y once.
template <class V>
double spmm_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nnz, std::int64_t k) {
  return static_cast<double>(rows + 1) * 4 + static_cast<double>(nnz) * (4 + sizeof(V)) +
         static_cast<double>(rows + cols) * static_cast<double>(k) * sizeof(V);
}

template <class V>
std::string spmm_group(const std::string& matrix, std::int64_t k, const char* backend) {
  return fmt::format("spmm/{}/{}/k{}/{}/", matrix, precision_name<V>, k, backend);
}

// Element (i, j) of X: known without an array.
template <class V>
V spmm_input(std::int64_t i, std::int64_t j) {
  return static_cast<V>(1) / static_cast<V>(1 + (i * 7 + j * 3) % 1000) - static_cast<V>(0.01);
}

// Throws if row `row` of Y, in `got`, is not A X within rounding: (row length + 2) eps sum |a||x|, and the reference's
// own.
template <class V>
void validate_spmm_row(const csr_view<const V, std::int32_t, std::int32_t, host>& a, std::int64_t row, std::int64_t k,
                       const V* got) {
  for (std::int64_t j = 0; j < k; ++j) {
    double sum = 0;
    double size = 0;
    for (std::int64_t e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      const double product = static_cast<double>(a.values[e]) * static_cast<double>(spmm_input<V>(a.indices[e], j));
      sum += product;
      size += std::abs(product);
    }
    const double length = static_cast<double>(a.offsets[row + 1] - a.offsets[row]);
    const double bound = 2 * (length + 2) * static_cast<double>(std::numeric_limits<V>::epsilon()) * size;
    if (!(std::abs(static_cast<double>(got[j]) - sum) <= bound)) {
      throw std::runtime_error(fmt::format("Y({}, {}) is {}, expected {} (within {})", row, j, got[j], sum, bound));
    }
  }
}

// Another library's product on the host: `make` prepares it for a matrix and returns the timed call.
template <class V>
struct spmm_host_peer {
  std::string name;
  std::function<std::function<void()>(const csr_view<const V, std::int32_t, std::int32_t, host>&, const V* x, V* y,
                                      std::int64_t k, int threads)>
      make;
};

template <class V>
std::vector<spmm_host_peer<V>>& spmm_host_peers() {
  static std::vector<spmm_host_peer<V>> all;
  return all;
}

}  // namespace spargo::bench

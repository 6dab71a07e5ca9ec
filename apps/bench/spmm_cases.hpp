// Shared by the multi-vector product benchmarks: widths, X, compulsory traffic, and host peers.
#pragma once

#include "bench/spmv_cases.hpp"

#include <spargo/sparse/spmm.hpp>

#include <fmt/format.h>

namespace spargo::bench {

inline constexpr std::int64_t spmm_widths[] = {4, 8, 32};

// Compulsory traffic of a CSR product: the matrix, X once, Y once.
template <class V>
double spmm_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nnz, std::int64_t k) {
  return static_cast<double>(rows + 1) * 4 + static_cast<double>(nnz) * (4 + sizeof(V)) +
         static_cast<double>(rows + cols) * static_cast<double>(k) * sizeof(V);
}

template <class V>
std::string spmm_group(const std::string& matrix, std::int64_t k, const char* backend) {
  return fmt::format("spmm/{}/{}/k{}/{}/", matrix, precision_name<V>, k, backend);
}

// Element (i, j) of X, as a function.
template <class V>
V spmm_input(std::int64_t i, std::int64_t j) {
  return static_cast<V>(1) / static_cast<V>(1 + (i * 7 + j * 3) % 1000) - static_cast<V>(0.01);
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

// Shared by the host benchmarks of operations on whole matrices and of solvers: what a peer gives.
#pragma once

#include "bench/native/algebra.hpp"

#include <memory>
#include <string>
#include <vector>

namespace spargo::bench {

inline constexpr int cg_iterations = 50;

// `make` prepares a call. The matrix, its transpose and b outlive it.
struct algebra_peer {
  std::string name;
  std::shared_ptr<native::algebra_call> (*make)(native::algebra operation, const native::csr_arrays<double>& a,
                                                const native::csr_arrays<double>& a_transposed, const double* b,
                                                int threads);
  bool is_threaded;  // in operations on matrices
  bool has_cg;
};

inline std::vector<algebra_peer>& algebra_peers() {
  static std::vector<algebra_peer> all;
  return all;
}

}  // namespace spargo::bench

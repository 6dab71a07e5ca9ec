// Peer on the host: Eigen's sparse matrices, whose results have sorted rows, and its ConjugateGradient.
#include "bench/algebra_cases.hpp"

namespace spargo::bench {

namespace {

const bool added = [] {
  algebra_peers().push_back({.name = "eigen",
                             .make =
                                 [](native::algebra operation, const native::csr_arrays<double>& a,
                                    const native::csr_arrays<double>& turned, const double* b, int threads) {
                                   return std::shared_ptr<native::algebra_call>(
                                       native::eigen_algebra(operation, a, turned, b, cg_iterations, threads));
                                 },
                             .is_threaded = false,
                             .has_cg = true});
  return true;
}();

}  // namespace

}  // namespace spargo::bench

// Eigenvalues on the host.
#include "bench/eigs_cases.hpp"

namespace spargo::bench {

namespace {

const registration here{[] {
  add_eigs_cases("cpu", [](benchmark::State& state, const std::string& source) {
    const context<host> ctx({.threads = current_settings().threads});
    return measure_eigs<host>(state, ctx, symmetric_matrix(source));
  });
}};

}  // namespace

}  // namespace spargo::bench

// Eigenvalues on the device.
#include "bench/device_timing.hpp"
#include "bench/eigs_cases.hpp"

namespace spargo::bench {

namespace {

const registration here{[] {
  add_eigs_cases("cuda", [](benchmark::State& state, const std::string& source) {
    const context<device>& ctx = device_context();
    return measure_eigs<device>(state, ctx, to_device(ctx, symmetric_matrix(source).view()));
  });
}};

}  // namespace

}  // namespace spargo::bench

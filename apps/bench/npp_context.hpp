// The stream and device description for NPP calls.
#pragma once

#include "bench/device_timing.hpp"

#include <npp.h>

#include <stdexcept>
#include <string>

namespace spargo::bench {

inline void expect(NppStatus status) {
  if (status < 0) throw std::runtime_error("NPP status " + std::to_string(static_cast<int>(status)));
}

inline NppStreamContext npp_context() {
  const auto& ctx = device_context();
  NppStreamContext npp{};
  cudaDeviceProp device{};
  expect(cudaGetDeviceProperties(&device, ctx.ordinal()));
  npp.hStream = ctx.stream();
  npp.nCudaDeviceId = ctx.ordinal();
  npp.nMultiProcessorCount = device.multiProcessorCount;
  npp.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
  npp.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
  npp.nSharedMemPerBlock = device.sharedMemPerBlock;
  npp.nCudaDevAttrComputeCapabilityMajor = device.major;
  npp.nCudaDevAttrComputeCapabilityMinor = device.minor;
  expect(cudaStreamGetFlags(ctx.stream(), &npp.nStreamFlags));
  return npp;
}

}  // namespace spargo::bench

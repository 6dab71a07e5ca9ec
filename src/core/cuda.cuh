#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/error.hpp>

#include <cuda_runtime.h>

#include <cstdint>

namespace spargo::detail {

// Throws device_failure, or out_of_memory for cudaErrorMemoryAllocation, naming the call and its line.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call, const char* file, int line);

inline constexpr int warp_size = 32;
inline constexpr unsigned full_mask = 0xffffffffU;
using count64 = unsigned long long;  // operand type of 64-bit atomics

__device__ inline std::int64_t global_thread() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t grid_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

// The shared-memory address of an object, as PTX instructions take it.
__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

}  // namespace spargo::detail

// Checks a CUDA runtime call; after a launch: SPARGO_CUDA_TRY(cudaGetLastError()).
#define SPARGO_CUDA_TRY(call)                                                                                         \
  do {                                                                                                                \
    const cudaError_t spargo_status_ = (call);                                                                        \
    if (spargo_status_ != cudaSuccess) ::spargo::detail::throw_cuda_error(spargo_status_, #call, __FILE__, __LINE__); \
  } while (false)

// Chip features that the code being compiled may use. Each kernel is compiled once per target architecture, and the
// blocks in core/ choose their instructions by these constants. For code compiled by nvcc.
//
// Before the host relies on an instruction it asks `device_properties::code_capability` which copy a device runs: PTX
// built for 8.0 runs on every later chip.
#pragma once

namespace spargo::detail {

#ifdef __CUDA_ARCH__
inline constexpr int code_capability = __CUDA_ARCH__ / 10;  // 90 for compute capability 9.0
#else
inline constexpr int code_capability = 0;  // the host pass of a CUDA file
#endif

inline constexpr bool has_async_copies = code_capability >= 80;     // cp.async
inline constexpr bool has_warp_reductions = code_capability >= 80;  // redux.sync
inline constexpr bool has_tensor_rounding = code_capability >= 80;  // cvt to bf16 and tf32
// Clusters, bulk copies, barriers that count bytes, programmatic dependent launch.
inline constexpr int hopper_capability = 90;
inline constexpr bool has_hopper_blocks = code_capability >= hopper_capability;
inline constexpr bool has_wide_atomics =
    code_capability == 0 || code_capability >= hopper_capability;  // 16-byte atomics

// Resident threads per SM: 1024 on 7.5, 1536 on 8.6, 8.9 and 12.x, 2048 on 8.0, 9.0 and 10.x.
inline constexpr int most_resident_threads =
    code_capability == 75                                                                               ? 1024
    : code_capability == 86 || code_capability == 87 || code_capability == 89 || code_capability >= 120 ? 1536
                                                                                                        : 2048;

// For __launch_bounds__: `blocks` blocks of `threads` threads, or as many as can be resident.
constexpr int resident_blocks(int blocks, int threads) {
  return blocks * threads <= most_resident_threads ? blocks : most_resident_threads / threads;
}

}  // namespace spargo::detail

// Where memory comes from: an interface that a caller may implement, and the defaults.
#pragma once

#include <spargo/core/types.hpp>

#include <cstddef>

// The CUDA runtime's opaque stream, named as the CUDA headers name it, so that a `cudaStream_t` and
// a `spargo::stream_handle` are the same type without including anything of CUDA.
struct CUstream_st;

namespace spargo {

using stream_handle = CUstream_st*;

// A source of memory in `Space`. Implementations are thread-safe.
//
// `allocate` returns at least `bytes` bytes aligned to 256 on the device and 64 on the host, or throws
// `error` (out_of_memory) naming the bytes; it is never called with 0. Device memory is
// stream-ordered: it is usable by work enqueued on `stream` after the call, and `deallocate` takes
// effect after the work enqueued before it. The host ignores `stream`.
template <memory_space Space>
class SPARGO_EXPORT memory_resource {
 public:
  memory_resource() = default;
  memory_resource(const memory_resource&) = delete;
  memory_resource& operator=(const memory_resource&) = delete;
  virtual ~memory_resource() = default;

  [[nodiscard]] virtual void* allocate(std::size_t bytes, stream_handle stream) = 0;
  virtual void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept = 0;
};

// Aligned `operator new`; the one a host context uses unless told otherwise. Lives forever.
[[nodiscard]] SPARGO_EXPORT memory_resource<host>& default_host_resource();

// Page-locked host memory (`cudaMallocHost`), which copies to and from a GPU at full speed and
// asynchronously. Throws device_unavailable at allocation without a GPU. Lives forever.
[[nodiscard]] SPARGO_EXPORT memory_resource<host>& pinned_host_resource();

}  // namespace spargo

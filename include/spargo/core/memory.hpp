// Memory resources: an interface that callers may implement, and the defaults.
#pragma once

#include <spargo/core/types.hpp>

#include <cstddef>

// CUDA's opaque stream type, so that `cudaStream_t` and `spargo::stream_handle` are one type without a CUDA include.
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

// Aligned `operator new`; the default of host contexts. Never destroyed.
[[nodiscard]] SPARGO_EXPORT memory_resource<host>& default_host_resource();

// Page-locked host memory (`cudaMallocHost`): copies to and from a GPU run at full speed and asynchronously. Without a
// GPU allocation throws device_unavailable. Never destroyed.
[[nodiscard]] SPARGO_EXPORT memory_resource<host>& pinned_host_resource();

}  // namespace spargo

// Device memory that peers can address.
#pragma once

#include "core/cuda.cuh"

#include <algorithm>
#include <vector>

namespace spargo::detail::distributed {

// Like plan_memory, but from cudaMalloc: peers cannot address pool memory.
class peer_memory {
 public:
  explicit peer_memory(const context<device>& ctx) : ordinal_(ctx.ordinal()) {}
  peer_memory(const peer_memory&) = delete;
  peer_memory& operator=(const peer_memory&) = delete;
  ~peer_memory() {
    const device_guard guard(ordinal_, std::nothrow);
    for (void* const each : arrays_) cudaFree(each);
  }

  // Uninitialised.
  template <class T>
  [[nodiscard]] T* take(std::int64_t size) {
    const device_guard guard(ordinal_);
    arrays_.push_back(nullptr);
    SPARGO_CUDA_TRY(cudaMalloc(&arrays_.back(), std::max<std::size_t>(checked_bytes(size, sizeof(T)), 1)));
    return static_cast<T*>(arrays_.back());
  }

 private:
  int ordinal_;
  std::vector<void*> arrays_;
};

}  // namespace spargo::detail::distributed

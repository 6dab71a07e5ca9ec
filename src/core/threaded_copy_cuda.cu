// Threads take chunks in any order. Each copies its chunks through its own slot of page-locked memory: the device
// copies at the link's speed while other threads copy between slot and array.
// Invariants: the host touches a slot only after the last copy queued for it has ended. After the first failure no
// chunk is begun; one of the failures is thrown. No copy is queued for a slot that is being destroyed.
// Cost: the bytes cross the link once and the host's caches once; one slot of 2 MiB per thread, locked anew each time.
#include "core/device/pinned_slot.cuh"
#include "core/parallel.hpp"

#include <spargo/core/threaded_copy.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

namespace spargo::detail {

namespace {

// Estimates; no other values were measured.
struct copy_tuning {
  static constexpr std::size_t chunk_bytes = std::size_t{2} << 20;
  static constexpr std::size_t least_bytes = std::size_t{16} << 20;  // below, slots cost more than the copy
  static constexpr int most_threads = 16;
};

// pass(slot, first byte, bytes) for each chunk.
template <class Pass>
void pass_on(const context<device>& ctx, const context<host>& threads, std::size_t bytes, const Pass& pass) {
  const auto chunks = static_cast<std::int64_t>(div_up(bytes, copy_tuning::chunk_bytes));
  const int team =
      static_cast<int>(std::min<std::int64_t>({chunks, threads.threads(), std::int64_t{copy_tuning::most_threads}}));
  std::vector<pinned_slot> slots(static_cast<std::size_t>(team));
  std::atomic<std::int64_t> taken{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr exception;
  parallel_parts(team, team, [&](std::int64_t mine) {
    pinned_slot& slot = slots[static_cast<std::size_t>(mine)];
    try {
      const device_guard guard(ctx);
      slot.reserve(copy_tuning::chunk_bytes);
      for (std::int64_t i = taken.fetch_add(1); i < chunks && !failed.load(); i = taken.fetch_add(1)) {
        const std::size_t first = static_cast<std::size_t>(i) * copy_tuning::chunk_bytes;
        slot.wait();
        pass(slot, first, std::min(copy_tuning::chunk_bytes, bytes - first));
      }
    } catch (...) {
      failed.store(true);
      const std::lock_guard lock(mutex);
      if (exception == nullptr) exception = std::current_exception();
    }
  });
  const device_guard guard(ctx);
  const cudaError_t ended = cudaStreamSynchronize(ctx.stream());
  if (exception != nullptr) std::rethrow_exception(exception);
  SPARGO_CUDA_TRY(ended);
}

}  // namespace

void copy_to_host_by_threads(const context<device>& ctx, const context<host>& threads, const void* from, void* to,
                             std::size_t bytes) {
  if (bytes < copy_tuning::least_bytes || threads.threads() == 1) {
    copy_to_host(ctx, from, to, bytes);
    return ctx.synchronize();
  }
  pass_on(ctx, threads, bytes, [&](pinned_slot& slot, std::size_t first, std::size_t size) {
    copy_to_host(ctx, static_cast<const char*>(from) + first, slot.data(), size);
    SPARGO_CUDA_TRY(cudaEventRecord(slot.copied(), ctx.stream()));
    slot.wait();
    std::memcpy(static_cast<char*>(to) + first, slot.data(), size);
  });
}

void copy_to_device_by_threads(const context<device>& ctx, const context<host>& threads, const void* from, void* to,
                               std::size_t bytes) {
  if (bytes < copy_tuning::least_bytes || threads.threads() == 1) {
    copy_to_device(ctx, from, to, bytes);
    return ctx.synchronize();
  }
  pass_on(ctx, threads, bytes, [&](pinned_slot& slot, std::size_t first, std::size_t size) {
    std::memcpy(slot.data(), static_cast<const char*>(from) + first, size);
    copy_to_device(ctx, slot.data(), static_cast<char*>(to) + first, size);
    SPARGO_CUDA_TRY(cudaEventRecord(slot.copied(), ctx.stream()));
  });
}

}  // namespace spargo::detail

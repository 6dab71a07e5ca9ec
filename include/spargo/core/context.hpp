// Where an operation runs: threads and memory on the host; a GPU, a stream and a pool on the device.
//
// A context is a cheap handle to shared state: copies refer to the same stream and pool, and arrays
// keep that state alive. Two contexts are independent of each other.
#pragma once

#include <spargo/core/error.hpp>
#include <spargo/core/memory.hpp>
#include <spargo/core/types.hpp>

#include <memory>
#include <new>
#include <string>
#include <vector>

namespace spargo {

template <memory_space Space>
class context;

struct SPARGO_EXPORT host_options {
  // At most `most_threads`. 0: as many as the process may run on by its affinity and its cgroup's quota, and no more
  // than OMP_NUM_THREADS and OMP_THREAD_LIMIT say.
  int threads = 0;
  memory_resource<host>* resource = nullptr;  // null: default_host_resource(); must outlive its arrays
};

template <>
class SPARGO_EXPORT context<host> {
 public:
  context() : context(host_options{}) {}
  explicit context(const host_options& options);

  static constexpr int most_threads = 1024;

  // Threads that a host operation uses at most: no more than there are processors, and the calling one alone where
  // work is small. They are the calling thread's own, kept asleep between operations, and its child's after fork().
  [[nodiscard]] int threads() const noexcept { return threads_; }
  [[nodiscard]] memory_resource<host>& resource() const noexcept { return *resource_; }

  // Raw memory; `array` is the usual way. `allocate(0)` returns null.
  [[nodiscard]] void* allocate(std::size_t bytes) const;
  void deallocate(void* pointer, std::size_t bytes) const noexcept;

  // Host operations are complete when they return; here for symmetry.
  void synchronize() const noexcept {}

 private:
  int threads_;
  memory_resource<host>* resource_;
};

struct SPARGO_EXPORT device_options {
  int ordinal = 0;                              // as CUDA numbers its devices
  memory_resource<device>* resource = nullptr;  // null: a pool of the context's own; must outlive its arrays
};

struct SPARGO_EXPORT device_properties {
  std::string name;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  int code_capability = 0;  // what the library's code for it was compiled for: 80 where the driver compiled PTX of 8.0
  int multiprocessors = 0;
  int max_threads_per_multiprocessor = 0;
  std::int64_t shared_memory_per_block = 0;           // bytes, with opt-in
  std::int64_t shared_memory_per_multiprocessor = 0;  // bytes
  std::int64_t l2_bytes = 0;
  std::int64_t total_bytes = 0;
};

struct SPARGO_EXPORT device_memory {
  std::int64_t free_bytes = 0;
  std::int64_t total_bytes = 0;
};

template <>
class SPARGO_EXPORT context<device> {
 public:
  // Creates a non-blocking stream and a memory pool. Throws device_unavailable when there is no GPU,
  // no driver, no such ordinal, or the library holds no code for it (or no CUDA at all).
  context() : context(device_options{}) {}
  explicit context(const device_options& options);

  [[nodiscard]] int ordinal() const noexcept;
  [[nodiscard]] stream_handle stream() const noexcept;
  [[nodiscard]] const device_properties& properties() const noexcept;
  [[nodiscard]] memory_resource<device>& resource() const noexcept;
  [[nodiscard]] device_memory memory() const;  // a driver call; does not synchronise

  // Waits for all work on this context's stream and throws device_failure if any of it failed.
  void synchronize() const;

  // Raw stream-ordered memory; `array` is the usual way. `allocate(0)` returns null.
  [[nodiscard]] void* allocate(std::size_t bytes) const;
  void deallocate(void* pointer, std::size_t bytes) const noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

// Which GPUs can be used, and if none, why: for reports and for choosing a backend. Makes no context on any of them, so
// a context may still be refused: by a device that another process holds, say. Throws only for want of host memory.
struct SPARGO_EXPORT device_status {
  int count = 0;              // usable devices
  std::string reason;         // the first one's name, "NVIDIA H200", or why there is none
  std::vector<int> ordinals;  // of the usable devices
  [[nodiscard]] bool usable() const noexcept { return count > 0; }
};
[[nodiscard]] SPARGO_EXPORT device_status query_devices();

namespace detail {

// Makes a device current for a scope and leaves everything as it was, without a context on a device that had none.
class SPARGO_EXPORT device_guard {
 public:
  explicit device_guard(int ordinal);
  explicit device_guard(const context<device>& ctx) : device_guard(ctx.ordinal()) {}
  device_guard(int ordinal, std::nothrow_t) noexcept;  // for what frees: leaves the device as it is where it must
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard();

 private:
  void enter(int ordinal);

  bool pushed_ = false;
};

// Byte copies behind `copy`. Device ones are asynchronous on the context's stream; for pageable
// host memory CUDA may block the caller.
SPARGO_EXPORT void copy_host_to_host(const context<host>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void copy_to_device(const context<device>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void copy_to_host(const context<device>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void copy_on_device(const context<device>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void fill_bytes(const context<host>& ctx, void* to, int byte, std::size_t bytes);
SPARGO_EXPORT void fill_bytes(const context<device>& ctx, void* to, int byte, std::size_t bytes);

// `count * size`, or an out_of_memory error when that is negative or does not fit 63 bits.
[[nodiscard]] SPARGO_EXPORT std::size_t checked_bytes(std::int64_t count, std::size_t size);

}  // namespace detail

}  // namespace spargo

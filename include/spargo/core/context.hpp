// Where an operation runs: threads and memory on the host; a GPU, a stream and a memory pool on the device.
//
// A context is a cheap handle to shared state: copies use the same stream and pool, and arrays keep that state alive.
// Separately constructed contexts are independent.
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
  // At most `most_threads`. 0: what affinity, cgroup quota, OMP_NUM_THREADS and OMP_THREAD_LIMIT allow.
  int threads = 0;
  memory_resource<host>* resource = nullptr;  // null: default_host_resource(); must outlive the arrays
};

template <>
class SPARGO_EXPORT context<host> {
 public:
  context() : context(host_options{}) {}
  explicit context(const host_options& options);

  static constexpr int most_threads = 1024;

  // Maximum number of threads of a host operation, which uses at most one per processor, and the calling thread alone
  // for small work. Workers belong to the calling thread and sleep between operations; a forked child starts its own.
  [[nodiscard]] int threads() const noexcept { return threads_; }
  [[nodiscard]] memory_resource<host>& resource() const noexcept { return *resource_; }

  // Raw memory; prefer `array`. `allocate(0)` returns null.
  [[nodiscard]] void* allocate(std::size_t bytes) const;
  void deallocate(void* pointer, std::size_t bytes) const noexcept;

  // Does nothing, since host operations are complete when they return.
  void synchronize() const noexcept {}

 private:
  int threads_;
  memory_resource<host>* resource_;
};

struct SPARGO_EXPORT device_options {
  int ordinal = 0;                              // CUDA's device number
  memory_resource<device>* resource = nullptr;  // null: a pool owned by the context; must outlive the arrays
};

struct SPARGO_EXPORT device_properties {
  std::string name;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  int code_capability = 0;  // of the library's code for it: 80 if the driver compiled PTX for 8.0
  int multiprocessors = 0;
  int max_threads_per_multiprocessor = 0;
  std::int64_t shared_memory_per_block = 0;           // bytes, opt-in limit
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
  // Creates a non-blocking stream and a memory pool. Throws device_unavailable if there is no GPU, no driver, no device
  // of this number, no code for it in the library, or no CUDA in the build.
  context() : context(device_options{}) {}
  explicit context(const device_options& options);

  [[nodiscard]] int ordinal() const noexcept;
  [[nodiscard]] stream_handle stream() const noexcept;
  [[nodiscard]] const device_properties& properties() const noexcept;
  [[nodiscard]] memory_resource<device>& resource() const noexcept;
  [[nodiscard]] device_memory memory() const;  // driver call; does not synchronise

  // Waits for all work on this context's stream and throws device_failure if any of it failed.
  void synchronize() const;

  // Raw stream-ordered memory; prefer `array`. `allocate(0)` returns null.
  [[nodiscard]] void* allocate(std::size_t bytes) const;
  void deallocate(void* pointer, std::size_t bytes) const noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

// Which GPUs are usable, or why none is: for reports and for choosing a backend. Creates no context on any GPU, so
// creating one may still fail, for example on a device held by another process. Throws only out_of_memory.
struct SPARGO_EXPORT device_status {
  int count = 0;              // usable devices
  std::string reason;         // name of the first, "NVIDIA H200", or why there is none
  std::vector<int> ordinals;  // of usable devices
  [[nodiscard]] bool usable() const noexcept { return count > 0; }
};
[[nodiscard]] SPARGO_EXPORT device_status query_devices();

namespace detail {

// Makes a device current for a scope and restores the previous state. Creates no context on a device that had none.
class SPARGO_EXPORT device_guard {
 public:
  explicit device_guard(int ordinal);
  explicit device_guard(const context<device>& ctx) : device_guard(ctx.ordinal()) {}
  device_guard(int ordinal, std::nothrow_t) noexcept;  // for destructors: does not switch if that fails
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard();

 private:
  void enter(int ordinal);

  bool pushed_ = false;
};

// Byte copies behind `copy`. Device copies are asynchronous on the context's stream, unless host memory is pageable.
SPARGO_EXPORT void copy_host_to_host(const context<host>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void copy_to_device(const context<device>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void copy_to_host(const context<device>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void copy_on_device(const context<device>& ctx, const void* from, void* to, std::size_t bytes);
SPARGO_EXPORT void fill_bytes(const context<host>& ctx, void* to, int byte, std::size_t bytes);
SPARGO_EXPORT void fill_bytes(const context<device>& ctx, void* to, int byte, std::size_t bytes);

// `count * size`; throws out_of_memory if that is negative or exceeds 63 bits.
[[nodiscard]] SPARGO_EXPORT std::size_t checked_bytes(std::int64_t count, std::size_t size);

}  // namespace detail

}  // namespace spargo

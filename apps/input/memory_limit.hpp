// Host memory with a limit: a file that needs too much causes a one-line error, not the OOM killer.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/memory.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace spargo::apps {

// The memory resource of all host contexts of the apps: counts allocations of the default resource, and rejects those
// beyond the limit with `error` (out_of_memory). Arrays are counted, mapped files are not. Thread-safe.
class limited_resource final : public memory_resource<host> {
 public:
  explicit limited_resource(std::int64_t limit);
  ~limited_resource() override;

  void set_limit(std::int64_t bytes) noexcept;
  // Sets the limit to this process's part, one of `on_host` on each of `hosts`; messages mention it.
  void divide(int on_host, int hosts) noexcept;
  [[nodiscard]] std::int64_t limit() const noexcept;
  [[nodiscard]] std::int64_t available() const noexcept;  // within the limit
  [[nodiscard]] std::int64_t most_used() const noexcept;  // peak so far
  [[nodiscard]] int processes_on_host() const noexcept;
  [[nodiscard]] int hosts() const noexcept;
  // "4 on a host; 3 hosts would suffice, ...", if each process needs `needed` bytes.
  [[nodiscard]] std::string hosts_for(double needed) const;
  [[nodiscard]] void* allocate(std::size_t bytes, stream_handle stream) override;
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override;

 private:
  struct state;
  state* state_;
};

// The process's resource. Until --max-memory is parsed its limit is nine tenths of the machine's memory, or of what its
// control group has left at the first call, and at most what the system then has available and `ulimit` allows.
[[nodiscard]] limited_resource& host_memory();

// Memory left before the system kills processes, including swap, from a file like /proc/meminfo; none if unknown.
[[nodiscard]] std::optional<std::int64_t> available_memory(const std::string& meminfo = "/proc/meminfo");

// For standard containers that count towards the limit.
template <class T>
struct counted_allocator {
  using value_type = T;

  counted_allocator() = default;
  template <class U>
  counted_allocator(const counted_allocator<U>&) noexcept {}  // NOLINT: an implicit conversion, as of any allocator

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(
        host_memory().allocate(spargo::detail::checked_bytes(static_cast<std::int64_t>(count), sizeof(T)), nullptr));
  }
  void deallocate(T* pointer, std::size_t count) noexcept {
    host_memory().deallocate(pointer, count * sizeof(T), nullptr);
  }
  bool operator==(const counted_allocator&) const noexcept = default;
};

// Bytes, or a number with K, M, G, T (KB: powers of 1000) or Ki, Mi, ... (KiB: 1024). False otherwise and below 1 MB.
[[nodiscard]] bool parse_bytes(const std::string& text, std::int64_t& bytes);

}  // namespace spargo::apps

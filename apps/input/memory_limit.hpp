// Host memory up to a limit: a file that asks for more than there is ends in one line, not in the system's killer.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/memory.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace spargo::apps {

// The resource of every host context of the apps: the default one, counted, and refused beyond the limit with `error`
// (out_of_memory). Arrays are counted, mapped files are not. Thread-safe.
class limited_resource final : public memory_resource<host> {
 public:
  explicit limited_resource(std::int64_t limit);
  ~limited_resource() override;

  void set_limit(std::int64_t bytes) noexcept;
  // The limit becomes this process's part of it, one of `on_host` on each of `hosts`; messages say so.
  void divide(int on_host, int hosts) noexcept;
  [[nodiscard]] std::int64_t limit() const noexcept;
  [[nodiscard]] std::int64_t available() const noexcept;  // of the limit
  [[nodiscard]] std::int64_t most_used() const noexcept;  // at once, so far
  [[nodiscard]] int processes_on_host() const noexcept;
  [[nodiscard]] int hosts() const noexcept;
  // "4 on a host; 3 hosts would do, ...", where each process needs so many bytes.
  [[nodiscard]] std::string hosts_for(double needed) const;
  [[nodiscard]] void* allocate(std::size_t bytes, stream_handle stream) override;
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override;

 private:
  struct state;
  state* state_;
};

// The process's own. Until --max-memory says otherwise its limit is nine tenths of the machine's memory, or of what its
// control group leaves at the first call, and no more than the system has available and `ulimit` allows then.
[[nodiscard]] limited_resource& host_memory();

// What the system can give before it ends processes, swap included, by a file such as /proc/meminfo; none where that
// does not say.
[[nodiscard]] std::optional<std::int64_t> available_memory(const std::string& meminfo = "/proc/meminfo");

// Of standard containers that the limit is to count.
template <class T>
struct counted_allocator {
  using value_type = T;

  counted_allocator() = default;
  template <class U>
  counted_allocator(const counted_allocator<U>&) noexcept {}  // NOLINT: an implicit conversion, as of any allocator

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(
        host_memory().allocate(detail::checked_bytes(static_cast<std::int64_t>(count), sizeof(T)), nullptr));
  }
  void deallocate(T* pointer, std::size_t count) noexcept {
    host_memory().deallocate(pointer, count * sizeof(T), nullptr);
  }
  bool operator==(const counted_allocator&) const noexcept = default;
};

// Bytes, or a number with K, M, G or T (KB and so on: powers of 1000) or Ki, Mi, Gi or Ti (KiB: powers of 1024). False
// for anything else, and for less than 1 MB.
[[nodiscard]] bool parse_bytes(const std::string& text, std::int64_t& bytes);

}  // namespace spargo::apps

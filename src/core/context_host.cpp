// Host contexts, the default host memory, and byte copies between host arrays.
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <spargo/core/context.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace spargo {

namespace {

constexpr std::size_t small_alignment = 64;  // a cache line, and a full AVX-512 vector
constexpr std::size_t huge_page = std::size_t{2} << 20;
// Arrays of at least this size are aligned to huge pages and request them: otherwise gathers from an x of 8 MB miss the
// TLB, and the first touch faults every 4 KiB. Smaller arrays gain little.
constexpr std::size_t huge_page_bytes = 2 * huge_page;

constexpr std::size_t alignment_of(std::size_t bytes) { return bytes >= huge_page_bytes ? huge_page : small_alignment; }

class aligned_resource final : public memory_resource<host> {
 public:
  void* allocate(std::size_t bytes, stream_handle) override {
    void* pointer = ::operator new (bytes, std::align_val_t{alignment_of(bytes)}, std::nothrow);
    if (pointer == nullptr) {
      throw error(error_code::out_of_memory, fmt::format("host memory: {} bytes could not be allocated", bytes));
    }
    // A hint: a kernel without huge pages, or with huge pages for all, ignores it.
    if (bytes >= huge_page_bytes) ::madvise(pointer, bytes / huge_page * huge_page, MADV_HUGEPAGE);
    return pointer;
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle) noexcept override {
    ::operator delete (pointer, std::align_val_t{alignment_of(bytes)});
  }
};

}  // namespace

memory_resource<host>& default_host_resource() {
  static aligned_resource resource;
  return resource;
}

context<host>::context(const host_options& options)
    : threads_(options.threads == 0 ? detail::default_threads() : options.threads),
      resource_(options.resource != nullptr ? options.resource : &default_host_resource()) {
  SPARGO_EXPECTS(options.threads >= 0 && options.threads <= most_threads,
                 fmt::format("context: {} threads (expected 0 to {})", options.threads, most_threads));
}

void* context<host>::allocate(std::size_t bytes) const try {
  return bytes == 0 ? nullptr : resource_->allocate(bytes, nullptr);
} catch (...) {
  detail::rethrow("array");
}

void context<host>::deallocate(void* pointer, std::size_t bytes) const noexcept {
  if (pointer != nullptr) resource_->deallocate(pointer, bytes, nullptr);
}

namespace detail {

std::size_t checked_bytes(std::int64_t count, std::size_t size) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  SPARGO_EXPECTS(count >= 0, fmt::format("array: negative size {}", count));
  if (static_cast<std::uint64_t>(count) > limit / size) {
    throw error(error_code::out_of_memory,
                fmt::format("array: {} elements of {} bytes exceed 2^63 bytes", count, size));
  }
  return static_cast<std::size_t>(count) * size;
}

// Large copies use all threads: one core does not saturate the memory bus.
void copy_host_to_host(const context<host>& ctx, const void* from, void* to, std::size_t bytes) {
  constexpr std::size_t grain = std::size_t{4} << 20;
  const auto chunks = static_cast<std::int64_t>(div_up(bytes, grain));
  if (chunks <= 1) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return;
  }
  parallel_parts(ctx.threads(), chunks, [&](std::int64_t p) {
    const std::size_t first = static_cast<std::size_t>(p) * grain;
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first, std::min(grain, bytes - first));
  });
}

void fill_bytes(const context<host>&, void* to, int byte, std::size_t bytes) {
  if (bytes != 0) std::memset(to, byte, bytes);
}

}  // namespace detail

}  // namespace spargo

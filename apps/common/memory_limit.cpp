#include "common/memory_limit.hpp"

#include "common/report.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <limits>

namespace spargo::apps {

namespace {

struct tuning {
  static constexpr double fraction = 0.9;  // of the machine: the rest is the system's, and that of what is not counted
  static constexpr std::int64_t least = 1'000'000;
};

std::int64_t default_limit() {
  const auto pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  const auto bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return pages > 0 ? static_cast<std::int64_t>(tuning::fraction * pages * bytes)
                   : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

struct limited_resource::state {
  std::atomic<std::int64_t> limit;
  std::atomic<std::int64_t> used{0};
};

limited_resource::limited_resource(std::int64_t limit) : state_(new state{limit}) {}
limited_resource::~limited_resource() { delete state_; }

void limited_resource::set_limit(std::int64_t bytes) noexcept { state_->limit = bytes; }
std::int64_t limited_resource::limit() const noexcept { return state_->limit; }

void* limited_resource::allocate(std::size_t bytes, stream_handle stream) {
  const auto wanted = static_cast<std::int64_t>(bytes);
  const std::int64_t before = state_->used.fetch_add(wanted);
  const std::int64_t limit = state_->limit;
  if (wanted > limit || before > limit - wanted) {
    state_->used -= wanted;
    throw error(error_code::out_of_memory,
                fmt::format("host memory: {} more than the {} in use would exceed the limit of {} (see --max-memory)",
                            format_bytes(static_cast<double>(wanted)), format_bytes(static_cast<double>(before)),
                            format_bytes(static_cast<double>(limit))));
  }
  try {
    return default_host_resource().allocate(bytes, stream);
  } catch (...) {
    state_->used -= wanted;
    throw;
  }
}

void limited_resource::deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept {
  default_host_resource().deallocate(pointer, bytes, stream);
  state_->used -= static_cast<std::int64_t>(bytes);
}

limited_resource& host_memory() {
  static limited_resource resource(default_limit());
  return resource;
}

bool parse_bytes(const std::string& text, std::int64_t& bytes) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (status != std::errc{} || !(number > 0)) return false;
  const std::string unit(end, last);
  const double scale = unit.empty()  ? 1
                       : unit == "K" ? 1e3
                       : unit == "M" ? 1e6
                       : unit == "G" ? 1e9
                       : unit == "T" ? 1e12
                                     : 0;
  const double product = number * scale;
  if (!(product >= static_cast<double>(tuning::least)) || product >= 9e18) return false;
  bytes = static_cast<std::int64_t>(product);
  return true;
}

}  // namespace spargo::apps

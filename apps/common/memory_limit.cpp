#include "common/memory_limit.hpp"

#include "common/report.hpp"

#include <spargo/core/cgroup.hpp>
#include <spargo/core/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace spargo::apps {

namespace {

struct tuning {
  // Of the machine, or of what a control group leaves: the rest is the system's, and that of what is not counted.
  static constexpr double fraction = 0.9;
  static constexpr std::int64_t least = 1'000'000;
};

std::int64_t default_limit() {
  double most = static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2);
  const auto pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  if (pages > 0) most = pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (const std::optional<cgroup_memory> group = cgroup_memory_limit()) {
    most = std::min(most, static_cast<double>(group->available()));
  }
  return static_cast<std::int64_t>(tuning::fraction * most);
}

// Of "", "G" and "GB" (powers of 1000), "Gi" and "GiB" (of 1024); 0 for what is no unit.
double scale_of(std::string_view unit) {
  constexpr std::string_view prefixes = "KMGT";
  if (unit.empty()) return 1;
  const std::size_t power = prefixes.find(unit.front());
  unit.remove_prefix(1);
  const bool binary = unit == "i" || unit == "iB";
  if (power == std::string_view::npos || !(binary || unit.empty() || unit == "B")) return 0;
  return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
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
  const double product = number * scale_of(unit);
  if (!(product >= static_cast<double>(tuning::least)) || product >= 9e18) return false;
  bytes = static_cast<std::int64_t>(product);
  return true;
}

}  // namespace spargo::apps

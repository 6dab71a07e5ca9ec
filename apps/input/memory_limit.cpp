#include "input/memory_limit.hpp"

#include "cli/report.hpp"

#include <spargo/core/cgroup.hpp>
#include <spargo/core/error.hpp>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace spargo::apps {

namespace {

struct tuning {
  // Fraction of the machine's or control group's memory; the rest is for the system and for what is not counted.
  static constexpr double fraction = 0.9;
  static constexpr std::int64_t least = 1'000'000;
};

double left_by_ulimit() {
  double pages[6] = {};  // proc(5): size, resident, shared, text, lib, data
  std::ifstream statm("/proc/self/statm");
  for (double& each : pages) statm >> each;
  const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [kind, used] : {std::pair(RLIMIT_AS, pages[0]), std::pair(RLIMIT_DATA, pages[5])}) {
    rlimit allowed{};
    if (::getrlimit(kind, &allowed) != 0 || allowed.rlim_cur == RLIM_INFINITY) continue;
    least = std::min(least, static_cast<double>(allowed.rlim_cur) - used * page_bytes);
  }
  return least;
}

std::int64_t default_limit() {
  double most = static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2);
  const auto pages = static_cast<double>(::sysconf(_SC_PHYS_PAGES));
  if (pages > 0) most = pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (const std::optional<cgroup_memory> group = cgroup_memory_limit()) {
    most = std::min(most, static_cast<double>(group->available()));
  }
  most = std::min(tuning::fraction * most, left_by_ulimit());
  if (const std::optional<std::int64_t> free = available_memory()) most = std::min(most, static_cast<double>(*free));
  return std::max(static_cast<std::int64_t>(most), tuning::least);
}

// Scale of "", "G" and "GB" (powers of 1000), "Gi" and "GiB" (powers of 1024); 0 for other units.
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
  std::atomic<std::int64_t> most{0};
  std::atomic<int> on_host{1};
  std::atomic<int> hosts{1};
};

limited_resource::limited_resource(std::int64_t limit) : state_(new state{limit}) {}
limited_resource::~limited_resource() { delete state_; }

void limited_resource::set_limit(std::int64_t bytes) noexcept { state_->limit = bytes; }
void limited_resource::divide(int on_host, int hosts) noexcept {
  state_->limit = state_->limit / on_host;
  state_->on_host = on_host;
  state_->hosts = hosts;
}
std::int64_t limited_resource::limit() const noexcept { return state_->limit; }
int limited_resource::processes_on_host() const noexcept { return state_->on_host; }
int limited_resource::hosts() const noexcept { return state_->hosts; }
std::int64_t limited_resource::available() const noexcept {
  return std::max<std::int64_t>(state_->limit - state_->used, 0);
}
std::int64_t limited_resource::most_used() const noexcept { return state_->most; }

void* limited_resource::allocate(std::size_t bytes, stream_handle stream) {
  const auto wanted = static_cast<std::int64_t>(bytes);
  const std::int64_t before = state_->used.fetch_add(wanted);
  const std::int64_t limit = state_->limit;
  if (wanted > limit || before > limit - wanted) {
    state_->used -= wanted;
    const std::string per_process =
        state_->on_host * state_->hosts == 1
            ? std::string()
            : fmt::format(" per process, {}", hosts_for(static_cast<double>(before) + static_cast<double>(wanted)));
    throw error(error_code::out_of_memory,
                fmt::format("host memory: {} more than the {} in use would exceed the limit of {}{} (see --max-memory)",
                            format_bytes(static_cast<double>(wanted)), format_bytes(static_cast<double>(before)),
                            format_bytes(static_cast<double>(limit)), per_process));
  }
  try {
    void* const memory = default_host_resource().allocate(bytes, stream);
    for (std::int64_t most = state_->most; most < before + wanted;) {
      if (state_->most.compare_exchange_weak(most, before + wanted)) break;
    }
    return memory;
  } catch (...) {
    state_->used -= wanted;
    throw;
  }
}

std::string limited_resource::hosts_for(double needed) const {
  const int on_host = state_->on_host;
  const double hosts =
      std::ceil(needed / static_cast<double>(std::max<std::int64_t>(state_->limit, 1)) * state_->hosts);
  return fmt::format("{} on a host; {:.0f} hosts would suffice, if each process takes its part", on_host, hosts);
}

void limited_resource::deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept {
  default_host_resource().deallocate(pointer, bytes, stream);
  state_->used -= static_cast<std::int64_t>(bytes);
}

limited_resource& host_memory() {
  static limited_resource resource(default_limit());
  return resource;
}

std::optional<std::int64_t> available_memory(const std::string& meminfo) {
  std::ifstream lines(meminfo);
  std::optional<std::int64_t> available;
  std::int64_t swap = 0;
  for (std::string line; std::getline(lines, line);) {
    char name[32];
    long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "%31[^:]: %lld kB", name, &kilobytes) != 2) continue;
    if (std::string_view(name) == "MemAvailable") available = kilobytes * 1024;
    if (std::string_view(name) == "SwapFree") swap = kilobytes * 1024;
  }
  if (available.has_value()) *available += swap;
  return available;
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

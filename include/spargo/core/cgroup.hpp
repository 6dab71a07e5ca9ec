// Memory and CPU time that Linux control groups allow this process: limits set by containers, batch systems, systemd.
//
// /proc/self/cgroup names the process's group in each hierarchy, /proc/self/mountinfo where that is mounted. A limit
// applies to all groups below it, so every level from the process's group to the mount's root is read and the tightest
// limit counts. Versions 1 and 2 are read, also side by side, anew at each call. `root` is prepended to every path, for
// tests. Throws only std::bad_alloc: an unreadable file sets no limit.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace spargo {

struct SPARGO_EXPORT cgroup_memory {
  std::int64_t limit = 0;  // bytes: the smaller of memory.max and memory.high; version 1: memory.limit_in_bytes
  std::int64_t used = 0;   // bytes that the kernel cannot reclaim: without the page cache

  [[nodiscard]] std::int64_t available() const noexcept { return limit > used ? limit - used : 0; }
};

// The level with the least memory left; none if no level has a limit.
[[nodiscard]] SPARGO_EXPORT std::optional<cgroup_memory> cgroup_memory_limit(const std::string& root = {});

// CPU quota in processors: cpu.max, or cpu.cfs_quota_us / cpu.cfs_period_us. None if no level has a quota.
[[nodiscard]] SPARGO_EXPORT std::optional<double> cpu_quota(const std::string& root = {});

}  // namespace spargo

// What Linux control groups leave this process: containers, batch systems and systemd limit memory and processor time
// through them.
//
// /proc/self/cgroup names the process's group in every hierarchy and /proc/self/mountinfo where that is mounted. A
// limit holds for all groups below it, so each level from the process's group up to the mount's root is looked at, and
// the tightest counts. Versions 1 and 2 are read, also side by side. A few small files are read at each call. `root`
// stands before every path: another tree in place of the system's own. Nothing is thrown but std::bad_alloc: what
// cannot be read limits nothing.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace spargo {

struct SPARGO_EXPORT cgroup_memory {
  std::int64_t limit = 0;  // bytes: memory.max or memory.high, whichever is less; memory.limit_in_bytes
  std::int64_t used = 0;   // bytes that the kernel cannot take back: without the page cache of files

  [[nodiscard]] std::int64_t available() const noexcept { return limit > used ? limit - used : 0; }
};

// Of the level that leaves least; none where no level has a limit.
[[nodiscard]] SPARGO_EXPORT std::optional<cgroup_memory> cgroup_memory_limit(const std::string& root = {});

// Processors' worth of time, 0.5 being half of one: cpu.max, or cpu.cfs_quota_us over cpu.cfs_period_us. None where no
// level has a quota.
[[nodiscard]] SPARGO_EXPORT std::optional<double> cpu_quota(const std::string& root = {});

}  // namespace spargo

// Control group limits, from trees as the kernel writes them and from a real group where one can be made.
#include <spargo/core/cgroup.hpp>

#include "io/support/files.hpp"
#include "support/cgroup.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <functional>
#include <utility>
#include <vector>

namespace spargo {
namespace {

// A tree with these files as the system's root.
class fake_system {
 public:
  explicit fake_system(const std::vector<std::pair<std::string, std::string>>& files) {
    for (const auto& [name, content] : files) {
      std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
      (void)folder_.write(name, content);
    }
  }
  [[nodiscard]] std::string root() const { return folder_.path(); }

 private:
  test::temporary_folder folder_;
};

constexpr const char* cgroup = "proc/self/cgroup";
constexpr const char* mountinfo = "proc/self/mountinfo";
const std::string mount_two = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Cgroup, NothingIsLimitedWithoutGroups) {
  const fake_system none({});
  EXPECT_FALSE(cgroup_memory_limit(none.root()).has_value());
  EXPECT_FALSE(cpu_quota(none.root()).has_value());
  const fake_system unlimited({{cgroup, "0::/a/b\n"},
                               {mountinfo, mount_two},
                               {"sys/fs/cgroup/a/b/memory.max", "max\n"},
                               {"sys/fs/cgroup/a/b/memory.high", "max\n"},
                               {"sys/fs/cgroup/a/b/memory.current", "5000\n"},
                               {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}});
  EXPECT_FALSE(cgroup_memory_limit(unlimited.root()).has_value());
  EXPECT_FALSE(cpu_quota(unlimited.root()).has_value());
}

TEST(Cgroup, VersionTwoTakesTheTightestLevelUpToTheRoot) {
  const fake_system system({{cgroup, "0::/a.slice/b/c\n"},
                            {mountinfo, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n" + mount_two},
                            {"sys/fs/cgroup/a.slice/memory.max", "1000000\n"},
                            {"sys/fs/cgroup/a.slice/memory.current", "900000\n"},
                            {"sys/fs/cgroup/a.slice/memory.stat", "anon 1\ninactive_file 1000\nactive_file 200\n"},
                            {"sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n"},
                            {"sys/fs/cgroup/a.slice/b/memory.max", "500000\n"},
                            {"sys/fs/cgroup/a.slice/b/memory.current", "100000\n"},
                            {"sys/fs/cgroup/a.slice/b/cpu.max", "max 100000\n"},
                            {"sys/fs/cgroup/a.slice/b/c/memory.max", "max\n"},
                            {"sys/fs/cgroup/a.slice/b/c/cpu.max", "40000 20000\n"}});
  const std::optional<cgroup_memory> memory = cgroup_memory_limit(system.root());
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->limit, 1000000);
  EXPECT_EQ(memory->used, 898800) << "page cache can be taken back";
  EXPECT_EQ(memory->available(), 101200);
  EXPECT_EQ(cpu_quota(system.root()), 1.5);
}

TEST(Cgroup, MemoryHighCountsWhereItIsLess) {
  const auto limit = [](const char* max, const char* high) {
    const fake_system system({{cgroup, "0::/\n"},
                              {mountinfo, mount_two},
                              {"sys/fs/cgroup/memory.max", max},
                              {"sys/fs/cgroup/memory.high", high},
                              {"sys/fs/cgroup/memory.current", "7000\n"}});
    const std::optional<cgroup_memory> memory = cgroup_memory_limit(system.root());
    return memory.has_value() ? memory->limit : -1;
  };
  EXPECT_EQ(limit("max\n", "5000\n"), 5000);
  EXPECT_EQ(limit("9000\n", "5000\n"), 5000);
  EXPECT_EQ(limit("4000\n", "5000\n"), 4000);
  EXPECT_EQ(limit("0\n", "max\n"), 0);
}

TEST(Cgroup, MoreUsedThanAllowedLeavesNothing) {
  EXPECT_EQ((cgroup_memory{5000, 7000}.available()), 0);
  EXPECT_EQ((cgroup_memory{7000, 5000}.available()), 2000);
}

TEST(Cgroup, VersionOneHasAHierarchyForEachController) {
  const fake_system system(
      {{cgroup, "4:memory:/jobs/7\n3:cpuset:/x\n2:cpu,cpuacct:/jobs\n0::/\n"},
       {mountinfo,
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
       {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
       {"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "9223372036854771712\n"},
       {"sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "300000000\n"},
       {"sys/fs/cgroup/memory/jobs/7/memory.usage_in_bytes", "250000000\n"},
       {"sys/fs/cgroup/memory/jobs/7/memory.stat",
        "cache 5\ninactive_file 1\nactive_file 1\ntotal_inactive_file 200000000\ntotal_active_file 10000000\n"},
       {"sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "1\n"},
       {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
       {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
       {"sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "50000\n"},
       {"sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n"}});
  const std::optional<cgroup_memory> memory = cgroup_memory_limit(system.root());
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->limit, 300000000);
  EXPECT_EQ(memory->used, 40000000);
  EXPECT_EQ(cpu_quota(system.root()), 0.5);
}

// A container that shares the host's names: the mount shows a part of the hierarchy under its full path.
TEST(Cgroup, TheMountMayShowAPartOfTheHierarchy) {
  const std::string mount = "30 23 0:26 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  const auto quota = [&](const std::string& group) {
    const fake_system system({{cgroup, "0::" + group + "\n"},
                              {mountinfo, mount},
                              {"sys/fs/cgroup/cpu.max", "400000 100000\n"},
                              {"sys/fs/cgroup/inner/cpu.max", "50000 100000\n"}});
    return cpu_quota(system.root());
  };
  EXPECT_EQ(quota("/docker/1f"), 4.0);
  EXPECT_EQ(quota("/docker/1f/inner"), 0.5);
  EXPECT_EQ(quota("/docker/1f00"), 4.0) << "another group, outside of the mount";
  EXPECT_EQ(quota("/../outside"), 4.0) << "above the root of a namespace";
}

TEST(Cgroup, BlanksInTheMountPointAreEscaped) {
  const fake_system system({{cgroup, "0::/a b\n"},
                            {mountinfo, "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n"},
                            {"my groups/a b/cpu.max", "25000 100000\n"}});
  EXPECT_EQ(cpu_quota(system.root()), 0.25);
}

TEST(Cgroup, UnreadableFilesSetNoLimit) {
  const fake_system system({{cgroup, "garbage\n0::/a\n"},
                            {mountinfo, "short\n1 2 - x\n" + mount_two},
                            {"sys/fs/cgroup/a/cpu.max", "fast\n"},
                            {"sys/fs/cgroup/a/memory.max", "99999999999999999999999999\n"},
                            {"sys/fs/cgroup/cpu.max", "100000 0\n"},
                            {"sys/fs/cgroup/memory.max", ""}});
  EXPECT_FALSE(cgroup_memory_limit(system.root()).has_value());
  EXPECT_FALSE(cpu_quota(system.root()).has_value());
}

// Runs `check` in a child process in the group.
bool holds_inside(const test::control_group& group, const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(test::enter(group.procs().c_str()) && check() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Cgroup, ARealMemoryLimitIsSeen) {
  const test::control_group group("memory", "memory.limit_in_bytes", "memory.max");
  if (!group.exists()) GTEST_SKIP() << "no control group of memory can be made here";
  ASSERT_TRUE(group.set(group.is_version_two() ? "memory.max" : "memory.limit_in_bytes", "67108864"));
  EXPECT_TRUE(holds_inside(group, [] {
    const std::optional<cgroup_memory> memory = cgroup_memory_limit();
    return memory.has_value() && memory->limit == 67108864 && memory->available() > 1'000'000;
  }));
}

TEST(Cgroup, ARealQuotaIsSeen) {
  const test::control_group group("cpu", "cpu.cfs_quota_us", "cpu.max");
  if (!group.exists()) GTEST_SKIP() << "no control group of processor time can be made here";
  if (group.is_version_two()) {
    ASSERT_TRUE(group.set("cpu.max", "50000 100000"));
  } else {
    ASSERT_TRUE(group.set("cpu.cfs_period_us", "100000"));
    ASSERT_TRUE(group.set("cpu.cfs_quota_us", "50000"));
  }
  EXPECT_TRUE(holds_inside(group, [] { return cpu_quota() == 0.5; }));
}

}  // namespace
}  // namespace spargo

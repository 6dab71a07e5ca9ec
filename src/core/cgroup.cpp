#include <spargo/core/cgroup.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace spargo {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t no_limit = std::int64_t{1} << 62;  // version 1 writes 2^63 minus one page for "no limit"

enum class version { one, two };

// A hierarchy's folders: that of the process's group, and that of the mount's root.
struct hierarchy {
  version kind = version::two;
  fs::path group;
  fs::path top;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool names(const std::string& list, std::string_view controller) {
  const std::vector<std::string> all = split(list, ',');
  return std::find(all.begin(), all.end(), controller) != all.end();
}

// mountinfo writes blanks in paths as \040.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() && std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      plain.push_back(static_cast<char>(code));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

// The process's group in a controller's hierarchy, from lines ID:CONTROLLERS:PATH (version 2: no controllers).
std::optional<std::string> group_of(const std::string& root, version kind, std::string_view controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (kind == version::two ? controllers.empty() : names(controllers, controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

// The group's folder below the mount. A mount may show only a part of the hierarchy (its root), and the group may lie
// outside of it, as in a container that shares the host's view: then only the mount's top can be read.
fs::path below(const fs::path& top, const std::string& mounted, const std::string& group) {
  const std::string prefix = mounted == "/" ? std::string() : mounted;
  const bool inside = group.starts_with(prefix) && (group.size() == prefix.size() || group[prefix.size()] == '/');
  if (!inside || group.find("/..") != std::string::npos) return top;
  const fs::path relative = fs::path(group.substr(prefix.size())).relative_path();
  return relative.empty() ? top : top / relative;
}

std::vector<hierarchy> hierarchies(const std::string& root, std::string_view controller) {
  std::vector<hierarchy> found;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // ID PARENT MAJOR:MINOR ROOT MOUNT_POINT OPTIONS TAGS... - TYPE SOURCE SUPER_OPTIONS
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> before = split(line.substr(0, dash), ' ');
    const std::vector<std::string> after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool two = after[0] == "cgroup2";
    if (!two && (after[0] != "cgroup" || !names(after[2], controller))) continue;
    const version kind = two ? version::two : version::one;
    const std::optional<std::string> group = group_of(root, kind, controller);
    if (!group.has_value()) continue;
    const fs::path top = root + unescaped(before[4]);
    found.push_back({kind, below(top, unescaped(before[3]), *group), top});
  }
  return found;
}

// visit(folder, version) for each level of each hierarchy, from the process's group upwards.
template <class Visit>
void for_each_level(const std::string& root, std::string_view controller, const Visit& visit) {
  for (const hierarchy& each : hierarchies(root, controller)) {
    for (fs::path folder = each.group;; folder = folder.parent_path()) {
      visit(folder, each.kind);
      if (folder == each.top || !folder.has_relative_path()) break;
    }
  }
}

std::optional<std::int64_t> parse(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(word);
  return words;
}

// A file that holds one number; none for "max" or if there is no such file.
std::optional<std::int64_t> number_in(const fs::path& path) {
  const std::vector<std::string> words = words_of(path);
  return words.empty() ? std::nullopt : parse(words[0]);
}

// Page cache that the kernel reclaims before it kills processes: memory.stat has one key and number per line.
std::int64_t reclaimable(const fs::path& folder, version kind) {
  const std::string prefix = kind == version::one ? "total_" : "";
  const std::vector<std::string> words = words_of(folder / "memory.stat");
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] != prefix + "inactive_file" && words[i] != prefix + "active_file") continue;
    bytes += parse(words[i + 1]).value_or(0);
  }
  return bytes;
}

std::optional<cgroup_memory> memory_at(const fs::path& folder, version kind) {
  std::int64_t limit = no_limit;
  if (kind == version::one) {
    limit = number_in(folder / "memory.limit_in_bytes").value_or(no_limit);
  } else {
    limit = std::min(number_in(folder / "memory.max").value_or(no_limit),
                     number_in(folder / "memory.high").value_or(no_limit));
  }
  if (limit < 0 || limit >= no_limit) return std::nullopt;
  const fs::path usage = folder / (kind == version::one ? "memory.usage_in_bytes" : "memory.current");
  const std::int64_t used = number_in(usage).value_or(0) - reclaimable(folder, kind);
  return cgroup_memory{limit, std::max<std::int64_t>(used, 0)};
}

std::optional<double> quota_at(const fs::path& folder, version kind) {
  std::optional<std::int64_t> quota;
  std::optional<std::int64_t> period;
  if (kind == version::one) {
    quota = number_in(folder / "cpu.cfs_quota_us");
    period = number_in(folder / "cpu.cfs_period_us");
  } else {
    const std::vector<std::string> words = words_of(folder / "cpu.max");
    if (words.size() == 2) {
      quota = parse(words[0]);
      period = parse(words[1]);
    }
  }
  if (!quota.has_value() || !period.has_value() || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

std::optional<cgroup_memory> cgroup_memory_limit(const std::string& root) {
  std::optional<cgroup_memory> tightest;
  for_each_level(root, "memory", [&](const fs::path& folder, version kind) {
    const std::optional<cgroup_memory> level = memory_at(folder, kind);
    if (level.has_value() && (!tightest.has_value() || level->available() < tightest->available())) tightest = level;
  });
  return tightest;
}

std::optional<double> cpu_quota(const std::string& root) {
  std::optional<double> tightest;
  for_each_level(root, "cpu", [&](const fs::path& folder, version kind) {
    const std::optional<double> level = quota_at(folder, kind);
    if (level.has_value() && (!tightest.has_value() || *level < *tightest)) tightest = level;
  });
  return tightest;
}

}  // namespace spargo

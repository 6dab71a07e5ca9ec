// A cgroup for the test below that of the process, if the system allows one.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace spargo::test {

// Removed with this object, when no process may be in it.
class control_group {
 public:
  // `setting`: a controller file that the group must have, per cgroup version.
  control_group(const std::string& controller, const std::string& setting_one, const std::string& setting_two) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const std::size_t first = line.find(':');
      const std::size_t second = line.find(':', first + 1);
      const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
      const std::string group = line.substr(second + 1);
      if (controllers.find("," + controller + ",") != std::string::npos) {
        make("/sys/fs/cgroup/" + controller + group, setting_one);
      }
      if (controllers == ",,") make("/sys/fs/cgroup" + group, setting_two);
    }
  }
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;
  ~control_group() {
    if (exists()) ::rmdir(path_.c_str());
  }

  [[nodiscard]] bool exists() const { return !path_.empty(); }
  [[nodiscard]] const std::string& procs() const { return procs_; }
  [[nodiscard]] bool is_version_two() const { return two_; }

  // Whether the kernel accepted the value.
  [[nodiscard]] bool set(const std::string& file, const std::string& value) const {
    std::ofstream out(path_ + "/" + file);
    out << value << std::flush;
    return out.good();
  }

 private:
  void make(const std::string& parent, const std::string& setting) {
    if (exists() || !std::filesystem::exists(parent + "/cgroup.procs")) return;
    const std::string path = parent + "/spargo-test-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) return;
    if (!std::filesystem::exists(path + "/" + setting)) {
      ::rmdir(path.c_str());
      return;
    }
    path_ = path;
    procs_ = path + "/cgroup.procs";
    two_ = setting.find('.') != std::string::npos && !std::filesystem::exists(path + "/tasks");
  }

  std::string path_;
  std::string procs_;
  bool two_ = false;
};

// Moves the calling process into the group; async-signal-safe, for a child between fork and exec.
inline bool enter(const char* procs) {
  const int file = ::open(procs, O_WRONLY | O_CLOEXEC);
  const bool entered = file >= 0 && ::write(file, "0", 1) == 1;
  if (file >= 0) ::close(file);
  return entered;
}

}  // namespace spargo::test

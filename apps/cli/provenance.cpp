#include "cli/provenance.hpp"

#include "cli/libraries.hpp"
#include "cli/picture.hpp"
#include "cli/text.hpp"

#include <spargo/core/config.hpp>

#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <string_view>

namespace spargo::apps {

namespace {

std::string& remembered() {
  static std::string line;
  return line;
}

}  // namespace

std::string version_text(const std::string& called) {
  std::string with;
  std::string without;
  const auto add = [&](std::string_view name, std::string_view version) {
    std::string& to = version.empty() ? without : with;
    to += to.empty() ? "" : ", ";
    to += name;
    if (!version.empty()) to.append(" ").append(version);
  };
  add("CUDA", config::has_cuda ? built_with::cuda : "");
  add("MPI", built_with::mpi);
  add("Cairo", drawing_version());
  add("xxHash", built_with::xxhash);
  return fmt::format("{} (Spargo) {}\n{}{}{}{}{}", called, SPARGO_VERSION_STRING, with.empty() ? "" : "with ", with,
                     with.empty() || without.empty() ? "" : "; ", without.empty() ? "" : "without ", without);
}

void remember_command_line(const std::string& called, int argc, const char* const* argv) {
  std::string& line = remembered();
  line = called;
  for (int k = 1; k < argc; ++k) line.append(" ").append(shell_quoted(argv[k]));
}

const std::string& command_line() { return remembered(); }

std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

std::string origin_text() {
  return fmt::format("Spargo {}, {}, {}", SPARGO_VERSION_STRING, utc_time(), processor_name());
}

}  // namespace spargo::apps

#include "core/device_list.hpp"

#include <charconv>

namespace spargo::detail {

namespace {

bool entry_runs_on(std::string_view entry, int capability) {
  if (entry == "all" || entry == "all-major") return true;
  int built = 0;
  const auto [end, status] = std::from_chars(entry.data(), entry.data() + entry.size(), built);
  if (status != std::errc{}) return false;
  std::string_view kind(end, static_cast<std::size_t>(entry.data() + entry.size() - end));
  if (kind.starts_with("a")) return built == capability;
  const bool of_family = kind.starts_with("f");
  if (of_family) kind.remove_prefix(1);
  const bool same_major = built / 10 == capability / 10 && built <= capability;
  if (of_family || kind == "-real") return same_major;
  return built <= capability;
}

}  // namespace

bool holds_code_for(std::string_view architectures, int capability) {
  while (!architectures.empty()) {
    const std::size_t end = architectures.find_first_of(";,");
    if (entry_runs_on(architectures.substr(0, end), capability)) return true;
    if (end == std::string_view::npos) return false;
    architectures.remove_prefix(end + 1);
  }
  return false;
}

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

device_status usable_devices(const std::vector<device_description>& devices, std::string_view architectures) {
  device_status result;
  std::string first_reason;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const device_description& device = devices[d];
    std::string reason;
    if (device.prohibited) {
      reason = "device " + std::to_string(d) + " is in compute mode 'prohibited'";
    } else if (!holds_code_for(architectures, device.capability)) {
      reason = "the library holds no code for compute capability " + capability_text(device.capability);
    }
    if (reason.empty()) {
      if (result.ordinals.empty()) result.reason = device.name;
      result.ordinals.push_back(static_cast<int>(d));
    } else if (first_reason.empty()) {
      first_reason = reason;
    }
  }
  result.count = static_cast<int>(result.ordinals.size());
  if (result.count == 0) result.reason = devices.empty() ? "no GPU found" : first_reason;
  return result;
}

}  // namespace spargo::detail

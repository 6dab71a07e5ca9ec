#include "common/device_choice.hpp"

#include "common/cli.hpp"
#include "common/memory_limit.hpp"

#include <fmt/format.h>

#include <fstream>

namespace spargo::apps {

namespace {

void use_gpu(backend& chosen, int ordinal, const std::string& why) {
  device_options options;
  options.ordinal = ordinal;
  chosen.gpu.emplace(options);
  chosen.name = fmt::format("cuda:{}", ordinal);
  chosen.reason = fmt::format("{}, {}", chosen.gpu->properties().name, why);
}

// A GPU that is listed but cannot be used (busy in exclusive mode, say) is no reason to fail under `auto`.
void use_gpu_if_possible(backend& chosen) {
  const device_status status = query_devices();
  if (!status.usable()) {
    chosen.reason = fmt::format("no usable GPU: {}", status.reason);
    return;
  }
  try {
    use_gpu(chosen, 0, "the first usable GPU");
  } catch (const error& e) {
    chosen.gpu.reset();
    chosen.name = "cpu";
    chosen.reason = fmt::format("the GPU could not be used: {}", e.what());
  }
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

backend choose_backend(const std::string& device, int threads) {
  host_options options;
  options.threads = threads;
  options.resource = &host_memory();
  backend chosen{context<host>(options), std::nullopt, "cpu", "as asked for"};
  if (device == "auto") {
    use_gpu_if_possible(chosen);
  } else if (device != "cpu") {
    std::int64_t ordinal = 0;
    if (device.size() > 5) (void)parse_integer(std::string_view(device).substr(5), ordinal);
    use_gpu(chosen, static_cast<int>(ordinal), "as asked for");
  }
  return chosen;
}

}  // namespace spargo::apps

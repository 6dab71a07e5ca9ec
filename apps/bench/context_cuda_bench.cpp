// The device in the JSON results: name and sizes, driver and runtime, ceilings.
#include "bench/device_timing.hpp"

namespace spargo::bench {

namespace {

std::string version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

// Reports the ceilings that the cases were compared with; a run without such cases measures them now, briefly.
void describe_device() {
  int driver = 0;
  int runtime = 0;
  expect(cudaDriverGetVersion(&driver));
  expect(cudaRuntimeGetVersion(&runtime));
  const device_properties& p = device_context().properties();
  auto& context = run_context();
  context["device"] = p.name;
  context["device_compute_capability"] =
      std::to_string(p.compute_capability_major) + "." + std::to_string(p.compute_capability_minor);
  context["device_multiprocessors"] = std::to_string(p.multiprocessors);
  context["device_memory_bytes"] = std::to_string(p.total_bytes);
  context["cuda_driver"] = version(driver);
  context["cuda_runtime"] = version(runtime);
  note_ceiling("device_copy_bytes_per_second", device_copy_rate());
  note_ceiling("device_read_bytes_per_second", device_read_rate());
}

const registration here{[] {
  if (current_settings().device && query_devices().usable()) closing_notes().emplace_back(describe_device);
}};

}  // namespace

}  // namespace spargo::bench

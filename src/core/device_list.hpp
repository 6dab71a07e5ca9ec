// Which GPUs the library can use, decided from properties that need no context.
#pragma once

#include <spargo/core/context.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail {

struct device_description {
  std::string name;
  int capability = 0;       // 90 for compute capability 9.0
  bool prohibited = false;  // compute mode "prohibited": no process may use it
};

// Whether code built for `architectures`, in the syntax of CMAKE_CUDA_ARCHITECTURES ("80-real;90"), runs on a device.
// Machine code runs on its major capability from its minor one on, PTX on its own and all later capabilities, code of
// one chip ("90a") on that chip only.
[[nodiscard]] bool holds_code_for(std::string_view architectures, int capability);

// In the order of their ordinals.
[[nodiscard]] device_status usable_devices(const std::vector<device_description>& devices,
                                           std::string_view architectures);

// "9.0"
[[nodiscard]] std::string capability_text(int capability);

}  // namespace spargo::detail

// Which of a machine's GPUs the library can use, told from facts that no context has to be made for.
#pragma once

#include <spargo/core/context.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail {

struct device_description {
  std::string name;
  int capability = 0;       // 90 for compute capability 9.0
  bool prohibited = false;  // compute mode: no process may use it
};

// Whether code built for `architectures`, written as CMAKE_CUDA_ARCHITECTURES is ("80-real;90"), runs on a device:
// machine code on its own major capability from its minor one on, PTX on all capabilities from its own on, and code of
// one chip ("90a") on that chip alone.
[[nodiscard]] bool holds_code_for(std::string_view architectures, int capability);

// All devices in the order of their ordinals.
[[nodiscard]] device_status usable_devices(const std::vector<device_description>& devices,
                                           std::string_view architectures);

// "9.0"
[[nodiscard]] std::string capability_text(int capability);

}  // namespace spargo::detail

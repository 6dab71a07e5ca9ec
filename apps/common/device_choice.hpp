// Which backend runs, and why: --device turned into a context.
#pragma once

#include <spargo/core/context.hpp>

#include <optional>
#include <string>

namespace spargo::apps {

struct backend {
  context<host> cpu;                   // always there: reading, checking
  std::optional<context<device>> gpu;  // when the GPU was chosen
  std::string name;                    // "cpu", "cuda:0"
  std::string reason;                  // one sentence, for people
};

// `device` is auto, cpu, cuda or cuda:N. `auto` never throws for want of a GPU; the others throw device_unavailable.
[[nodiscard]] backend choose_backend(const std::string& device, int threads);

// The processor's name where the system tells it, else "CPU".
[[nodiscard]] std::string processor_name();

}  // namespace spargo::apps

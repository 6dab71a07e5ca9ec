// Where a Matrix Market file is parsed: on the host, or on the device that will work on it.
//
// On the device it is converted to CSR as well, and stays there beside the copy that is brought home (to be checked,
// described, cached); the host is spared both halves of the work.
#pragma once

#include "input/input.hpp"

#include <spargo/io/device_read.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace spargo::apps {

struct parse_choice {
  std::optional<context<device>> gpu;  // none: on the host
  device_read_algorithm algorithm = device_read_algorithm::automatic;
};

// --parse: auto, cpu or gpu.
void add_parse_flag(CLI::App& app, std::string& where);

// Throws usage_error for `gpu` without one.
void expect_gpu_for(const std::string& where, const std::optional<context<device>>& gpu);

// The choice for a file: `auto` means what the library suggests where there is a GPU. Throws usage_error for `gpu`
// without one.
[[nodiscard]] parse_choice choose_parsing(const std::string& where, const std::optional<context<device>>& gpu,
                                          const input_description& input);

}  // namespace spargo::apps

// Where a Matrix Market file is parsed: on the host, or on the device that will use it.
//
// On the device it is also converted to CSR and stays there; the host gets a copy for checks, reports and the cache.
#pragma once

#include "cli/flags.hpp"
#include "input/input.hpp"

#include <spargo/io/device_read.hpp>

#include <optional>
#include <string>

namespace spargo::apps {

struct parse_choice {
  std::optional<context<device>> gpu;  // none: on the host
  device_read_algorithm algorithm = device_read_algorithm::automatic;
};

// --parse: auto, cpu or gpu.
void add_parse_flag(flag_set app, std::string& where);

// Throws usage_error for `gpu` without a GPU.
void expect_gpu_for(const std::string& where, const std::optional<context<device>>& gpu);

// `auto` with a GPU: the library's suggestion for the file. Throws usage_error for `gpu` without one.
[[nodiscard]] parse_choice choose_parsing(const std::string& where, const std::optional<context<device>>& gpu,
                                          const input_description& input);

}  // namespace spargo::apps

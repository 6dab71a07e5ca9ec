// `spargo plan`: memory, time and choices of a command, from the estimates that it makes before it reads.
#pragma once

#include "cli/cli.hpp"
#include "input/input.hpp"
#include "placement/device_choice.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace spargo::apps {

// Several processes or GPUs; 0 ranks: one process with at most one GPU.
struct plan_scale {
  std::int64_t ranks = 0;
  bool on_gpus = false;
};

struct work_plan {
  std::string command;
  std::string file;
  std::string format;              // of the input
  std::int64_t rows = 0;           // of a graph its vertices; 0: known once the file is read
  std::int64_t cols = 0;           // of a matrix
  std::int64_t entries = 0;        // edges or entries as listed
  std::optional<bool> directed{};  // of a graph
  plan_scale scale{};
  std::int64_t host_bytes = 0;          // of each rank; a lower bound
  std::int64_t host_running_bytes = 0;  // of the graph and the workspace on the CPU, an upper bound; 0: unknown
  std::int64_t device_bytes = 0;        // of each rank, where a GPU does it
  double cpu_ms = 0;                    // until the first result
  double gpu_ms = 0;                    // the same, a GPU's opening included
  bool runs_on_gpu = true;              // false: device_bytes and gpu_ms have no meaning
  int threads = 1;
  std::string device{};  // "cpu", "cuda", ...
  std::string device_reason{};
  std::string algorithm{};  // as the flag names it; auto: known once the input is read
  std::string algorithm_reason = "as asked for";
  std::string unused_weights{};  // columns that a command over weights would not use
};

// The device of --device or --devices, and the reason; empty: auto.
struct device_wish {
  std::string device;
  std::string reason;
};
[[nodiscard]] device_wish device_as_asked(const common_flags& flags, const plan_scale& scale);

// Throws `error` (unsupported) for text from a stream, whose size is known only once it is read.
void expect_known_size(const input_description& input);

// Prints it, as every report; of a graph with its columns, as a run would.
exit_status print_plan(const common_flags& given, const work_plan& plan, const input_description& input);

}  // namespace spargo::apps

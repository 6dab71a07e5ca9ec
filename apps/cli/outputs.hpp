// Checks outputs before the work whose results they get.
#pragma once

#include "cli/cli.hpp"

#include <string>
#include <vector>

namespace spargo::apps {

struct output_request {
  std::string flag;  // as the user typed it: --output, OUT
  std::string path;  // empty: not requested
};

// Checks the outputs, --json and --report without changing anything. Throws `error` (io) for one that cannot be
// written, usage_error for one that is an input under any name or link (unless --force) and for two that are the same.
// Then sets `flags.stdout_taken` if one is standard output, and restricts the permissions of new files to those of the
// inputs. Skips inputs that are not files (gen:..., a word of a flag).
void prepare_outputs(common_flags& flags, const std::vector<std::string>& inputs, std::vector<output_request> outputs);

}  // namespace spargo::apps

// Where an app's results go, looked at before the work that they are the result of.
#pragma once

#include "cli/cli.hpp"

#include <string>
#include <vector>

namespace spargo::apps {

struct output_request {
  std::string flag;  // as the user knows it: --output, OUT
  std::string path;  // empty: not asked for
};

// Looks at the outputs and --json, and changes nothing: `error` (io) for one that cannot be written; usage_error for
// one that is an input by any name or link, unless --force, and for two that are the same. Then sets
// `flags.stdout_taken` if one of them is standard output, and sees to it that files made from now on are readable by
// nobody who may not read all of the inputs. Inputs that are no files (gen:..., a word of a flag) are passed over.
void prepare_outputs(common_flags& flags, const std::vector<std::string>& inputs, std::vector<output_request> outputs);

}  // namespace spargo::apps

// bench [FILTER]: the benchmarks, in a program of their own that links their peers (apps/bench); here are its flags.
#include "bench/flags.hpp"

#include "commands/table.hpp"

namespace spargo::apps {

namespace {

command_body declare(flag_set app) {
  const auto flags = std::make_shared<bench::bench_flags>();
  bench::add_flags(app, *flags);
  return [flags] { return exit_status::success; };
}

}  // namespace

extern const command bench_command{"bench", "times every operation beside the libraries that the machine has", declare,
                                   "spargo-bench"};

}  // namespace spargo::apps

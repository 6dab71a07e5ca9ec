// Loading graphs for ranks; flags and figures of power iterations.
#include "placement/centrality_input.hpp"

#include "cli/choice.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spargo::apps {

centrality_input load_centrality(const graph_flags& flags, const graph_work& work, const std::string& weights) {
  const auto placed = [](auto read, std::string from) -> centrality_input {
    return {std::move(read.where), std::move(read.from),
            std::visit([](auto& g) -> decltype(centrality_input::g) { return std::move(g); }, read.g), std::move(from)};
  };
  if (weights.empty()) return placed(load_placed(flags, work), {});
  weight_choice choice = parse_weights(weights);
  choice.duplicates = duplicate_weights::sum;
  choice.signs = weight_signs::nonnegative_finite;
  auto read = load_weighted(flags, work, choice);
  std::string from = read.weights;
  return placed(std::move(read), std::move(from));
}

void report_centrality_weights(report& out, const centrality_input& read) {
  if (read.weights.empty()) return;
  out.keys()["weights"] = read.weights;
  out.row("weights", read.weights);
}

void add_power_flags(flag_set app, power_flags& flags, const char* meaning) {
  app.add_option("--tolerance", flags.tolerance, meaning)->type_name("X")->capture_default_str();
  app.add_option("--max-iterations", flags.max_iterations, "maximum number of iterations")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  add_weights_flag(app, flags.weights,
                   "edges count by their weights: file, unit or random[:SEED] (integers 1 to 255, the same both ways); "
                   "default: equally");
}

void check_power_flags(const power_flags& flags) {
  (void)parse_weights(flags.weights);
  if (!(flags.tolerance >= 0 && std::isfinite(flags.tolerance))) {
    throw usage_error(fmt::format("--tolerance: {} (expected 0 or more)", flags.tolerance));
  }
}

void report_iterations(report& out, std::int64_t iterations, double residual, bool converged) {
  json& keys = out.keys();
  keys["iterations"] = iterations;
  keys["residual"] = residual;
  keys["converged"] = converged;
  out.row("iterations", fmt::format("{}, residual {:.3g}{}", iterations, residual, converged ? "" : ": NOT CONVERGED"));
  if (!converged) warn_not_converged(out, iterations, residual);
}

void warn_not_converged(report& out, std::int64_t iterations, double residual) {
  out.warn(fmt::format("not converged after {} (residual {:.3g}): raise --max-iterations or --tolerance",
                       counted(iterations, "iteration"), residual));
}

}  // namespace spargo::apps

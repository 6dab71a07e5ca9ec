// katz FILE: Katz centrality of a graph's vertices.
#include "commands/table.hpp"
#include "placement/centrality_input.hpp"

#include <spargo/graph/katz.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace spargo::apps {

namespace {

struct katz_flags : power_flags_of<katz_options> {
  std::optional<double> alpha;  // none: chosen
  double beta = 1;
};

struct katz_ranks : power_ranks {
  using flags_type = katz_flags;
  static constexpr const char* name = "katz";
  static constexpr const char* activity = "ranking";
  static constexpr std::string_view columns = "id,value";

  template <class>
  struct result : checked, katz_result<host> {
    double bound = 0;  // on the largest eigenvalue
  };

  static graph_command_text text() {
    return {
        "Katz centrality of a graph: reads it, iterates, times and checks. A vertex's value is beta plus alpha times "
        "the sum of the values of those that point at it; then the values are scaled to 2-norm 1, as in networkx. "
        "Self-loops count. The iteration converges for alpha below 1 / the largest eigenvalue.",
        {.table = {.columns = columns, .order = "largest value first", .report_list = "top"}},
        {"wiki-Vote.txt.gz", "links.el --alpha 0.005 --output values.csv",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(flag_set app, katz_flags& flags) {
    add_power_flags(app, flags, "stop when one step changes the values by less than X on average");
    app.add_option("--alpha", flags.alpha,
                   "factor of a step along an edge; default: 0.9 / an upper bound on the largest eigenvalue, which the "
                   "report names")
        ->type_name("A");
    app.add_option("--beta", flags.beta, "constant of every vertex")->type_name("B")->capture_default_str();
  }
  static void check_flags(const katz_flags& flags) {
    check_power_flags(flags);
    if (flags.alpha.has_value() && !(*flags.alpha > 0 && std::isfinite(*flags.alpha))) {
      throw usage_error(fmt::format("--alpha: {} (expected more than 0)", *flags.alpha));
    }
    if (!(flags.beta >= 0 && std::isfinite(flags.beta))) {
      throw usage_error(fmt::format("--beta: {} (expected 0 or more)", flags.beta));
    }
  }
  static graph_work work(const katz_flags& flags) { return work_of(flags, 150, 1); }
  static katz_options options(const katz_flags& flags) {
    return {.alpha = flags.alpha.value_or(0),
            .beta = flags.beta,
            .tolerance = flags.tolerance,
            .max_iterations = flags.max_iterations};
  }
  static auto make_plan(const auto& ctx, const auto& g, const katz_flags& flags) {
    return katz_plan(ctx, g, options(flags));
  }
  static void fetch(const auto& done, const katz_flags& flags, auto& found) {
    fetch_figures(done, found);
    found.values = done.copy(done.plan.values());
    found.alpha = done.plan.alpha();
    // For an alpha that was chosen it is known; else it is computed where it explains something.
    if (!flags.alpha.has_value() || !found.converged) found.bound = done.plan.eigenvalue_bound();
  }
  static std::string check(const context<host>& cpu, const auto& g, const katz_flags& flags, const auto& found) {
    return check_katz(cpu, checked_view(g), found, options(flags));
  }
  static void report_result(report& out, const katz_flags& flags, const vertex_names& names, const auto& found) {
    json& keys = out.keys();
    if (!std::isfinite(found.residual)) {
      throw error(error_code::invalid_argument,
                  fmt::format("--alpha {}: the iteration diverges (expected less than 1 / the largest eigenvalue: any "
                              "below {:.6g} converges)",
                              found.alpha, 1 / found.bound));
    }
    report_iterations(out, found.iterations, found.residual, found.converged);
    keys["alpha"] = found.alpha;
    keys["beta"] = flags.beta;
    std::string alpha = fmt::format("{:.6g}", found.alpha);
    if (found.bound > 0) {
      keys["eigenvalue_bound"] = found.bound;
      alpha += fmt::format(" (the largest eigenvalue is at most {:.6g}: any alpha below {:.6g} converges)", found.bound,
                           1 / found.bound);
    }
    out.row("alpha", alpha);
    report_highest(out, names, found.values.view(), flags.listed());
  }
  static void write(report& out, const katz_flags& flags, const vertex_names& names, const auto& found) {
    write_values(out, flags, names, columns, found.values.view());
  }
};

}  // namespace

extern const command katz_command = graph_command<katz_ranks>("Katz centrality of a graph's vertices");

}  // namespace spargo::apps

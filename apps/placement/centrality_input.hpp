// Graphs for ranks, with or without weights, and the commands whose plans are power iterations.
#pragma once

#include "cli/command.hpp"
#include "placement/driver.hpp"
#include "placement/weighted_input.hpp"

#include <string>
#include <utility>
#include <variant>

namespace spargo::apps {

// A graph with or without weights.
struct centrality_input {
  backend where;
  loaded_input from;
  typename joined<any_placed_graph, any_placed_weighted_graph>::type g;
  std::string weights;  // empty: they do not count
};

// `weights`: --weights; empty: every edge counts the same. Weights of several edges between two vertices are added.
[[nodiscard]] centrality_input load_centrality(const graph_flags& flags, const graph_work& work,
                                               const std::string& weights);
void report_centrality_weights(report& out, const centrality_input& read);

struct power_flags : graph_flags {
  double tolerance = 0;
  std::int64_t max_iterations = 0;
  std::string weights;  // empty: every edge counts the same
};

template <class Options>
struct power_flags_of : power_flags {
  power_flags_of() {
    tolerance = Options().tolerance;
    max_iterations = Options().max_iterations;
  }
};

// --tolerance, --max-iterations and --weights, with the defaults of the plan's options. `meaning`: of the tolerance.
void add_power_flags(flag_set app, power_flags& flags, const char* meaning);
void check_power_flags(const power_flags& flags);
// The keys of the contract, and a row; a warning if not converged.
void report_iterations(report& out, std::int64_t iterations, double residual, bool converged);
// Not a failure: the values are those of a shorter iteration, as the report says.
void warn_not_converged(report& out, std::int64_t iterations, double residual);

// The part of the commands that is the same.
struct power_ranks : graph_algorithm {
  static void check_flags(const power_flags& flags) { check_power_flags(flags); }
  static bool reads_weights(const power_flags& flags) { return flags.weights == "file"; }
  static graph_work work_of(const power_flags& flags, double cpu_ns, std::int64_t values) {
    return {.wanted = flags.weights.empty() ? in_edges::build : in_edges::omit,
            .loops = self_loops::keep,
            .cpu_ns = cpu_ns,
            .results = {values * std::int64_t{sizeof(double)}, 0},
            .edge_bytes = flags.weights.empty() ? std::int64_t{0} : std::int64_t{sizeof(std::int32_t)}};
  }
  static centrality_input load(const power_flags& flags, const graph_work& work) {
    return load_centrality(flags, work, flags.weights);
  }
  static void report_input(report& out, const centrality_input& read, const auto& /*g*/) {
    report_centrality_weights(out, read);
  }
  static std::string how_checked(const power_flags&, const auto&) { return "iterations repeated independently"; }

  // The graph that a check takes.
  static auto checked_view(const auto& g) {
    if constexpr (requires { g.edges_only(); }) {
      return g.view();
    } else {
      return g.out_view();
    }
  }
  static void fetch_figures(const auto& done, auto& found) {
    found.iterations = done.plan.iterations();
    found.residual = done.plan.residual();
    found.converged = done.plan.converged();
    found.algorithm = done.plan.algorithm();
  }
};

}  // namespace spargo::apps

// eigenvector FILE: eigenvector centrality of a graph's vertices.
#include "commands/table.hpp"
#include "placement/centrality_input.hpp"

#include <spargo/graph/eigenvector.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

using eigenvector_flags = power_flags_of<eigenvector_options>;

struct eigenvector_ranks : power_ranks {
  using flags_type = eigenvector_flags;
  static constexpr const char* name = "eigenvector";
  static constexpr const char* activity = "ranking";
  static constexpr std::string_view columns = "id,value";

  template <class>
  struct result : checked, eigenvector_result<host> {};

  static graph_command_text text() {
    return {
        "Eigenvector centrality of a graph: reads it, iterates, times and checks. A vertex's value is in proportion to "
        "the sum of the values of those that point at it; the values have 2-norm 1. As in networkx, A + I is iterated "
        "and self-loops count.",
        {.table = {.columns = columns, .order = "largest value first", .report_list = "top"}},
        {"wiki-Vote.txt.gz --undirected", "coauthors.wel --weights file --output values.csv",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(flag_set app, eigenvector_flags& flags) {
    add_power_flags(app, flags, "stop when one step changes the values by less than X on average");
  }
  static graph_work work(const eigenvector_flags& flags) { return work_of(flags, 60, 1); }
  static eigenvector_options options(const eigenvector_flags& flags) {
    return {.tolerance = flags.tolerance, .max_iterations = flags.max_iterations};
  }
  static auto make_plan(const auto& ctx, const auto& g, const eigenvector_flags& flags) {
    return eigenvector_plan(ctx, g, options(flags));
  }
  static void fetch(const auto& done, const eigenvector_flags&, auto& found) {
    fetch_figures(done, found);
    found.values = done.copy(done.plan.values());
    found.eigenvalue = done.plan.eigenvalue();
  }
  static std::string check(const context<host>& cpu, const auto& g, const eigenvector_flags& flags, const auto& found) {
    return check_eigenvector(cpu, checked_view(g), found, options(flags));
  }
  static void report_result(report& out, const eigenvector_flags& flags, const vertex_names& names, const auto& found) {
    report_iterations(out, found.iterations, found.residual, found.converged);
    out.keys()["eigenvalue"] = found.eigenvalue;
    out.row("largest eigenvalue", fmt::format("{:.6g}", found.eigenvalue));
    report_highest(out, names, found.values.view(), flags.listed());
  }
  static void write(report& out, const eigenvector_flags& flags, const vertex_names& names, const auto& found) {
    write_values(out, flags, names, columns, found.values.view());
  }
};

}  // namespace

extern const command eigenvector_command =
    graph_command<eigenvector_ranks>("eigenvector centrality of a graph's vertices");

}  // namespace spargo::apps

// hits FILE: hubs and authorities of a graph.
#include "commands/table.hpp"
#include "placement/centrality_input.hpp"

#include <spargo/graph/hits.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

using hits_flags = power_flags_of<hits_options>;

struct hits_ranks : power_ranks {
  using flags_type = hits_flags;
  static constexpr const char* name = "hits";
  static constexpr const char* activity = "ranking";
  static constexpr std::string_view columns = "id,hub,authority";

  template <class>
  struct result : checked, hits_result<host> {};

  static graph_command_text text() {
    return {
        "HITS of a graph: reads it, iterates, times and checks. A vertex's authority is in proportion to the sum of "
        "the hub values of those that point at it, its hub value to the sum of the authorities that it points at; each "
        "sums to 1. Self-loops count.",
        {.table = {.columns = columns, .order = "largest hub value first", .report_list = "hubs"}},
        {"wiki-Vote.txt.gz", "links.wel --weights file --output hits.csv",
         "gen:rmat:scale=20,degree=16 --directed --json -"}};
  }
  static void add_flags(flag_set app, hits_flags& flags) {
    add_power_flags(app, flags, "stop when one step changes the hub values by less than X in total");
  }
  static graph_work work(const hits_flags& flags) { return work_of(flags, 120, 2); }
  static hits_options options(const hits_flags& flags) {
    return {.tolerance = flags.tolerance, .max_iterations = flags.max_iterations};
  }
  static auto make_plan(const auto& ctx, const auto& g, const hits_flags& flags) {
    return hits_plan(ctx, g, options(flags));
  }
  static void fetch(const auto& done, const hits_flags&, auto& found) {
    fetch_figures(done, found);
    found.hubs = done.copy(done.plan.hubs());
    found.authorities = done.copy(done.plan.authorities());
  }
  static std::string check(const context<host>& cpu, const auto& g, const hits_flags& flags, const auto& found) {
    return check_hits(cpu, checked_view(g), found, options(flags));
  }
  static void report_result(report& out, const hits_flags& flags, const vertex_names& names, const auto& found) {
    report_iterations(out, found.iterations, found.residual, found.converged);
    report_highest(out, names, found.hubs.view(), flags.listed(), "hubs", "hubs");
    report_highest(out, names, found.authorities.view(), flags.listed(), "authorities", "authorities");
  }
  static void write(report& out, const hits_flags& flags, const vertex_names& names, const auto& found) {
    const auto higher = [&](std::int64_t a, std::int64_t b) { return found.hubs[a] > found.hubs[b]; };
    write_vertices(out, flags, names, columns, higher, [&](std::int64_t v, table_writer& row) {
      row.number(found.hubs[v]);
      row.number(found.authorities[v]);
    });
  }
};

}  // namespace

extern const command hits_command = graph_command<hits_ranks>("hubs and authorities of a graph");

}  // namespace spargo::apps

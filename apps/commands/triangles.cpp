// triangles FILE: the triangles of a graph and its clustering coefficients, timed, and counted again by other code.
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "commands/table.hpp"
#include "placement/graph_plan.hpp"
#include "placement/placed_input.hpp"

#include <spargo/graph/triangles.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace spargo::apps {

namespace {

constexpr std::string_view columns = "id,triangles,coefficient";

template <class I>
struct counted_triangles {
  triangles_result<I, host> counts;
  plan_report plan;
  array<double, host> coefficients;  // of a directed graph LDBC's
  double average_local = 0;
  double transitivity = 0;
  double lcc_average = 0;  // of a directed graph
  verdict fault;
  double check_ms = 0;
};

// Links count only where direction does.
template <index_type I, index_type O, class Space>
counted_triangles<I> count_triangles(const graph_flags& flags, const context<host>& cpu, const context<Space>& ctx,
                                     const graph_view<I, O, Space>& g) {
  const busy counting("counting triangles");
  const bool directed = g.direction == direction_kind::directed;
  const stopwatch planning;
  triangles_plan<I, O, Space> plan(ctx, g,
                                   {.output = directed ? triangles_output::links : triangles_output::per_vertex});
  ctx.synchronize();
  const double plan_ms = planning.milliseconds();
  counted_triangles<I> found;
  found.plan = describe_plan(plan, plan_ms, time_runs(ctx, flags, [&] { plan.run(); }));
  found.counts.total = plan.total();
  found.counts.per_vertex = bring_home(ctx, plan.per_vertex(), cpu);
  found.counts.links = bring_home(ctx, plan.links(), cpu);
  found.counts.degrees = bring_home(ctx, plan.degrees(), cpu);
  return found;
}

template <class I>
void find_coefficients(const context<host>& ctx, counted_triangles<I>& found, direction_kind direction) {
  found.coefficients = local_clustering(ctx, found.counts);
  found.average_local = average_local(found.coefficients.view());
  found.transitivity = transitivity(found.counts);
  if (direction == direction_kind::directed) {
    found.coefficients = local_clustering(ctx, found.counts, clustering_counts::links);
    found.lcc_average = average_local(found.coefficients.view());
  }
}

// The most that a plan takes on a device: 24 bytes for each edge that is kept, and a directed graph's copies.
search_size complete(search_size size, std::int64_t) {
  size.branching = size.vertices;  // nothing is followed vertex by vertex
  size.workspace_bytes = size.vertices * 120 + size.entries * (size.directed ? 60 : 16) + (std::int64_t{64} << 20);
  return size;
}

template <class I>
void report_triangles(report& out, const backend& where, const counted_triangles<I>& found, bool directed) {
  json& keys = out.keys();
  report_plan(out, where, found.plan);
  keys["triangles"] = found.counts.total;
  keys["average_local"] = found.average_local;
  keys["transitivity"] = found.transitivity;
  if (directed) keys["lcc_average"] = found.lcc_average;
  out.row("triangles", with_commas(found.counts.total));
  out.row("clustering", fmt::format("{:.6g} on average, transitivity {:.6g}{}", found.average_local, found.transitivity,
                                    directed ? fmt::format(", LCC {:.6g} on average", found.lcc_average) : ""));
  report_verdict(out, found.fault, "counted again independently", found.check_ms);
}

template <index_type I, index_type O>
exit_status analyse(const graph_flags& flags, backend where, const loaded_input& from, const placed_graph<I, O>& g) {
  settle_backend(where, flags.common.device, complete(size_of_graph(g), sizeof(I)), flags.device_bytes());
  report out("triangles", flags.common);
  report_graph(out, "triangles", flags, where, from, facts_of(g));
  counted_triangles<I> found;
  const double upload_ms = on_graph(where, g, [&]<class Space>(const context<Space>& ctx, const auto& view) {
    found = count_triangles<I, O, Space>(flags, where.cpu, ctx, view);
  });
  found.plan.upload_ms = upload_ms;
  find_coefficients(where.cpu, found, g.direction());
  const triangles_result<I, host>& counts = found.counts;
  if (!flags.no_validate) {
    const busy validating("validating");
    found.fault = timed_check(found.check_ms, [&] {
      return check_triangles(where.cpu, g.view(),
                             {counts.total, counts.per_vertex.view(), counts.links.view(), counts.degrees.view()});
    });
  }
  report_triangles(out, where, found, g.direction() == direction_kind::directed);
  if (!flags.output.empty() && !is_wrong(found.fault)) {
    const auto more = [&](std::int64_t a, std::int64_t b) { return counts.per_vertex[a] > counts.per_vertex[b]; };
    write_vertices(out, flags, from.facts.names, columns, more, [&](std::int64_t v, table_writer& row) {
      row.number(counts.per_vertex[v]);
      row.number(found.coefficients[v]);
    });
  }
  return conclude(out, flags, found.fault);
}

graph_work work_of() {
  graph_work work;
  work.wanted = in_edges::build_for_cpu;
  work.cpu_ns = 130;  // R-MAT 22, degree 8: 280 ms by 16 threads, 8.7 on an H200
  work.results = {sizeof(std::int64_t), 0};
  return work;
}

exit_status run(const graph_flags& flags) {
  const placed_input read = load_placed(flags, work_of());
  return std::visit([&](const auto& held) { return analyse(flags, read.where, read.from, held); }, read.g);
}

command_body declare(CLI::App& app) {
  app.description(
      "Triangles and clustering coefficients of a graph: reads it, counts them on the CPU or the GPU, times and checks "
      "them. "
      "Direction does not count, but for LDBC's local clustering coefficient (LCC) of directed graphs.");
  const auto flags = std::make_shared<graph_flags>();
  add_graph_file(app, *flags);
  add_placement_flags(app, *flags);
  add_graph_flags(app, *flags,
                  {{.columns = columns,
                    .order = "most triangles first",
                    .notes = "the coefficient of a directed graph is LDBC's LCC"},
                   "skip the independent count"});
  add_graph_help(app, *flags,
                 {"friends.mtx --output triangles.txt", "wiki-Vote.txt.gz --undirected --json report.json",
                  "gen:rmat:scale=18,degree=16 --undirected"});
  const auto does = [flags] {
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) {
            graph_plan plan{"triangles", "auto", work_of()};
            plan.complete = complete;
            return plan_graph(*flags, scale, plan);
          }};
}

}  // namespace

const command triangles_command{"triangles", "triangles and clustering coefficients of a graph", declare};

}  // namespace spargo::apps

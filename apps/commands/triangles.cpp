// triangles FILE: triangles and clustering coefficients of a graph.
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/triangles.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

struct triangles : graph_algorithm {
  static constexpr const char* name = "triangles";
  static constexpr const char* activity = "counting triangles";
  static constexpr std::string_view columns = "id,triangles,coefficient";

  template <class I>
  struct result : checked {
    triangles_result<I, host> counts;
    array<double, host> coefficients;  // of a directed graph LDBC's
    double average_local = 0;
    double transitivity = 0;
    double lcc_average = 0;
    bool directed = false;
  };

  static graph_command_text text() {
    return {
        "Triangles and clustering coefficients of a graph: reads it, counts them on the CPU or the GPU, times and "
        "checks them. Directions count only for LDBC's local clustering coefficient (LCC) of directed graphs.",
        {{.columns = columns,
          .order = "most triangles first",
          .notes = "the coefficient of a directed graph is LDBC's LCC"}},
        {"friends.mtx --output triangles.txt", "wiki-Vote.txt.gz --undirected --json report.json",
         "gen:rmat:scale=18,degree=16 --undirected"}};
  }

  static graph_work work(const graph_flags&) {
    // R-MAT 22, degree 8: 280 ms by 16 threads, 8.7 on an H200.
    return {.wanted = in_edges::build_for_cpu, .cpu_ns = 130, .results = {sizeof(std::int64_t), 0}};
  }

  static triangles_options options(const graph_flags&) { return {.output = triangles_output::links}; }

  static void prepare(const graph_flags&, const input_facts&, const auto& g, auto& found) {
    found.directed = g.direction() == direction_kind::directed;
  }
  // Links count only where direction does.
  static auto make_plan(const auto& ctx, const auto& g, const graph_flags&) {
    const bool directed = g.direction == direction_kind::directed;
    return triangles_plan(ctx, g, {.output = directed ? triangles_output::links : triangles_output::per_vertex});
  }

  static void fetch(const auto& done, const graph_flags&, auto& found) {
    auto& counts = found.counts;
    counts.total = done.plan.total();
    counts.per_vertex = done.copy(done.plan.per_vertex());
    counts.links = done.copy(done.plan.links());
    counts.degrees = done.copy(done.plan.degrees());
    found.coefficients = local_clustering(done.cpu, counts);
    found.average_local = average_local(found.coefficients.view());
    found.transitivity = transitivity(counts);
    if (!found.directed) return;
    found.coefficients = local_clustering(done.cpu, counts, clustering_counts::links);
    found.lcc_average = average_local(found.coefficients.view());
  }

  static std::string check(const context<host>& cpu, const auto& g, const graph_flags&, const auto& found) {
    const auto& counts = found.counts;
    return check_triangles(cpu, g.view(),
                           {counts.total, counts.per_vertex.view(), counts.links.view(), counts.degrees.view()});
  }
  static std::string how_checked(const graph_flags&, const auto&) { return "counted again independently"; }

  static void report_result(report& out, const graph_flags&, const vertex_names&, const auto& found) {
    json& keys = out.keys();
    keys["triangles"] = found.counts.total;
    keys["average_local"] = found.average_local;
    keys["transitivity"] = found.transitivity;
    if (found.directed) keys["lcc_average"] = found.lcc_average;
    out.row("triangles", with_commas(found.counts.total));
    out.row("clustering",
            fmt::format("{:.6g} on average, transitivity {:.6g}{}", found.average_local, found.transitivity,
                        found.directed ? fmt::format(", LCC {:.6g} on average", found.lcc_average) : ""));
  }

  static void write(report& out, const graph_flags& flags, const vertex_names& names, const auto& found) {
    const auto& counts = found.counts.per_vertex;
    const auto more = [&](std::int64_t a, std::int64_t b) { return counts[a] > counts[b]; };
    write_vertices(out, flags, names, columns, more, [&](std::int64_t v, table_writer& row) {
      row.number(counts[v]);
      row.number(found.coefficients[v]);
    });
  }
};

}  // namespace

extern const command triangles_command = graph_command<triangles>("triangles and clustering coefficients of a graph");

}  // namespace spargo::apps

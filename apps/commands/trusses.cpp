// trusses FILE: truss numbers of a graph's edges, and its K-truss.
#include "cli/vertex_table.hpp"
#include "commands/graph/subgraph_output.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/trusses.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

struct trusses_flags : graph_flags {
  trusses_flags() { undirected = true; }

  std::int64_t k = 0;  // 0: the truss numbers of all edges
};

struct trusses : graph_algorithm {
  using flags_type = trusses_flags;
  static constexpr const char* name = "trusses";
  static constexpr bool undirected_only = true;
  static constexpr const char* activity = "peeling trusses";
  static constexpr std::string_view columns = "source,target,truss";

  template <class I>
  struct result : checked, trusses_result<I, host> {};

  static graph_command_text text() {
    return {
        "Trusses of a graph, taken as undirected: reads it, peels it on the CPU or the GPU, times and checks the "
        "result. The K-truss is the largest subgraph in which every edge is in K - 2 triangles or more; an edge's "
        "truss number is the largest K for which it is in the K-truss.",
        {.table = {.columns = columns,
                   .order = "highest truss number first",
                   .notes = "with --k the edges of the K-truss alone",
                   .lines = "edge"}},
        {"friends.mtx --output trusses.csv", "wiki-Vote.txt.gz --k 10 --output ten.el",
         "gen:rmat:scale=18,degree=16 --json -"}};
  }
  static void add_flags(flag_set app, trusses_flags& flags) {
    app.add_option("--k", flags.k, "find the K-truss only, in less time; --output then takes its edges")
        ->check(count_from(2))
        ->type_name("K");
  }
  static void check_flags(const trusses_flags& flags) {
    if (flags.directed) throw usage_error("--directed: trusses are of undirected graphs");
    if (flags.k != 0) check_subgraph_flags(flags, "--k", "a K-truss");
  }

  static graph_work work(const trusses_flags& flags) {
    return {.cpu_ns = flags.k == 0 ? 400.0 : 100.0, .results = {0, 2}};
  }
  static trusses_options options(const trusses_flags& flags) { return {.k = flags.k}; }

  static auto make_plan(const auto& ctx, const auto& g, const trusses_flags& flags) {
    return trusses_plan(ctx, g, options(flags));
  }
  static void fetch(const auto& done, const trusses_flags&, auto& found) {
    found.sources = done.copy(done.plan.sources());
    found.targets = done.copy(done.plan.targets());
    found.numbers = done.copy(done.plan.numbers());
    found.max_k = done.plan.max_k();
  }
  static std::string check(const context<host>& cpu, const auto& g, const trusses_flags& flags, const auto& found) {
    return check_trusses(cpu, g.view(), {found.sources, found.targets, found.numbers, flags.k});
  }
  static std::string how_checked(const trusses_flags&, const auto&) { return "proved from below and above"; }

  // Or the K-truss.
  static auto largest_truss(const trusses_flags& flags, const vertex_names& names, const auto& found) {
    return edge_subset(names.vertices, found.sources, found.targets,
                       [&](std::int64_t e) { return flags.k != 0 || found.numbers[e] == found.max_k; });
  }
  static void report_result(report& out, const trusses_flags& flags, const vertex_names& names, const auto& found) {
    const auto truss = largest_truss(flags, names, found);
    json& keys = out.keys();
    keys["graph_edges"] = keys["edges"];
    keys["graph_vertices"] = keys["vertices"];
    keys["max_k"] = flags.k != 0 && truss.edges() == 0 ? json() : json(found.max_k);
    keys["edges"] = truss.edges();
    keys["vertices"] = truss.vertices;
    if (flags.k == 0) {
      out.row("largest truss", fmt::format("k = {} ({})", with_commas(found.max_k), size_of(truss)));
    } else {
      keys["k"] = flags.k;
      out.row(fmt::format("{}-truss", flags.k), size_of(truss));
    }
  }
  static void write(report& out, const trusses_flags& flags, const vertex_names& names, const auto& found) {
    if (flags.k != 0) return write_subgraph(out, flags, names, largest_truss(flags, names, found));
    write_edge_values(out, flags, names, columns, found.sources, found.targets, found.numbers);
  }
};

}  // namespace

extern const command trusses_command = graph_command<trusses>("truss numbers of a graph's edges, and its K-truss");

}  // namespace spargo::apps

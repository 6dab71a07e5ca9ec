// cores FILE: core numbers of a graph, and its K-core.
#include "cli/outputs.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/cores.hpp>
#include <spargo/io/edge_list.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>

namespace spargo::apps {

namespace {

struct cores_flags : graph_flags {
  std::int64_t k = -1;  // -1: all core numbers
};

// Edges between vertices of a K-core: an undirected one once.
template <class I>
struct core_edges {
  std::vector<I> sources;
  std::vector<I> targets;
  std::int64_t vertices = 0;
};

template <class I, class O>
core_edges<I> edges_of_core(const graph_view<I, O, host>& g, const array<I, host>& cores, std::int64_t k) {
  core_edges<I> found;
  for (std::int64_t v = 0; v < g.vertices(); ++v) {
    if (cores[v] < k) continue;
    ++found.vertices;
    for (O e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) {
      const I u = g.out.indices[e];
      if (cores[u] < k || (g.direction == direction_kind::undirected && u < v)) continue;
      found.sources.push_back(static_cast<I>(v));
      found.targets.push_back(u);
    }
  }
  return found;
}

// [core number, vertices], ascending.
template <class I>
json histogram_of(const array<I, host>& cores, I max_core) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(max_core) + 1);
  for (const I core : cores) ++counts[static_cast<std::size_t>(core)];
  json histogram = json::array();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) histogram.push_back({k, counts[k]});
  }
  return histogram;
}

struct cores : graph_algorithm {
  using flags_type = cores_flags;
  static constexpr const char* name = "cores";
  static constexpr const char* activity = "peeling cores";
  static constexpr std::string_view columns = "id,core";

  template <class I>
  struct result : checked {
    array<I, host> cores;
    I max_core = 0;
    std::function<core_edges<I>(const array<I, host>&)> k_core;  // with --k
  };

  static graph_command_text text() {
    return {
        "Core numbers of a graph: reads it, peels it on the CPU or the GPU, times and checks them. A vertex has core "
        "number k if it is in a subgraph in which every vertex has k neighbours or more, and in none for k + 1. In a "
        "directed graph in- and out-edges count.",
        {.table = {.columns = columns, .order = "highest core number first"},
         .no_validate = "skip the independent check"},
        {"wiki-Vote.txt.gz --undirected --output cores.csv", "friends.mtx --k 5 --output five.el",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(CLI::App& app, cores_flags& flags) {
    app.add_option("--k", flags.k, "report the K-core; --output then takes its edges, as an edge list")
        ->check(count_from(0))
        ->type_name("K");
  }
  static void check_flags(const cores_flags& flags) {
    if (flags.k < 0) return;
    if (flags.is_sorted()) throw usage_error("--k: its output is a list of edges (expected no --sort and no --top)");
    if (!flags.output.empty() && table_format_of(flags.output) == table_format::objects) {
      throw usage_error(fmt::format("--output {}: a K-core is an edge list (expected no JSON)", flags.output));
    }
  }

  static graph_work work(const cores_flags&) {
    // R-MAT 20, degree 16: 120 ms by one thread.
    return {.wanted = in_edges::build, .cpu_ns = 4, .results = {0, 1}};
  }
  static cores_options options(const cores_flags&) { return {}; }

  static void prepare(const cores_flags& flags, const input_facts&, const auto& g, auto& found) {
    if (flags.k < 0) return;
    found.k_core = [&g, k = flags.k](const auto& cores) { return edges_of_core(g.view(), cores, k); };
  }
  static auto make_plan(const auto& ctx, const auto& g, const cores_flags&) { return cores_plan(ctx, g); }
  static void fetch(const auto& done, const cores_flags&, auto& found) {
    found.cores = done.copy(done.plan.cores());
    found.max_core = done.plan.max_core();
  }
  static std::string check(const context<host>& cpu, const auto& g, const cores_flags&, const auto& found) {
    return check_cores(cpu, g.view(), found.cores.view());
  }
  static std::string how_checked(const cores_flags&, const auto&) { return "proved from below and above"; }

  static void report_result(report& out, const cores_flags& flags, const vertex_names&, const auto& found) {
    json& keys = out.keys();
    keys["max_core"] = found.max_core;
    keys["histogram"] = histogram_of(found.cores, found.max_core);
    const std::int64_t top = keys["histogram"].empty() ? 0 : keys["histogram"].back()[1].get<std::int64_t>();
    out.row("largest core number",
            fmt::format("{} ({})", with_commas(found.max_core), counted(top, "vertex", "vertices")));
    if (flags.k < 0) return;
    const auto inside = found.k_core(found.cores);
    const auto edges = static_cast<std::int64_t>(inside.sources.size());
    keys["k_core"] = {{"k", flags.k}, {"vertices", inside.vertices}, {"edges", edges}};
    out.row(fmt::format("{}-core", flags.k),
            fmt::format("{}, {}", counted(inside.vertices, "vertex", "vertices"), counted(edges, "edge")));
  }
  static void write(report& out, const cores_flags& flags, const vertex_names& names, const auto& found) {
    if (flags.k < 0) {
      const auto higher = [&](std::int64_t a, std::int64_t b) { return found.cores[a] > found.cores[b]; };
      write_vertices(out, flags, names, columns, higher,
                     [&](std::int64_t v, table_writer& row) { row.number(found.cores[v]); });
      return;
    }
    write_core(out, flags, names, found.k_core(found.cores));
  }
  template <class I>
  static void write_core(report& out, const cores_flags& flags, const vertex_names& names, const core_edges<I>& core) {
    const auto n = static_cast<I>(names.vertices);
    const coo_view<const pattern, I, host> edges{{n, n, core.sources, core.targets}, {}};
    const bool commas = table_format_of(flags.output) == table_format::commas;
    const auto style = commas ? edge_list_style::commas : edge_list_style::tabs;
    if (names.are_integers()) {
      write_edge_list<pattern, I>(flags.output, edges, names.all(), style);
    } else {
      write_edge_list<pattern, I>(flags.output, edges, names.table, style);
    }
    out.keys()["output"] = flags.output;
    out.row("written", flags.output);
  }
};

}  // namespace

const command cores_command = graph_command<cores>("core numbers of a graph, and its K-core");

}  // namespace spargo::apps

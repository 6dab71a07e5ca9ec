// cores FILE: core numbers of a graph, and its K-core.
#include "commands/graph/subgraph_output.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/distributed/cores.hpp>
#include <spargo/graph/cores.hpp>
#include <spargo/graph/structure.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace spargo::apps {

namespace {

struct cores_flags : graph_flags {
  std::int64_t k = -1;  // -1: all core numbers
};

struct cores : graph_algorithm {
  using flags_type = cores_flags;
  static constexpr const char* name = "cores";
  static constexpr const char* activity = "peeling cores";
  static constexpr std::string_view columns = "id,core";

  template <class I>
  struct result : checked, cores_result<I, host> {
    subgraph<I> k_core;       // with --k
    std::int64_t rounds = 0;  // of ranks
  };

  static graph_command_text text() {
    return {
        "Core numbers of a graph: reads it, peels it on the CPU or the GPU, times and checks them. A vertex has core "
        "number k if it is in a subgraph in which every vertex has k neighbours or more, and in none for k + 1. In a "
        "directed graph in- and out-edges count.",
        {.table = {.columns = columns, .order = "highest core number first"}},
        {"wiki-Vote.txt.gz --undirected --output cores.csv", "friends.mtx --k 5 --output five.el",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(flag_set app, cores_flags& flags) {
    app.add_option("--k", flags.k, "report the K-core; --output then takes its edges, as an edge list")
        ->check(count_from(0))
        ->type_name("K");
  }
  static void check_flags(const cores_flags& flags) {
    if (flags.k >= 0) check_subgraph_flags(flags, "--k", "a K-core");
  }

  static graph_work work(const cores_flags&) {
    // R-MAT 20, degree 16: 120 ms by one thread.
    return {.wanted = in_edges::build, .cpu_ns = 4, .results = {0, 1}};
  }
  static cores_options options(const cores_flags&) { return {}; }

  static auto make_plan(const auto& ctx, const auto& g, const cores_flags&) { return cores_plan(ctx, g); }
  static void fetch(const auto& done, const cores_flags&, auto& found) {
    found.cores = done.copy(done.plan.cores());
    found.max_core = done.plan.max_core();
    if constexpr (requires { done.plan.rounds(); }) found.rounds = done.plan.rounds();
  }
  template <class I>
  static void derive(const context<host>& cpu, const auto& g, const cores_flags& flags, result<I>& found) {
    if (flags.k < 0) return;
    const auto k = static_cast<I>(std::min<std::int64_t>(flags.k, std::numeric_limits<I>::max()));
    const array<I, host> vertices = k_core_vertices<I>(cpu, found.cores, k);
    found.k_core = edges_of_part(induced_subgraph(cpu, g.view(), vertices.view()).view(), vertices.view());
  }
  static std::string check(const context<host>& cpu, const auto& g, const cores_flags&, const auto& found) {
    return check_cores(cpu, g.view(), found.cores.view());
  }
  static std::string how_checked(const cores_flags&, const auto&) { return "proved from below and above"; }

  static void report_result(report& out, const cores_flags& flags, const vertex_names&, const auto& found) {
    json& keys = out.keys();
    keys["max_core"] = found.max_core;
    const std::int64_t top = report_histogram(out, found.cores.view());
    out.row("largest core number",
            fmt::format("{} ({})", with_commas(found.max_core), counted(top, "vertex", "vertices")));
    if (flags.k < 0) return;
    keys["k_core"] = {{"k", flags.k}, {"vertices", found.k_core.vertices}, {"edges", found.k_core.edges()}};
    out.row(fmt::format("{}-core", flags.k), size_of(found.k_core));
  }
  static void write(report& out, const cores_flags& flags, const vertex_names& names, const auto& found) {
    if (flags.k < 0) return write_values(out, flags, names, columns, found.cores.view());
    write_subgraph(out, flags, names, found.k_core);
  }

  static constexpr bool ranks = true;
  static constexpr bool ranks_on_gpus = false;
  static constexpr const char* ranks_algorithm = "falling_bounds";
  static void check_ranks_flags(const cores_flags& flags) {
    if (flags.k >= 0) throw usage_error("--k: not on several processes (expected none: all core numbers)");
  }
  template <index_type I>
  static auto make_ranks_plan(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                              const cores_flags&) {
    return distributed_cores_plan<I>(comm, ctx, g);
  }
  static std::string check_on_ranks(const communicator& comm, const context<host>& cpu, const auto& g,
                                    const cores_flags&, const auto& found) {
    return check_cores(comm, cpu, g, found.cores.view());
  }
  static std::string ranks_reason(const auto& found) {
    return fmt::format("upper bounds fall until they agree, in {} of exchange", counted(found.rounds, "round"));
  }
  static auto& values(auto& found) { return found.cores; }
};

}  // namespace

extern const command cores_command = graph_command<cores>("core numbers of a graph, and its K-core");

}  // namespace spargo::apps

// matching FILE: a maximal set of edges of which no two share an end.
#include "commands/graph/order_flag.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/matching.hpp>

namespace spargo::apps {

namespace {

struct matching_flags : graph_flags {
  std::string order;
};

struct matching : graph_algorithm {
  using flags_type = matching_flags;
  static constexpr const char* name = "matching";
  static constexpr const char* activity = "matching vertices";
  static constexpr std::string_view columns = "source,target";

  template <class I>
  struct result : checked, matching_result<I, host> {};

  static graph_command_text text() {
    return {
        "A maximal matching of a graph: edges of which no two share an end, and to which none can be added. Vertex "
        "after vertex takes its first neighbour without a mate. The same matching on the CPU and the GPU. Directions "
        "of "
        "edges are ignored.",
        {.table = {.columns = columns, .order = "by id", .lines = "edge"}},
        {"wiki-Vote.txt.gz --output pairs.csv", "friends.mtx --order random:7",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(flag_set app, matching_flags& flags) { add_order_flag(app, flags.order, "smallest-first"); }
  static void check_flags(const matching_flags& flags) { (void)options(flags); }

  static graph_work work(const matching_flags&) { return {.wanted = in_edges::build, .cpu_ns = 4, .results = {0, 1}}; }
  static matching_options options(const matching_flags& flags) { return order_options<matching_options>(flags.order); }

  static auto make_plan(const auto& ctx, const auto& g, const matching_flags& flags) {
    return matching_plan(ctx, g, options(flags));
  }
  static void fetch(const auto& done, const matching_flags&, auto& found) {
    found.mates = done.copy(done.plan.mates());
    found.size = done.plan.size();
  }
  static std::string check(const context<host>& cpu, const auto& g, const matching_flags&, const auto& found) {
    return check_matching(cpu, g.view(), found.mates.view(), found.size);
  }
  static std::string how_checked(const matching_flags&, const auto&) { return "every edge and vertex"; }

  static void report_result(report& out, const matching_flags&, const vertex_names&, const auto& found) {
    const auto n = static_cast<std::int64_t>(found.mates.size());
    out.keys()["graph_edges"] = out.keys()["edges"];
    out.keys()["edges"] = found.size;
    out.row("matching",
            counted(found.size, "edge") + ", " + counted(n - 2 * found.size, "vertex", "vertices") + " without a mate");
  }
  static void write(report& out, const matching_flags& flags, const vertex_names& names, const auto& found) {
    vertex_order sources, targets;
    for (std::int64_t v = 0; v < found.mates.size(); ++v) {
      if (found.mates[v] > v) sources.push_back(v);
      if (found.mates[v] > v) targets.push_back(found.mates[v]);
    }
    const auto in_order = [](std::int64_t a, std::int64_t b) { return a < b; };
    write_edges<std::int64_t>(out, flags, names, columns, sources, targets, in_order,
                              [](std::int64_t, table_writer&) {});
  }
};

}  // namespace

extern const command matching_command = graph_command<matching>("a maximal matching of a graph");

}  // namespace spargo::apps

// independent-set FILE: a maximal set of vertices of which no two are joined by an edge.
#include "commands/graph/order_flag.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/independent_set.hpp>

namespace spargo::apps {

namespace {

struct independent_set_flags : graph_flags {
  std::string order;
};

struct independent_set : graph_algorithm {
  using flags_type = independent_set_flags;
  static constexpr const char* name = "independent-set";
  static constexpr const char* activity = "choosing vertices";
  static constexpr std::string_view columns = "id";

  template <class I>
  struct result : checked, independent_set_result<host> {};

  static graph_command_text text() {
    return {
        "A maximal independent set of a graph: vertices of which no two are joined by an edge, and to which none can "
        "be "
        "added. A vertex is in it unless a neighbour before it is. The same set on the CPU and the GPU. Edges count in "
        "both directions.",
        {.table = {.columns = columns, .order = "by id", .notes = "one line per vertex of the set"}},
        {"wiki-Vote.txt.gz --output set.csv", "friends.mtx --order random:7",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(flag_set app, independent_set_flags& flags) {
    add_order_flag(app, flags.order, "smallest-first");
  }
  static void check_flags(const independent_set_flags& flags) { (void)options(flags); }

  static graph_work work(const independent_set_flags&) {
    return {.wanted = in_edges::build, .cpu_ns = 2, .results = {1, 0}};
  }
  static independent_set_options options(const independent_set_flags& flags) {
    return order_options<independent_set_options>(flags.order);
  }

  static auto make_plan(const auto& ctx, const auto& g, const independent_set_flags& flags) {
    return independent_set_plan(ctx, g, options(flags));
  }
  static void fetch(const auto& done, const independent_set_flags&, auto& found) {
    found.members = done.copy(done.plan.members());
    found.size = done.plan.size();
  }
  static std::string check(const context<host>& cpu, const auto& g, const independent_set_flags&, const auto& found) {
    return check_independent_set(cpu, g.view(), found.members.view(), found.size);
  }
  static std::string how_checked(const independent_set_flags&, const auto&) { return "every edge and vertex"; }

  static void report_result(report& out, const independent_set_flags&, const vertex_names&, const auto& found) {
    out.keys()["size"] = found.size;
    out.row("independent set", counted(found.size, "vertex", "vertices"));
  }
  static void write(report& out, const independent_set_flags& flags, const vertex_names& names, const auto& found) {
    vertex_order chosen;
    for (std::int64_t v = 0; v < found.members.size(); ++v) {
      if (found.members[v] == 1) chosen.push_back(v);
    }
    const auto in_order = [](std::int64_t a, std::int64_t b) { return a < b; };
    const column_names all = with_attributes(out, names, columns);
    write_sorted(out, flags, all, found.size, in_order, [&](std::int64_t k, table_writer& row) {
      row.label(names, chosen[static_cast<std::size_t>(k)]);
      row.attributes(names, chosen[static_cast<std::size_t>(k)]);
    });
  }
};

}  // namespace

extern const command independent_set_command = graph_command<independent_set>("a maximal independent set of a graph");

}  // namespace spargo::apps

// coloring FILE: colours for the vertices of a graph, different at the two ends of every edge.
#include "commands/graph/order_flag.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/coloring.hpp>

namespace spargo::apps {

namespace {

struct coloring_flags : graph_flags {
  std::string order;
};

struct coloring : graph_algorithm {
  using flags_type = coloring_flags;
  static constexpr const char* name = "coloring";
  static constexpr const char* activity = "colouring";
  static constexpr std::string_view columns = "id,color";

  template <class I>
  struct result : checked, coloring_result<I, host> {};

  static graph_command_text text() {
    return {
        "Colours the vertices of a graph so that the two ends of every edge differ: each vertex takes the smallest "
        "colour that no neighbour before it has. The same colours on the CPU and the GPU. Edges count in both "
        "directions.",
        {.table = {.columns = columns, .order = "highest colour first"}},
        {"wiki-Vote.txt.gz --output colors.csv", "exams.mtx --order smallest-last",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(flag_set app, coloring_flags& flags) { add_order_flag(app, flags.order, "largest-first"); }
  static void check_flags(const coloring_flags& flags) { (void)options(flags); }

  static graph_work work(const coloring_flags&) { return {.wanted = in_edges::build, .cpu_ns = 4, .results = {0, 1}}; }
  static coloring_options options(const coloring_flags& flags) { return order_options<coloring_options>(flags.order); }

  static auto make_plan(const auto& ctx, const auto& g, const coloring_flags& flags) {
    return coloring_plan(ctx, g, options(flags));
  }
  static void fetch(const auto& done, const coloring_flags&, auto& found) {
    found.colors = done.copy(done.plan.colors());
    found.count = done.plan.count();
  }
  static std::string check(const context<host>& cpu, const auto& g, const coloring_flags&, const auto& found) {
    return check_coloring(cpu, g.view(), found.colors.view(), found.count);
  }
  static std::string how_checked(const coloring_flags&, const auto&) { return "every edge"; }

  static void report_result(report& out, const coloring_flags&, const vertex_names&, const auto& found) {
    out.keys()["colors"] = found.count;
    (void)report_histogram(out, found.colors.view());
    out.row("colours", with_commas(found.count));
  }
  static void write(report& out, const coloring_flags& flags, const vertex_names& names, const auto& found) {
    write_values(out, flags, names, columns, found.colors.view());
  }
};

}  // namespace

extern const command coloring_command = graph_command<coloring>("colours for the vertices of a graph");

}  // namespace spargo::apps

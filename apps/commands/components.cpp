// components FILE: weak or strong components of a graph.
#include "commands/graph/vertex_groups.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/components.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

struct components_flags : graph_flags {
  bool strong = false;

  [[nodiscard]] components_options options() const {
    return {.connection = strong ? components_connection::strong : components_connection::weak};
  }
};

struct components : graph_algorithm {
  using flags_type = components_flags;
  static constexpr const char* name = "components";
  static constexpr const char* activity = "finding components";
  static constexpr std::string_view columns = "id,component";

  template <class I>
  struct result : checked, components_result<I, host> {
    std::int64_t rounds = 0;  // of ranks
  };

  static graph_command_text text() {
    return {"Connected components of a graph: reads it, finds them on the CPU or the GPU, times and checks them.",
            {{.columns = columns, .order = largest_group_first, .notes = "a component's label is its smallest id"},
             "do not check the result edge by edge"},
            {"roads.mtx --output labels.txt", "wiki-Vote.txt.gz --strong --json report.json",
             "gen:rmat:scale=20,degree=16 --undirected --device cpu"}};
  }
  static void add_flags(flag_set app, components_flags& flags) {
    app.add_flag("--strong", flags.strong,
                 "components whose vertices reach each other along the edges' direction; default: weak, direction does "
                 "not count");
  }

  static graph_work work(const components_flags& flags) {
    // R-MAT 22, directed: 40 ms by 16 threads, 0.9 on an H200.
    if (flags.strong) return {.wanted = in_edges::build, .cpu_ns = 50, .results = {0, 1}};
    return {.cpu_ns = 10, .results = {0, 1}};
  }
  static components_options options(const components_flags& flags) { return flags.options(); }

  static auto make_plan(const auto& ctx, const auto& g, const components_flags& flags) {
    return components_plan(ctx, g, flags.options());
  }
  static void fetch(const auto& done, const components_flags&, auto& found) {
    found.labels = done.copy(done.plan.labels());
    found.count = done.plan.count();
    if constexpr (requires { done.plan.rounds(); }) found.rounds = done.plan.rounds();
  }
  static std::string check(const context<host>& cpu, const auto& g, const components_flags& flags, const auto& found) {
    return check_components(cpu, g.out_view(), found.labels.view(), flags.options());
  }
  static std::string how_checked(const components_flags&, const auto&) { return "checked edge by edge"; }

  static void report_result(report& out, const components_flags& flags, const vertex_names&, const auto& found) {
    const char* const connection = flags.strong ? "strong" : "weak";
    out.keys()["connection"] = connection;
    out.keys()["components"] = found.count;
    out.row("components", fmt::format("{} {}", with_commas(found.count), connection));
    report_groups(out, found, found.labels.view());
  }
  static void write(report& out, const components_flags& flags, const vertex_names& names, const auto& found) {
    write_groups(out, flags, names, columns, found.labels.view());
  }

  // Ranks find weak components, of an undirected graph.
  static constexpr bool ranks = true;
  static constexpr bool undirected_on_ranks = true;
  static constexpr const char* ranks_algorithm = "afforest";
  static void check_ranks_flags(const components_flags& flags) {
    if (flags.strong) throw usage_error("--strong: not on several processes or GPUs");
  }
  // Rows and labels, ghosts' included, and ghosts' labels to send and to receive.
  static std::int64_t rank_bytes(const rank_share& own) {
    const std::int64_t labelled = own.rows + own.ghosts;
    return labelled * (16 + own.index_bytes) + labelled / 8 + own.out_entries * 4 + own.out_entries / 8 +
           own.ghosts * (4 + 4 * own.index_bytes);
  }
  template <class Space, class I>
  static auto make_ranks_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                              const components_flags&) {
    return distributed_components_plan<I, Space>(comm, ctx, g);
  }
  static std::string check_on_ranks(const communicator& comm, const context<host>& cpu, const auto& g,
                                    const components_flags&, const auto& found) {
    return check_components(comm, cpu, g, found.labels.view());
  }
  static std::string ranks_reason(const auto& found) {
    return fmt::format("each rank its own edges, then {} of labels", counted(found.rounds, "round"));
  }
  static auto& values(auto& found) { return found.labels; }
};

}  // namespace

extern const command components_command = graph_command<components>("connected components of a graph, weak or strong");

}  // namespace spargo::apps

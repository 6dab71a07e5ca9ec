// communities FILE: communities of a graph.
#include "cli/enum_words.hpp"
#include "commands/graph/vertex_groups.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/communities.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace spargo::apps {

namespace {

struct communities_flags : graph_flags {
  std::string method = "cdlp";
  std::int64_t iterations = 10;

  [[nodiscard]] communities_options options() const {
    return {.method = parse_communities_method(method), .iterations = iterations};
  }
};

// Of the vertices' labels, as the file writes them; a floating-point number where it exceeds 64 bits, null for names.
template <class I>
json sum_of_labels(span<const I, host> labels, const vertex_names& names) {
  if (!names.are_integers()) return nullptr;
  std::int64_t sum = 0;
  double approximately = 0;
  bool fits = true;
  for (const I label : labels) {
    fits = !__builtin_add_overflow(sum, names.id(label), &sum) && fits;
    approximately += static_cast<double>(names.id(label));
  }
  return fits ? json(sum) : json(approximately);
}

struct communities : graph_algorithm {
  using flags_type = communities_flags;
  static constexpr const char* name = "communities";
  static constexpr const char* activity = "finding communities";
  static constexpr std::string_view columns = "id,community";

  template <class I>
  struct result : checked {
    array<I, host> labels;
    std::int64_t count = 0;
    std::int64_t rounds = 0;
  };

  static graph_command_text text() {
    return {"Communities of a graph: reads it, finds them on the CPU or the GPU, times and checks them.",
            {.table = {.columns = columns,
                       .order = largest_group_first,
                       .notes = "a community is called by the id of one of the graph's vertices"},
             .no_validate = "skip the independent check"},
            {"wiki-Vote.txt.gz --output labels.txt", "roads.mtx --iterations 50 --json report.json",
             "gen:rmat:scale=20,degree=16 --undirected"}};
  }
  static void add_flags(CLI::App& app, communities_flags& flags) {
    app.add_option(
           "--method", flags.method,
           "cdlp: label propagation as defined by LDBC Graphalytics; each vertex takes the label of most of its "
           "neighbours, the smallest of equals, all at once")
        ->check(one_of("a method", words_of<communities_method>()))
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--iterations", flags.iterations, "rounds")
        ->check(positive_count())
        ->type_name("N")
        ->capture_default_str();
  }
  static std::string algorithm(const communities_flags& flags) { return flags.method; }

  static graph_work work(const communities_flags& flags) {
    const auto rounds = static_cast<double>(flags.iterations);  // R-MAT 22, 10 rounds: 210 ms by 16 threads
    return {.wanted = in_edges::build, .cpu_ns = 10 * rounds, .results = {0, 1}};
  }
  static communities_options options(const communities_flags& flags) { return flags.options(); }

  static auto make_plan(const auto& ctx, const auto& g, const communities_flags& flags) {
    return communities_plan(ctx, g, flags.options());
  }
  static void fetch(const auto& done, const communities_flags&, auto& found) {
    found.labels = done.copy(done.plan.labels());
    found.count = done.plan.count();
    found.rounds = done.plan.rounds();
  }
  static std::string check(const context<host>& cpu, const auto& g, const communities_flags& flags, const auto& found) {
    return check_communities(cpu, g.view(), found.labels.view(), flags.options());
  }
  static std::string how_checked(const communities_flags&, const auto&) {
    return "checked independently, round by round";
  }

  static void report_result(report& out, const communities_flags& flags, const vertex_names& names, const auto& found) {
    json& keys = out.keys();
    keys["method"] = flags.method;
    keys["iterations"] = flags.iterations;
    keys["rounds"] = found.rounds;
    keys["communities"] = found.count;
    keys["label_sum"] = sum_of_labels(found.labels.view(), names);
    out.row("communities", with_commas(found.count));
    report_groups(out, found, found.labels.view());
    const std::string rounds = with_commas(found.rounds);
    const bool all = found.rounds == flags.iterations;
    out.row("rounds",
            all ? rounds : fmt::format("{} of {}: more change nothing", rounds, with_commas(flags.iterations)));
  }
  static void write(report& out, const communities_flags& flags, const vertex_names& names, const auto& found) {
    write_groups(out, flags, names, columns, found.labels.view());
  }
};

}  // namespace

const command communities_command = graph_command<communities>("communities of a graph, by label propagation");

}  // namespace spargo::apps

// forest FILE: minimum or maximum spanning forest of a graph.
#include "cli/enum_words.hpp"
#include "cli/vertex_table.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"
#include "placement/weighted_input.hpp"

#include <spargo/graph/forest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spargo::apps {

namespace {

struct forest_flags : graph_flags {
  forest_flags() { undirected = true; }

  std::string weights;  // empty: the file's if it has some
  std::string algorithm = "auto";
  bool maximum = false;

  [[nodiscard]] forest_options options() const {
    return {.algorithm = parse_forest_algorithm(algorithm),
            .objective = maximum ? forest_objective::maximum : forest_objective::minimum};
  }
};

struct forest : graph_algorithm {
  using flags_type = forest_flags;
  static constexpr const char* name = "forest";
  static constexpr bool undirected_only = true;
  static constexpr const char* activity = "joining trees";
  static constexpr std::string_view columns = "source,target,weight";

  // Weights from files and generators are exact in double.
  template <class I>
  struct result : checked {
    array<I, host> sources;
    array<I, host> targets;
    array<double, host> weights;
    std::int64_t trees = 0;
    json total;
    std::string total_text;  // infinite, too, which JSON does not know
  };

  static graph_command_text text() {
    return {
        "Minimum spanning forest of a graph, taken as undirected: reads it, finds for each component the tree of least "
        "total weight on the CPU or the GPU, times and checks it. Weights may be negative. Edges of equal weight are "
        "ordered by their ends, so the result is unique.",
        {.table = {.columns = columns,
                   .order = "lightest edge first, with --maximum the heaviest",
                   .lines = "edge of the forest"}},
        {"collaborations.wel --output tree.csv", "roads.gr --maximum",
         "gen:rmat:scale=20,degree=16 --weights random --json -"}};
  }
  static void add_flags(flag_set app, forest_flags& flags) {
    app.add_flag("--maximum", flags.maximum,
                 "the greatest total weight instead of the least; the heaviest of repeated edges counts");
    add_weights_flag(app, flags.weights);
    add_algorithm_flag<forest_algorithm>(app, flags.algorithm, "auto, kruskal (one thread) or boruvka");
  }
  static void check_flags(const forest_flags& flags) {
    (void)parse_weights(flags.weights);
    if (flags.directed) throw usage_error("--directed: spanning forests are of undirected graphs");
  }
  static std::string algorithm(const forest_flags& flags) { return flags.algorithm; }
  static bool reads_weights(const forest_flags& flags) {
    const weight_source weights = parse_weights(flags.weights).source;
    return weights == weight_source::automatic || weights == weight_source::file;
  }

  static graph_work work(const forest_flags& flags) {
    return {.runs_on_gpu = flags.algorithm != "kruskal",
            .cpu_ns = 10,  // R-MAT 20, degree 16: 310 ms by one thread
            .results = {sizeof(double), 2},
            .edge_bytes = sizeof(std::int32_t)};
  }
  static forest_options options(const forest_flags& flags) { return flags.options(); }

  static auto load(const forest_flags& flags, const graph_work& work) {
    weight_choice choice = parse_weights(flags.weights);
    choice.signs = weight_signs::any;
    if (flags.maximum) choice.duplicates = duplicate_weights::max;
    return load_weighted(flags, work, choice);
  }
  template <class W, index_type I, index_type O>
  static void report_input(report& out, const placed_weighted_input& read, const placed_weighted_graph<W, I, O>&) {
    report_weights<W>(out, read);
  }

  static auto make_plan(const auto& ctx, const auto& g, const forest_flags& flags) {
    return forest_plan(ctx, g, flags.options());
  }
  static void fetch(const auto& done, const forest_flags&, auto& found) {
    found.sources = done.copy(done.plan.sources());
    found.targets = done.copy(done.plan.targets());
    const auto weights = done.copy(done.plan.weights());
    found.weights = {done.cpu, weights.size()};
    std::copy(weights.begin(), weights.end(), found.weights.begin());
    found.trees = done.plan.trees();
    found.total = done.plan.total_weight();
    found.total_text = fmt::format("{}", done.plan.total_weight());
  }
  template <class W, index_type I, index_type O>
  static std::string check(const context<host>& cpu, const placed_weighted_graph<W, I, O>& g, const forest_flags& flags,
                           const auto& found) {
    array<W, host> weights(cpu, found.weights.size());
    long double sum = 0;
    long double magnitude = 0;
    for (std::int64_t k = 0; k < weights.size(); ++k) {
      weights[k] = static_cast<W>(found.weights[k]);
      sum += found.weights[k];
      magnitude += std::abs(found.weights[k]);
    }
    const bool may_overflow = magnitude > std::numeric_limits<double>::max();
    if (!may_overflow && std::abs(found.total.template get<long double>() - sum) > 1e-12L * magnitude) {
      return fmt::format("the total weight is {} (expected {})", found.total_text, static_cast<double>(sum));
    }
    return check_forest(cpu, g.view(), found.sources, found.targets, weights, flags.options());
  }
  static std::string how_checked(const forest_flags&, const auto&) { return "proved by the cycle property"; }

  static void report_result(report& out, const forest_flags& flags, const vertex_names&, const auto& found) {
    json& keys = out.keys();
    keys["objective"] = to_string(flags.options().objective);
    keys["graph_edges"] = keys["edges"];
    keys["edges"] = found.sources.size();
    keys["total_weight"] = found.total;
    keys["trees"] = found.trees;
    out.row("spanning forest",
            fmt::format("{}, {}", counted(found.sources.size(), "edge"), counted(found.trees, "tree")));
    out.row("total weight", found.total_text);
  }
  static void write(report& out, const forest_flags& flags, const vertex_names& names, const auto& found) {
    const auto before = [&](std::int64_t a, std::int64_t b) {
      return flags.maximum ? found.weights[a] > found.weights[b] : found.weights[a] < found.weights[b];
    };
    write_edges(out, flags, names, columns, found.sources.view(), found.targets.view(), before,
                [&](std::int64_t e, table_writer& row) { row.number(found.weights[e]); });
  }
};

}  // namespace

extern const command forest_command = graph_command<forest>("minimum or maximum spanning forest of a graph");

}  // namespace spargo::apps

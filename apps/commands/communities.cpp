// communities FILE: communities of a graph.
#include "cli/enum_words.hpp"
#include "commands/graph/vertex_groups.hpp"
#include "commands/table.hpp"
#include "placement/optional_weights.hpp"

#include <spargo/distributed/communities.hpp>
#include <spargo/graph/communities.hpp>

#include <fmt/format.h>

#include <cmath>

namespace spargo::apps {

namespace {

struct communities_flags : graph_flags {
  std::string method = "leiden";
  std::string weights = "unit";
  std::string objective = "modularity";
  double resolution = 1;
  std::uint64_t seed = 1;
  std::int64_t iterations = 0;  // 0: chosen

  [[nodiscard]] bool propagates() const { return method == "cdlp"; }
  [[nodiscard]] bool is_weighted() const { return !propagates() && weights != "unit"; }
  [[nodiscard]] communities_options options() const {
    return {.method = parse_communities_method(method),
            .iterations = iterations,
            .objective = parse_communities_objective(objective),
            .resolution = resolution,
            .seed = seed};
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

struct community_search : graph_algorithm {
  using flags_type = communities_flags;
  static constexpr const char* name = "communities";
  static constexpr const char* activity = "finding communities";
  static constexpr std::string_view columns = "id,community";
  static constexpr weight_signs signs = weight_signs::nonnegative_finite;

  template <class I>
  struct result : checked, communities_result<I, host> {};

  static graph_command_text text() {
    return {
        "Communities of a graph: reads it, finds them on the CPU or the GPU, times and checks them.",
        {.table = {.columns = columns,
                   .order = largest_group_first,
                   .notes = "a community's label is the id of one of the graph's vertices"}},
        {"friends.txt.gz --undirected --output communities.csv", "letters.wel --weights file --resolution 2 --json -",
         "gen:rmat:scale=20,degree=16 --undirected --method cdlp"}};
  }
  static void add_flags(flag_set app, communities_flags& flags) {
    add_choice(app, "--method", flags.method,
               "leiden (maximizes modularity; every community is connected), louvain (an older way to do so) or cdlp "
               "(label propagation as defined by LDBC Graphalytics: each vertex takes the label of most of its "
               "neighbours, the smallest of equals, all at once)",
               "a method", words_of<communities_method>());
    add_weights_flag(
        app, flags.weights,
        "file, unit (every edge counts 1) or random[:SEED]; those of several edges between two vertices are "
        "added; cdlp ignores weights");
    add_choice(app, "--objective", flags.objective,
               "of leiden and louvain: modularity, or cpm: weight inside communities less --resolution for each "
               "pair of their vertices",
               "an objective", words_of<communities_objective>());
    app.add_option("--resolution", flags.resolution,
                   "of leiden and louvain: larger ones find more and smaller communities")
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--seed", flags.seed,
                   "of the order in which leiden and louvain move vertices; each finds the same every time")
        ->check(seed_number())
        ->type_name("N")
        ->capture_default_str();
    app.add_option(
           "--iterations", flags.iterations,
           "cdlp: rounds, 10 unless given; leiden: passes at most, unless given 2 for large graphs and up to 60 "
           "for small ones; louvain takes one")
        ->check(positive_count())
        ->type_name("N");
  }
  static void check_flags(const communities_flags& flags) {
    (void)parse_weights(flags.weights);
    if (!(flags.resolution >= 0 && std::isfinite(flags.resolution))) {
      throw usage_error(fmt::format("--resolution: {} (expected 0 or more)", flags.resolution));
    }
  }
  static std::string algorithm(const communities_flags& flags) { return flags.method; }

  static graph_work work(const communities_flags& flags) {
    const double rounds = flags.iterations > 0 ? static_cast<double>(flags.iterations) : flags.propagates() ? 10 : 2;
    // R-MAT 22, 10 rounds: 210 ms by 16 threads
    if (flags.propagates()) return {.wanted = in_edges::build, .cpu_ns = 10 * rounds, .results = {0, 1}};
    const double passes = flags.method == "louvain" ? 1 : rounds;
    return {.loops = self_loops::keep, .cpu_ns = 150 * passes, .results = {0, 1}};
  }
  static communities_options options(const communities_flags& flags) { return flags.options(); }

  static auto make_plan(const auto& ctx, const auto& g, const communities_flags& flags) {
    return communities_plan(ctx, g, flags.options());
  }
  static void fetch(const auto& done, const communities_flags&, auto& found) {
    found.labels = done.copy(done.plan.labels());
    found.count = done.plan.count();
    found.rounds = done.plan.rounds();
    if constexpr (requires { done.plan.levels(); }) {
      found.levels = done.plan.levels();
      found.modularity = done.plan.modularity();
    }
  }
  static std::string check(const context<host>& cpu, const auto& g, const communities_flags& flags, const auto& found) {
    if (!flags.propagates()) {
      return check_partition(cpu, g.view(), found.labels.view(), found.modularity, flags.options());
    }
    const auto& pattern = g.view();
    return check_labels(cpu, pattern, found.labels.view(), flags.options());
  }
  template <class I, class O>
  static std::string check_labels(const context<host>& cpu, const graph_view<I, O, host>& g, span<const I, host> labels,
                                  const communities_options& options) {
    return check_communities(cpu, g, labels, options);
  }
  static std::string how_checked(const communities_flags& flags, const auto&) {
    return flags.propagates()          ? "checked independently, round by round"
           : flags.method == "louvain" ? "modularity summed independently"
                                       : "modularity summed independently, every community connected";
  }

  static void report_result(report& out, const communities_flags& flags, const vertex_names& names, const auto& found) {
    json& keys = out.keys();
    keys["method"] = flags.method;
    const std::int64_t most = flags.iterations == 0 && flags.propagates() ? 10 : flags.iterations;
    keys["iterations"] = most > 0 ? json(most) : json(nullptr);
    keys["rounds"] = found.rounds;
    keys["communities"] = found.count;
    if (flags.propagates()) {
      keys["label_sum"] = sum_of_labels(found.labels.view(), names);
    } else {
      keys["objective"] = flags.objective;
      keys["resolution"] = flags.resolution;
      keys["seed"] = flags.seed;
      keys["modularity"] = found.modularity;
      keys["levels"] = found.levels;
      out.row("modularity", fmt::format("{:.6f}", found.modularity));
    }
    out.row("communities", with_commas(found.count));
    report_groups(out, found, found.labels.view());
    if (flags.method == "louvain") return out.row("levels", with_commas(found.levels));
    const std::string rounds = with_commas(found.rounds);
    const bool all = most == 0 || found.rounds == most;
    const char* const why = flags.propagates() ? "more change nothing" : "the last two gained nothing";
    out.row(flags.propagates() ? "rounds" : "passes",
            all ? rounds : fmt::format("{} of {}: {}", rounds, with_commas(most), why));
  }
  static void write(report& out, const communities_flags& flags, const vertex_names& names, const auto& found) {
    write_groups(out, flags, names, columns, found.labels.view());
  }

  static constexpr bool ranks = true;
  static constexpr const char* ranks_algorithm = "frontier";
  static void check_ranks_flags(const communities_flags& flags) {
    if (!flags.propagates()) {
      throw usage_error(
          fmt::format("--method {}: not on several processes or GPUs (expected --method cdlp)", flags.method));
    }
  }
  // Rows, those of ghosts too; four labels and a mark per vertex, and ghosts' labels to send and to receive.
  static std::int64_t rank_bytes(const rank_share& own) {
    const std::int64_t entries = own.out_entries + (own.directed ? own.in_entries : 0);
    const std::int64_t labelled = own.rows + own.ghosts;
    return labelled * (12 + 3 * own.index_bytes) + own.rows * own.index_bytes + 2 * entries * own.index_bytes +
           own.vertices / 8 + own.ghosts * (4 + 4 * own.index_bytes);
  }
  template <class Space, class I>
  static auto make_ranks_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                              const communities_flags& flags) {
    return distributed_communities_plan<I, Space>(comm, ctx, g, flags.options());
  }
  static std::string check_on_ranks(const communicator& comm, const context<host>& cpu, const auto& g,
                                    const communities_flags& flags, const auto& found) {
    return check_communities(comm, cpu, g, found.labels.view(), flags.options());
  }
  static std::string ranks_reason(const auto&) { return "it skips vertices whose neighbours kept their labels"; }
  static auto& values(auto& found) { return found.labels; }
};

}  // namespace

extern const command communities_command =
    optional_weights_command<community_search>("communities of a graph, by Leiden, Louvain or labels");

}  // namespace spargo::apps

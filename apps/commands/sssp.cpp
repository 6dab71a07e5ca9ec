// sssp FILE: shortest paths from vertices of a graph.
#include "cli/enum_words.hpp"
#include "commands/table.hpp"
#include "placement/search_driver.hpp"
#include "placement/weighted_input.hpp"

#include <spargo/graph/sssp.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spargo::apps {

namespace {

struct sssp_flags : search_flags {
  std::string weights;  // empty: the file's if it has some
  std::string algorithm = "auto";
  double delta = 0;
  double cutoff = std::numeric_limits<double>::infinity();

  [[nodiscard]] sssp_options options(std::int64_t target_vertex) const {
    sssp_options options;
    options.algorithm = parse_sssp_algorithm(algorithm);
    options.delta = delta;
    options.cutoff = cutoff;
    options.output = wants_tree() ? sssp_output::distances_and_parents : sssp_output::distances;
    options.parents = sssp_parents::smallest;
    options.target = target_vertex;
    return options;
  }
};

// For the report.
template <class D>
struct distance_facts {
  D largest = 0;
  D sum = 0;  // rounded once
  std::vector<std::pair<std::int64_t, D>> first;
};

template <class D>
distance_facts<D> summarize_distances(span<const D, host> distances, D unreached, std::int64_t source) {
  constexpr std::size_t shown = 5;
  distance_facts<D> facts;
  long double sum = 0;
  for (std::int64_t v = 0; v < distances.size(); ++v) {
    if (distances[v] == unreached) continue;
    facts.largest = std::max(facts.largest, distances[v]);
    sum += static_cast<long double>(distances[v]);
    if (v != source && facts.first.size() < shown) facts.first.emplace_back(v, distances[v]);
  }
  constexpr auto most = static_cast<long double>(std::numeric_limits<D>::max());
  facts.sum = static_cast<D>(std::min(sum, most));
  return facts;
}

struct sssp_search : search_algorithm {
  using flags_type = sssp_flags;
  static constexpr const char* name = "sssp";
  static constexpr const char* checked_by = "checked edge by edge";
  static constexpr std::string_view columns = "id,distance,parent";

  template <class Graph>
  struct result : found_search {
    using weight_type = typename Graph::weight;
    using distance_type = sssp_distance<weight_type>;
    static constexpr distance_type unreached = sssp_unreached<weight_type>;

    distance_facts<distance_type> facts;
    array<distance_type, host> distances;
    array<typename Graph::index, host> parents;
  };

  static graph_command_text text() {
    return {
        "Shortest paths from a vertex of a graph: reads it, finds the distances on the CPU or the GPU, times and "
        "checks them. An edge of infinite weight is in no path (spargo info --check counts those).",
        {{.columns = columns, .order = "shortest distance first", .notes = "inf and -1 (JSON: null) where unreached"},
         "do not check the result edge by edge",
         "timed runs of each source; default: 3, with --sources 1"},
        {"roads.gr --source 17 --output distances.txt", "collaborations.wel --sources 64 --json report.json",
         "gen:rmat:scale=20,degree=16 --undirected --weights random"}};
  }
  static void add_flags(flag_set app, sssp_flags& flags) {
    add_source_flags(app, flags);
    add_weights_flag(app, flags.weights);
    app.add_option("--target", flags.target,
                   "stop once this vertex is reached (farther ones stay unreached) and report the path to it")
        ->type_name("ID");
    app.add_option("--cutoff", flags.cutoff, "leave out vertices that are farther than this")->type_name("X");
    app.add_option("--delta", flags.delta,
                   "the width of a bucket of distances, rounded down to a power of 2 (on a GPU to that or half as much "
                   "again); it decides the speed and not the result; default: by weights and degrees")
        ->type_name("D");
    add_algorithm_flag<sssp_algorithm>(app, flags.algorithm);
  }
  static void check_flags(const sssp_flags& flags) {
    check_search_flags(flags);
    (void)parse_weights(flags.weights);
    if (!(flags.delta >= 0 && std::isfinite(flags.delta))) {
      throw usage_error(fmt::format("--delta: {} (expected a width above 0)", flags.delta));
    }
    if (!(flags.cutoff >= 0)) throw usage_error(fmt::format("--cutoff: {} (expected 0 or more)", flags.cutoff));
  }
  static std::string algorithm(const sssp_flags& flags) { return flags.algorithm; }
  static bool reads_weights(const sssp_flags& flags) {
    const weight_source weights = parse_weights(flags.weights).source;
    return weights == weight_source::automatic || weights == weight_source::file;
  }

  static graph_work work(const sssp_flags& flags) {
    const auto searches = static_cast<double>(std::max<std::int64_t>(flags.sources, 1));
    return {.runs_on_gpu = flags.algorithm != "dijkstra",
            .cpu_ns = 42 * searches,  // R-MAT 22, degree 8: 97 ms by 16 threads, a tenth less since; 2.2 on an H200
            .results = {sizeof(sssp_distance<std::int32_t>), 0},
            .edge_bytes = sizeof(std::int32_t)};
  }
  static sssp_options options(const sssp_flags& flags) { return flags.options(-1); }

  static auto load(const sssp_flags& flags, const graph_work& work) {
    return load_weighted(flags, work, parse_weights(flags.weights));
  }
  template <class W, index_type I, index_type O>
  static void report_input(report& out, const placed_weighted_input& read, const placed_weighted_graph<W, I, O>&) {
    report_weights<W>(out, read);
  }

  static auto make_plan(const auto& ctx, const auto& g, const sssp_flags& flags, std::int64_t target) {
    return sssp_plan(ctx, g, flags.options(target));
  }
  static void describe(report& out, const auto& plan, plan_report& summary) {
    if (plan.delta() > 0) summary.reason += fmt::format("; buckets {} wide", plan.delta());
    out.keys()["delta"] = plan.delta();
    out.keys()["mteps_rule"] = mteps_rule;
  }
  static void fetch(const auto& done, const sssp_flags&, auto& found) {
    found.reached = done.plan.reached();
    found.distances = done.copy(done.plan.distances());
    found.parents = done.copy(done.plan.parents());
    found.facts = summarize_distances(std::as_const(found.distances).view(), found.unreached, found.source);
  }
  static bool is_reached(const auto& found, std::int64_t v) { return found.distances[v] != found.unreached; }
  static std::string check(const context<host>& cpu, const auto& g, const sssp_flags& flags, std::int64_t target,
                           const auto& found) {
    return check_sssp(cpu, g.view(), found.source, found.distances.view(), found.parents.view(), flags.options(target));
  }
  // Whether the path consists of edges whose weights add up to the target's distance.
  static std::string check_path(const auto& placed, const auto& found, std::int64_t target) {
    const std::vector<std::int64_t>& path = found.path;
    if (path.empty()) return is_reached(found, target) ? "the target has a distance and no path" : "";
    if (path.front() != found.source || path.back() != target) {
      return "the path does not lead from the source to the target";
    }
    const auto g = placed.view();
    std::remove_cvref_t<decltype(found.unreached)> length = 0;
    for (std::size_t k = 1; k < path.size(); ++k) {
      const auto* const first = g.out.indices.data() + g.out.offsets[path[k - 1]];
      const auto* const last = g.out.indices.data() + g.out.offsets[path[k - 1] + 1];
      const auto* const edge = std::lower_bound(first, last, path[k]);
      if (edge == last || *edge != path[k]) return "the path has a step that is no edge";
      length += static_cast<decltype(length)>(g.out_weights[edge - g.out.indices.data()]);
    }
    if (length == found.distances[target]) return "";
    return fmt::format("the path to the target is {} long, and its distance is {}", length, found.distances[target]);
  }

  static json search_keys(const vertex_names& names, const auto& found) {
    json first = json::array();
    for (const auto& [v, distance] : found.facts.first) first.push_back({to_json(names, v), distance});
    return {{"max_distance", found.facts.largest}, {"sum_distance", found.facts.sum}, {"first", std::move(first)}};
  }
  static std::string describe_reached(const auto& found, bool /*in_full*/) {
    return fmt::format("{}, the farthest at {}", counted(found.reached, "vertex", "vertices"), found.facts.largest);
  }
  static void report_target(report& out, json& run, const auto& found, const sssp_flags& flags, std::int64_t target) {
    run["distance"] = found.path.empty() ? json() : json(found.distances[target]);
    if (found.path.empty()) return;
    out.row("target", fmt::format("{} at {}", flags.target, found.distances[target]));
  }
  static void write(report& out, const sssp_flags& flags, const vertex_names& names, const auto& found) {
    const auto& distances = found.distances;
    const auto nearer = [&](std::int64_t a, std::int64_t b) { return distances[a] < distances[b]; };
    write_vertices(out, flags, names, columns, nearer, [&](std::int64_t v, table_writer& row) {
      if (!is_reached(found, v)) {
        row.none("inf");
        row.none("-1");
      } else {
        row.number(distances[v]);
        row.label(names, found.parents[v]);
      }
    });
  }
  static void report_end(report& out, const backend& where, const plan_report& summary, const search_tally& tally) {
    report_plan(out, where, summary);
    report_verdict(out, tally.fault, checked_by, tally.check_ms);
  }
};

}  // namespace

extern const command sssp_command = graph_command<sssp_search>("shortest paths from vertices of a graph");

}  // namespace spargo::apps

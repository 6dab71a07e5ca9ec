// sssp FILE: shortest paths from vertices of a real graph, timed, and checked edge by edge.
#include "cli/choice.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "commands/graph/search_path.hpp"
#include "commands/table.hpp"
#include "input/columns.hpp"
#include "input/weighted_input.hpp"
#include "placement/graph_plan.hpp"
#include "placement/graph_sources.hpp"

#include <spargo/graph/sssp.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spargo::apps {

namespace {

constexpr std::string_view columns = "id,distance,parent";

struct sssp_flags : graph_flags {
  sssp_flags() { repeat = 0; }  // 3, or 1 with --sources

  std::string source;  // empty: first, or random with --sources
  std::int64_t sources = 0;
  std::string weights;  // empty: the file's if it has some
  std::string algorithm = "auto";
  double delta = 0;
  std::string target;  // empty: none
  double cutoff = std::numeric_limits<double>::infinity();

  [[nodiscard]] std::int64_t runs() const { return repeat > 0 ? repeat : sources > 1 ? 1 : 3; }
  [[nodiscard]] bool wants_parents() const { return !output.empty() || !target.empty(); }
};

void check_flags(const sssp_flags& flags) {
  check_source_flags({flags.source, flags.sources});
  (void)parse_weights(flags.weights);
  if (!(flags.delta >= 0 && std::isfinite(flags.delta))) {
    throw usage_error(fmt::format("--delta: {} (expected a width above 0)", flags.delta));
  }
  if (!(flags.cutoff >= 0)) throw usage_error(fmt::format("--cutoff: {} (expected 0 or more)", flags.cutoff));
  if (flags.sources > 1 && !flags.output.empty()) {
    throw usage_error("--output holds one search (expected no --sources above 1 with it)");
  }
}

sssp_options options_of(const sssp_flags& flags, const vertex_names& names) {
  sssp_options options;
  if (flags.algorithm != "auto") options.algorithm = parse_sssp_algorithm(flags.algorithm);
  options.delta = flags.delta;
  options.cutoff = flags.cutoff;
  options.output = flags.wants_parents() ? sssp_output::distances_and_parents : sssp_output::distances;
  options.parents = sssp_parents::smallest;
  options.target = find_target(flags.target, names);
  return options;
}

// What is told of one search's distances.
template <class D>
struct distance_facts {
  D largest = 0;
  D sum = 0;  // rounded once
  std::vector<std::pair<std::int64_t, D>> first;
};

template <class D>
distance_facts<D> describe(span<const D, host> distances, D unreached, std::int64_t source) {
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

// Graph500's rule: the edges of the traversed component, each once.
template <index_type I, index_type O, class D>
std::int64_t traversed_edges(const placed_graph<I, O>& g, span<const D, host> distances, D unreached) {
  const span<const O, host> offsets = g.offsets();
  std::int64_t entries = 0;
  for (std::int64_t v = 0; v < distances.size(); ++v) {
    if (distances[v] != unreached) entries += offsets[v + 1] - offsets[v];
  }
  return g.direction() == direction_kind::undirected ? entries / 2 : entries;
}

template <class W, index_type I, index_type O>
class searches {
 public:
  using distance_type = sssp_distance<W>;

  searches(const sssp_flags& flags, const backend& where, const vertex_names& names,
           const placed_weighted_graph<W, I, O>& g, report& out)
      : flags_(flags), where_(where), names_(names), g_(g), out_(out) {}

  // On the backend that was chosen.
  verdict run(const std::vector<std::int64_t>& sources) {
    verdict fault;
    plan_report told;
    const double upload_ms = on_graph(where_, g_, [&]<class Space>(const context<Space>& ctx, const auto& view) {
      fault = run_on<Space>(ctx, view, sources, told);
    });
    told.upload_ms = upload_ms;
    report_plan(out_, where_, told);
    report_verdict(out_, fault, "checked edge by edge", check_ms_);
    return fault;
  }

 private:
  static constexpr distance_type unreached = sssp_unreached<W>;

  // A search's results on the host.
  struct outcome {
    array<distance_type, host> distances;
    array<I, host> parents;
    std::int64_t reached = 0;
  };

  template <class Space>
  verdict run_on(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                 const std::vector<std::int64_t>& sources, plan_report& told) {
    const busy searching("searching");
    const sssp_options options = options_of(flags_, names_);
    const stopwatch planning;
    sssp_plan<W, I, O, Space> plan(ctx, g, options);
    const double plan_ms = planning.milliseconds();
    plan.run(static_cast<I>(sources.front()));  // untimed: memory is touched for the first time
    const double total_ms = flags_.since_start.milliseconds();
    std::vector<double> all;
    verdict fault;
    if (!flags_.no_validate) fault = "";
    for (const std::int64_t source : sources) {
      const verdict own = search<Space>(ctx, plan, options, source, sources.size() == 1, all);
      if (is_wrong(own) && !is_wrong(fault)) fault = fmt::format("source {}: {}", names_.label(source), *own);
    }
    told = describe_plan(plan, plan_ms, {total_ms, summarize(std::move(all))});
    if (plan.delta() > 0) told.reason += fmt::format("; buckets {} wide", plan.delta());
    out_.keys()["delta"] = plan.delta();
    out_.keys()["mteps_rule"] = "Graph500: edges of the traversed component, each once, over the median time";
    return fault;
  }

  template <class Space>
  verdict search(const context<Space>& ctx, sssp_plan<W, I, O, Space>& plan, const sssp_options& options,
                 std::int64_t source, bool in_full, std::vector<double>& all) {
    std::vector<double> samples;
    for (std::int64_t run = 0; run < flags_.runs(); ++run) {
      const stopwatch watch;
      plan.run(static_cast<I>(source));
      samples.push_back(watch.milliseconds());
    }
    all.insert(all.end(), samples.begin(), samples.end());
    const outcome found{bring_home(ctx, plan.distances(), where_.cpu), bring_home(ctx, plan.parents(), where_.cpu),
                        plan.reached()};
    verdict fault;
    if (!flags_.no_validate) {
      fault = timed_check(check_ms_, [&] {
        return check_sssp<W, I, O>(where_.cpu, g_.view(), source, found.distances.view(), found.parents.view(),
                                   options);
      });
    }
    std::vector<std::int64_t> path;
    if (options.target >= 0 && !is_wrong(fault)) {
      path = trace_path(found.parents.view(), options.target);
      if (!flags_.no_validate) fault = check_path(path, found, source, options.target);
    }
    report_search(found, source, summarize(std::move(samples)), fault, in_full);
    if (options.target >= 0) report_target(found, options.target, path);
    if (!flags_.output.empty() && !is_wrong(fault)) write(found);
    return fault;
  }

  // Whether the path consists of edges whose weights add up to the target's distance.
  verdict check_path(const std::vector<std::int64_t>& path, const outcome& found, std::int64_t source,
                     std::int64_t target) const {
    if (path.empty()) return found.distances[target] == unreached ? "" : "the target has a distance and no path";
    if (path.front() != source || path.back() != target) return "the path does not lead from the source to the target";
    const auto g = g_.view();
    distance_type length = 0;
    for (std::size_t k = 1; k < path.size(); ++k) {
      const I* const first = g.out.indices.data() + g.out.offsets[path[k - 1]];
      const I* const last = g.out.indices.data() + g.out.offsets[path[k - 1] + 1];
      const I* const edge = std::lower_bound(first, last, static_cast<I>(path[k]));
      if (edge == last || *edge != path[k]) return "the path has a step that is no edge";
      length += static_cast<distance_type>(g.out_weights[edge - g.out.indices.data()]);
    }
    if (length == found.distances[target]) return "";
    return fmt::format("the path to the target is {} long, and its distance is {}", length, found.distances[target]);
  }

  void report_search(const outcome& found, std::int64_t source, const time_summary& times, const verdict& fault,
                     bool in_full) {
    const auto facts = describe<distance_type>(found.distances.view(), unreached, source);
    const auto edges =
        static_cast<double>(traversed_edges<I, O, distance_type>(g_.edges_only(), found.distances.view(), unreached));
    const double mteps = edges / (times.median * 1e-3) * 1e-6;
    json first = json::array();
    for (const auto& [v, distance] : facts.first) first.push_back({to_json(names_, v), distance});
    out_.keys()["runs"].push_back({{"source", to_json(names_, source)},
                                   {"reached", found.reached},
                                   {"max_distance", facts.largest},
                                   {"sum_distance", facts.sum},
                                   {"first", std::move(first)},
                                   {"time_ms", to_json(times)},
                                   {"mteps", mteps},
                                   {"valid", fault.has_value() ? json(fault->empty()) : json()}});
    const std::string reached =
        fmt::format("{} vertices, the farthest at {}", with_commas(found.reached), facts.largest);
    if (in_full) {
      out_.row("source", names_.label(source));
      out_.row("reached", reached);
      out_.row("speed", fmt::format("{:.4g} MTEPS", mteps));
    } else {
      out_.row(fmt::format("source {}", names_.label(source)),
               fmt::format("{}, {}, {:.4g} MTEPS", reached, format_milliseconds(times.median), mteps));
    }
  }

  void report_target(const outcome& found, std::int64_t target, const std::vector<std::int64_t>& path) {
    const distance_type distance = found.distances[target];
    json& run = out_.keys()["runs"].back();
    run["distance"] = path.empty() ? json() : json(distance);
    if (!path.empty()) out_.row("target", fmt::format("{} at {}", flags_.target, distance));
    report_path(out_, run, names_, target, path);
  }

  void write(const outcome& found) {
    const auto nearer = [&](std::int64_t a, std::int64_t b) { return found.distances[a] < found.distances[b]; };
    write_vertices(out_, flags_, names_, columns, nearer, [&](std::int64_t v, table_writer& row) {
      if (found.distances[v] == unreached) {
        row.none("inf");
        row.none("-1");
      } else {
        row.number(found.distances[v]);
        row.label(names_, found.parents[v]);
      }
    });
  }

  const sssp_flags& flags_;
  const backend& where_;
  const vertex_names& names_;
  const placed_weighted_graph<W, I, O>& g_;
  report& out_;
  double check_ms_ = 0;  // of all sources
};

search_size complete(search_size size, std::int64_t index_bytes, std::int64_t weight_bytes, const sssp_flags& flags) {
  // Results, lengths and piles, the sorted copy and what sorts it; see src/graph/sssp/cuda_executor.cuh.
  const std::int64_t copied = index_bytes + weight_bytes + 1;
  size.workspace_bytes = size.vertices * 160 + size.entries * copied +
                         std::min(size.entries, std::int64_t{1} << 27) * 32 + (std::int64_t{1} << 20);
  size.runs_on_gpu = flags.algorithm != to_string(sssp_algorithm::dijkstra);
  return size;
}

graph_work work_of(const sssp_flags& flags) {
  graph_work work;
  work.runs_on_gpu = flags.algorithm != to_string(sssp_algorithm::dijkstra);
  // R-MAT 22, degree 8: 97 ms by 16 threads, a tenth less since; 2.2 on an H200.
  work.cpu_ns = 42.0 * static_cast<double>(std::max<std::int64_t>(flags.sources, 1));
  work.results = {sizeof(sssp_distance<std::int32_t>), 0};
  work.edge_bytes = sizeof(std::int32_t);
  return work;
}

exit_status run(const sssp_flags& flags) {
  const weight_choice choice = parse_weights(flags.weights);
  placed_weighted_input read = load_weighted(flags, work_of(flags), choice);
  backend& where = read.where;
  const loaded_input& from = read.from;
  return std::visit(
      [&]<class W, class I, class O>(const placed_weighted_graph<W, I, O>& g) {
        if (where.gpu.has_value()) {
          search_size size = complete(size_of_graph(g), sizeof(I), sizeof(W), flags);
          if (flags.common.device == "auto") size.branching = branching_of(g.edges_only());
          settle_backend(where, flags.common.device, size, flags.device_bytes());
        }
        const std::vector<std::int64_t> sources =
            choose_sources({flags.source, flags.sources}, from.facts, [&](std::int64_t v) {
              const span<const O, host> offsets = g.edges_only().offsets();
              return std::int64_t{offsets[v + 1]} - offsets[v];
            });
        report out("sssp", flags.common);
        report_graph(out, "sssp", flags, where, from, facts_of(g));
        out.keys()["weights"] = read.weights;
        out.keys()["weight_type"] = std::is_integral_v<W> ? fmt::format("int{}", 8 * sizeof(W)) : "fp64";
        const bool none = choice.source == weight_source::automatic && read.weights == "unit";
        const std::string unused = none ? unused_weights(from.input) : std::string();
        if (!unused.empty()) out.warn(fmt::format("{}: {}; every edge counts 1", flags.file, unused));
        out.row("weights", !unused.empty() ? "every edge counts 1; " + unused
                           : none          ? "the file has none: every edge counts 1"
                                           : read.weights);
        out.keys()["runs"] = json::array();
        const verdict fault = searches<W, I, O>(flags, where, from.facts.names, g, out).run(sources);
        return conclude(out, flags, fault);
      },
      read.g);
}

void add_flags(CLI::App& app, sssp_flags& flags) {
  add_graph_file(app, flags);
  app.add_option(
         "--source", flags.source,
         "an id or a name as the file writes it; first (the first vertex named in the file, the default); max-degree; "
         "random[:SEED] (one with out-edges)")
      ->check(suggests({"first", "max-degree", "random"}))
      ->type_name("SOURCE");
  app.add_option(
         "--sources", flags.sources,
         "K random sources with out-edges, distinct while there are enough; seed them with --source random:SEED")
      ->check(positive_count())
      ->type_name("K");
  app.add_option(
         "--weights", flags.weights,
         "file; unit (every edge counts 1); random[:SEED] (integers 1 to 255, the same both ways); default: the "
         "file's where it has some, else unit")
      ->check(suggests({"file", "unit", "random"}))
      ->type_name("WEIGHTS");
  app.add_option("--target", flags.target,
                 "stop once this vertex is reached (farther ones stay unreached) and report the path to it")
      ->type_name("ID");
  app.add_option("--cutoff", flags.cutoff, "leave out what is farther than this")->type_name("X");
  app.add_option("--delta", flags.delta,
                 "the width of a bucket of distances, rounded down to a power of 2 (on a GPU to that or half as much "
                 "again); it decides the speed and not the result; default: by weights and degrees")
      ->type_name("D");
  app.add_option("--algorithm", flags.algorithm, "auto, dijkstra (one thread) or delta_stepping")
      ->check(one_of("an algorithm", {"auto", "dijkstra", "delta_stepping"}))
      ->type_name("NAME")
      ->capture_default_str();
  add_placement_flags(app, flags);
  add_graph_flags(
      app, flags,
      {{.columns = columns, .order = "shortest distance first", .notes = "inf and -1 (JSON: null) where unreached"},
       "do not check the result edge by edge",
       "timed runs of each source; default: 3, with --sources 1"});
}

command_body declare(CLI::App& app) {
  app.description(
      "Shortest paths from a vertex of a graph: reads it, finds the distances on the CPU or the GPU, times and checks "
      "them.");
  const auto flags = std::make_shared<sssp_flags>();
  add_flags(app, *flags);
  add_graph_help(app, *flags,
                 {"roads.gr --source 17 --output distances.txt", "collaborations.wel --sources 64 --json report.json",
                  "gen:rmat:scale=20,degree=16 --undirected --weights random"});
  const auto does = [flags] {
    check_flags(*flags);
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) {
            check_flags(*flags);
            graph_plan plan{"sssp", flags->algorithm, work_of(*flags)};
            const weight_source weights = parse_weights(flags->weights).source;
            plan.reads_weights = weights == weight_source::automatic || weights == weight_source::file;
            plan.complete = [flags](const search_size& g, std::int64_t index) {
              return complete(g, index, sizeof(std::int32_t), *flags);
            };
            return plan_graph(*flags, scale, plan);
          }};
}

}  // namespace

const command sssp_command{"sssp", "shortest paths from vertices of a graph", declare};

}  // namespace spargo::apps

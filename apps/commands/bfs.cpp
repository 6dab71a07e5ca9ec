// bfs FILE: breadth-first search on a real graph, timed, and checked by Graph500's rules.
#include "commands/table.hpp"
#include "common/bfs_search.hpp"
#include "common/graph_sources.hpp"
#include "common/outputs.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <optional>

namespace spargo::apps {

namespace {

struct bfs_flags : graph_flags {
  bfs_flags() { repeat = 0; }  // 3, or 1 with --sources

  std::string source;  // empty: first, or random with --sources
  std::int64_t sources = 0;
  std::string direction = "auto";
  std::string algorithm = "auto";
  bool deterministic = false;

  [[nodiscard]] std::int64_t runs() const { return repeat > 0 ? repeat : sources > 1 ? 1 : 3; }
};

bfs_algorithm parse_algorithm(const std::string& name) {
  return name == "auto" ? bfs_algorithm::automatic : parse_bfs_algorithm(name);
}

bfs_options parse_options(const bfs_flags& flags) {
  static const std::map<std::string, bfs_direction> directions = {
      {"auto", bfs_direction::automatic}, {"push", bfs_direction::push}, {"pull", bfs_direction::pull}};
  bfs_options options;
  options.algorithm = parse_algorithm(flags.algorithm);
  options.direction = directions.at(flags.direction);
  options.parents = flags.deterministic ? bfs_parents::smallest : bfs_parents::any;
  return options;
}

// Whether a search with these options looks at in-edges at all.
bool wants_in_edges(const bfs_options& options) {
  const bool optimizing =
      options.algorithm == bfs_algorithm::automatic || options.algorithm == bfs_algorithm::direction_optimizing;
  return options.direction == bfs_direction::pull || (options.direction == bfs_direction::automatic && optimizing);
}

double harmonic_mean(const std::vector<double>& rates) {
  double inverse = 0;
  for (const double rate : rates) {
    if (rate <= 0) return 0;
    inverse += 1 / rate;
  }
  return rates.empty() ? 0 : static_cast<double>(rates.size()) / inverse;
}

// `id level parent` a line, ids ascending, -1 -1 for what was not reached.
void write_tree(report& out, const std::string& path, const search& found, const vertex_names& names) {
  std::visit(
      [&](const auto& parents) {
        write_by_vertex(out, path, names, [&](std::int64_t v, std::string& line) {
          const std::int64_t parent = found.levels[v] >= 0 ? names.id(parents[v]) : -1;
          fmt::format_to(std::back_inserter(line), "{} {}", found.levels[v], parent);
        });
      },
      found.parents);
}

std::string describe_levels(span<const std::int64_t, host> sizes) {
  constexpr std::int64_t shown = 12;
  std::string text;
  for (std::int64_t d = 0; d < std::min(sizes.size(), shown); ++d) text += fmt::format(" {}", sizes[d]);
  return sizes.size() > shown ? text + " ..." : text;
}

void report_search(report& out, const search& found, const vertex_names& names, bool in_full) {
  const std::int64_t depth = found.level_sizes.size() - 1;
  const std::int64_t id = names.id(found.source);
  const json valid = found.fault.has_value() ? json(found.fault->empty()) : json();
  if (out.writes_json()) {
    out.keys()["runs"].push_back({{"source", id},
                                  {"reached", found.reached},
                                  {"depth", depth},
                                  {"levels", list_of(found.level_sizes)},
                                  {"time_ms", to_json(found.times)},
                                  {"mteps", found.mteps},
                                  {"valid", valid}});
  }
  const std::string verdict = !found.fault.has_value() ? "not validated"
                              : is_wrong(found.fault)  ? "WRONG: " + *found.fault
                                                       : "valid by Graph500's five checks";
  if (in_full) {
    out.row("source", std::to_string(id));
    out.row("reached", fmt::format("{} vertices, depth {}", with_commas(found.reached), depth));
    out.row("levels", describe_levels(found.level_sizes).substr(1));
    out.row("time", format_times(found.times));
    out.row("speed", fmt::format("{:.4g} MTEPS", found.mteps));
    out.row("result", verdict);
  } else {
    out.row(fmt::format("source {}", id),
            fmt::format("reached {}, depth {}, {}, {:.4g} MTEPS, {}", with_commas(found.reached), depth,
                        format_milliseconds(found.times.median), found.mteps, verdict));
  }
}

exit_status traverse(const bfs_flags& flags, backend where, const loaded_graph& read) {
  const loaded_input& from = read.from;
  const std::vector<std::int64_t> sources =
      choose_sources({flags.source, flags.sources}, from.facts, [&](std::int64_t v) { return out_degree(read.g, v); });
  const search_settings how{parse_options(flags), !flags.no_validate, flags.runs()};
  settle_backend(where, flags.common.device, size_of(read.g, how.options.algorithm), flags.device_bytes());

  report out("bfs", flags.common);
  report_graph(out, "bfs", flags, where, from, std::visit([](const auto& held) { return facts_of(held); }, read.g));
  out.keys()["runs"] = json::array();

  std::vector<double> rates;
  verdict first_fault;
  if (how.validate) first_fault = "";
  const auto sink = [&](const search& found) {
    rates.push_back(found.mteps);
    if (is_wrong(found.fault) && !is_wrong(first_fault)) {
      first_fault = fmt::format("source {}: {}", from.facts.names.id(found.source), *found.fault);
    }
    report_search(out, found, from.facts.names, sources.size() == 1);
    if (!flags.output.empty() && !is_wrong(found.fault)) write_tree(out, flags.output, found, from.facts.names);
  };
  const plan_facts plan = search_all(where, read.g, sources, how, flags.since_start, sink);
  if (where.gpu.has_value()) out.keys()["upload_ms"] = plan.upload_ms;
  out.keys()["algorithm"] = to_string(plan.algorithm);
  out.keys()["algorithm_reason"] = plan.reason;
  out.keys()["plan_ms"] = plan.plan_ms;
  out.keys()["total_ms"] = plan.total_ms;
  out.keys()["workspace_bytes"] = plan.workspace_bytes;
  out.keys()["mteps_harmonic_mean"] = harmonic_mean(rates);
  out.keys()["mteps_rule"] = "Graph500: edges of the traversed component, each once, over the median time";
  out.row("algorithm", fmt::format("{}: {}", to_string(plan.algorithm), plan.reason));
  if (sources.size() > 1) {
    out.row("speed", fmt::format("{:.4g} MTEPS, harmonic mean of {} sources", harmonic_mean(rates), sources.size()));
  }
  out.row("MTEPS", "million edges of the traversed component, each once, a second (Graph500's rule)");
  return conclude(out, flags, first_fault);
}

exit_status run(const bfs_flags& flags) {
  const bfs_options options = parse_options(flags);
  check_source_flags({flags.source, flags.sources});
  const backend where = choose_backend(flags.common.device, flags.common.threads);
  return traverse(flags, where,
                  load_graph(where.cpu, flags, wants_in_edges(options) ? in_edges::build : in_edges::omit));
}

void add_flags(CLI::App& app, bfs_flags& flags) {
  add_graph_file(app, flags);
  auto* source = app.add_option("--source", flags.source,
                                "an id as the file writes it; first (the first vertex named in the file, the default); "
                                "max-degree; random[:SEED] (one with out-edges)");
  source->check(suggests({"first", "max-degree", "random"}))->type_name("SOURCE");
  app.add_option(
         "--sources", flags.sources,
         "K random sources with out-edges, distinct while there are enough; seed them with --source random:SEED")
      ->check(positive_count())
      ->type_name("K");
  app.add_option("--direction", flags.direction, "auto, push or pull")
      ->check(one_of("a direction", {"auto", "push", "pull"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--algorithm", flags.algorithm,
                 "auto, sequential (CPU), global_queue (GPU), block_queue (GPU), load_balanced or direction_optimizing")
      ->check(one_of("an algorithm",
                     {"auto", "sequential", "global_queue", "block_queue", "load_balanced", "direction_optimizing"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--deterministic", flags.deterministic,
               "take the parent of smallest id, so that every run and device gives the same tree; costs another pass "
               "over the edges");
  add_graph_flags(
      app, flags,
      {"write `id level parent` a line, with -1 -1 where unreached", "do not check the result by Graph500's five rules",
       "timed runs of each source; default: 3, with --sources 1"});
}

exit_status run_checked(const bfs_flags& flags) {
  if (flags.sources > 1 && !flags.output.empty()) {
    throw usage_error("--output holds one search (expected no --sources above 1 with it)");
  }
  return run(flags);
}

command_body declare(CLI::App& app) {
  app.description(
      "Breadth-first search on a graph: reads it, traverses it on the CPU or the GPU, times and checks it.");
  const auto flags = std::make_shared<bfs_flags>();
  add_flags(app, *flags);
  add_graph_help(
      app, *flags,
      {"soc-Slashdot0902.txt.gz --source max-degree", "roads.mtx --source 17 --output tree.txt --json report.json",
       "gen:rmat:scale=20,degree=16 --undirected --sources 64"});
  return [flags] {
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run_checked(*flags);
  };
}

}  // namespace

const command bfs_command{"bfs", "breadth-first search of a graph", declare};

}  // namespace spargo::apps

// bfs FILE: breadth-first search on a real graph, timed, and checked by Graph500's rules.
#include "cli/choice.hpp"
#include "cli/outputs.hpp"
#include "commands/graph/bfs_search.hpp"
#include "commands/graph/search_path.hpp"
#include "commands/table.hpp"
#include "placement/graph_plan.hpp"
#include "placement/graph_sources.hpp"
#include "placement/placed_input.hpp"
#include "placement/ranks.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <optional>

namespace spargo::apps {

namespace {

constexpr std::string_view columns = "id,level,parent";

struct bfs_flags : graph_flags {
  bfs_flags() { repeat = 0; }  // 3, or 1 with --sources

  std::string source;  // empty: first, or random with --sources
  std::int64_t sources = 0;
  std::string direction = "auto";
  std::string algorithm = "auto";
  bool deterministic = false;
  std::string target;  // empty: none

  // On several processes, whose tree is gathered on request.
  [[nodiscard]] bool wants_tree() const { return !output.empty() || !target.empty(); }
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

// Unreached vertices, whose level is -1, come last when sorted.
void write_tree(report& out, const bfs_flags& flags, const search& found, const vertex_names& names) {
  const auto nearer = [&](std::int64_t a, std::int64_t b) {
    return static_cast<std::uint32_t>(found.levels[a]) < static_cast<std::uint32_t>(found.levels[b]);
  };
  std::visit(
      [&](const auto& parents) {
        write_vertices(out, flags, names, columns, nearer, [&](std::int64_t v, table_writer& row) {
          if (found.levels[v] < 0) {
            row.none("-1");
            row.none("-1");
          } else {
            row.number(found.levels[v]);
            row.label(names, parents[v]);
          }
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

// `target`: -1: none.
void report_search(report& out, const search& found, const vertex_names& names, std::int64_t target, bool in_full) {
  const std::int64_t depth = found.level_sizes.size() - 1;
  const std::string label = names.label(found.source);
  const json valid = found.fault.has_value() ? json(found.fault->empty()) : json();
  json run;
  if (out.writes_json()) {
    run = {{"source", to_json(names, found.source)},
           {"reached", found.reached},
           {"depth", depth},
           {"levels", list_of(found.level_sizes)},
           {"time_ms", to_json(found.times)},
           {"mteps", found.mteps},
           {"valid", valid}};
  }
  const std::string verdict = !found.fault.has_value() ? "not validated"
                              : is_wrong(found.fault)  ? "WRONG: " + *found.fault
                                                       : "valid by Graph500's five checks";
  if (in_full) {
    out.row("source", label);
    out.row("reached", fmt::format("{} vertices, depth {}", with_commas(found.reached), depth));
    out.row("levels", describe_levels(found.level_sizes).substr(1));
    out.row("time", format_times(found.times));
    out.row("speed", fmt::format("{:.4g} MTEPS", found.mteps));
    out.row("result", verdict);
  } else {
    out.row(fmt::format("source {}", label),
            fmt::format("reached {}, depth {}, {}, {:.4g} MTEPS, {}", with_commas(found.reached), depth,
                        format_milliseconds(found.times.median), found.mteps, verdict));
  }
  if (target >= 0) {
    const auto path = std::visit([&](const auto& parents) { return trace_path(parents, target); }, found.parents);
    report_path(out, run, names, target, path);
  }
  if (out.writes_json()) out.keys()["runs"].push_back(std::move(run));
}

void report_plan_of(report& out, const plan_facts& plan, const std::vector<double>& rates) {
  out.keys()["algorithm"] = to_string(plan.algorithm);
  out.keys()["algorithm_reason"] = plan.reason;
  out.keys()["plan_ms"] = plan.plan_ms;
  out.keys()["total_ms"] = plan.total_ms;
  out.keys()["workspace_bytes"] = plan.workspace_bytes;
  out.keys()["mteps_harmonic_mean"] = harmonic_mean(rates);
  out.keys()["mteps_rule"] = "Graph500: edges of the traversed component, each once, over the median time";
  out.row("algorithm", fmt::format("{}: {}", to_string(plan.algorithm), plan.reason));
  if (rates.size() > 1) {
    out.row("speed", fmt::format("{:.4g} MTEPS, harmonic mean of {} sources", harmonic_mean(rates), rates.size()));
  }
  out.row("MTEPS", "million edges of the traversed component, each once, per second (Graph500's rule)");
}

exit_status traverse(const bfs_flags& flags, placed_input read) {
  backend& where = read.where;
  const loaded_input& from = read.from;
  const std::vector<std::int64_t> sources =
      choose_sources({flags.source, flags.sources}, from.facts, [&](std::int64_t v) { return out_degree(read.g, v); });
  const search_settings how{parse_options(flags), !flags.no_validate, flags.runs()};
  const std::int64_t target = find_target(flags.target, from.facts.names);
  if (where.gpu.has_value()) {
    const std::string& device = flags.common.device;
    settle_backend(where, device, size_of(read.g, how.options.algorithm, device), flags.device_bytes());
  }

  report out("bfs", flags.common);
  report_graph(out, "bfs", flags, where, from, std::visit([](const auto& held) { return facts_of(held); }, read.g));
  out.keys()["runs"] = json::array();

  std::vector<double> rates;
  verdict first_fault;
  if (how.validate) first_fault = "";
  const auto sink = [&](const search& found) {
    rates.push_back(found.mteps);
    if (is_wrong(found.fault) && !is_wrong(first_fault)) {
      first_fault = fmt::format("source {}: {}", from.facts.names.label(found.source), *found.fault);
    }
    report_search(out, found, from.facts.names, is_wrong(found.fault) ? -1 : target, sources.size() == 1);
    if (!flags.output.empty() && !is_wrong(found.fault)) write_tree(out, flags, found, from.facts.names);
  };
  const plan_facts plan = search_all(where, read.g, sources, how, flags.since_start, sink);
  if (where.gpu.has_value()) out.keys()["upload_ms"] = plan.upload_ms;
  report_plan_of(out, plan, rates);
  report_check_time(out, first_fault, plan.check_ms);
  return conclude(out, flags, first_fault);
}

graph_work work_of(const bfs_flags& flags, const bfs_options& options) {
  graph_work work;
  work.wanted = wants_in_edges(options) ? in_edges::build : in_edges::omit;
  work.runs_on_cpu =
      options.algorithm != bfs_algorithm::global_queue && options.algorithm != bfs_algorithm::block_queue;
  work.runs_on_gpu = options.algorithm != bfs_algorithm::sequential;
  work.cpu_ns = 2.1 * static_cast<double>(std::max<std::int64_t>(flags.sources, 1));  // R-MAT 22: 4.4 ms
  work.results = {sizeof(std::int32_t), 1};
  return work;
}

exit_status run(const bfs_flags& flags) {
  const bfs_options options = parse_options(flags);
  check_source_flags({flags.source, flags.sources});
  return traverse(flags, load_placed(flags, work_of(flags, options)));
}

// Of a rank's search on its GPU: its rows, levels, parents and queues of its vertices; what it notes of all, or has
// room for from each other rank, and bits.
std::int64_t bytes_on_gpu(const rank_share& own) {
  const auto rows_of = [&](std::int64_t entries) { return (own.rows + 1) * 8 + entries * own.index_bytes; };
  std::int64_t bytes = rows_of(own.out_entries) + own.rows * (5 + 3 * own.index_bytes);
  if (own.directed) bytes += rows_of(own.in_entries);
  const std::int64_t notes = std::max(own.vertices, own.rows * (own.ranks - 1));
  return bytes + (own.ranks > 1 ? own.vertices + notes * 2 * own.index_bytes : 0);
}

// By rank 0, which is told which vertices have out-edges, or whose are the most. The graph is the host's, or on GPUs.
template <index_type I, class Space, class Home>
std::vector<std::int64_t> choose_on_ranks(const communicator& comm, const context<Space>& ctx, const bfs_flags& flags,
                                          const input_facts& facts, const distributed_graph<I, Home>& g) {
  const bool takes_most = flags.source == "max-degree";
  const bool draws = flags.sources > 0 || flags.source.starts_with("random");
  struct hub {
    std::int64_t degree = -1;
    std::int64_t vertex = -1;
  } most;
  std::vector<unsigned char> has_edges;  // of this rank's vertices
  const auto look_at = [&](span<const std::int64_t, host> offsets) {
    if (draws) has_edges.resize(static_cast<std::size_t>(g.out().rows));
    for (std::int64_t v = 0; v < g.out().rows; ++v) {
      const std::int64_t degree = offsets[v + 1] - offsets[v];
      if (draws) has_edges[static_cast<std::size_t>(v)] = degree > 0 ? 1 : 0;
      if (degree > most.degree) most = {degree, g.parts().first(comm.rank()) + v};
    }
  };
  together(comm, [&] {
    if (!draws && !takes_most) return;
    if constexpr (std::same_as<Home, device>) {
      look_at(to_host(ctx, g.out().offsets).view());
    } else {
      look_at(g.out().offsets);
    }
  });
  for (const hub& each : comm.all_gather(most)) most = each.degree > most.degree ? each : most;
  const std::vector<unsigned char> all = comm.all_gather(span<const unsigned char, host>(has_edges));
  std::vector<std::int64_t> sources;
  on_first(comm, [&] {
    sources = choose_sources({flags.source, flags.sources}, facts, [&](std::int64_t v) -> std::int64_t {
      return takes_most ? (v == most.vertex ? 1 : 0) : all[static_cast<std::size_t>(v)];
    });
  });
  return comm.all_gather(span<const std::int64_t, host>(sources));
}

// Several processes, or GPUs. The graph is the host's, or where it is searched.
template <index_type I, class Space, class Home>
exit_status traverse_on_ranks(const bfs_flags& flags, const communicator& comm, const backend& where,
                              const context<Space>& ctx, const loaded_input& from,
                              const distributed_graph<I, Home>& g) {
  constexpr bool is_on_gpus = std::same_as<Home, device>;
  const std::vector<std::int64_t> sources = choose_on_ranks(comm, ctx, flags, from.facts, g);
  std::int64_t target = -1;
  on_first(comm, [&] { target = find_target(flags.target, from.facts.names); });
  if constexpr (!is_on_gpus) {
    expect_room(comm, where, flags.device_bytes(), [&] { return bytes_on_gpu(share_of(comm, g, ghost_count::omit)); });
  }
  const stopwatch planning;
  const bfs_options options = parse_options(flags);
  distributed_bfs_plan<I, Space> plan(comm, ctx, g, {options.direction, options.parents});
  const double plan_ms = planning.milliseconds();
  report out("bfs", flags.common);
  const bool directed = g.direction() == direction_kind::directed;
  on_first(comm, [&] {
    report_graph(out, "bfs", flags, where, from, {g.vertices(), g.edges(), directed});
    out.keys()["runs"] = json::array();
  });
  std::vector<double> rates;
  verdict first_fault;
  if (!flags.no_validate) first_fault = "";
  ranked_runs runs;
  double total_ms = 0;
  double check_ms = 0;
  for (const std::int64_t source : sources) {
    runs = time_on_ranks(comm, 1, flags.runs(), flags.since_start, [&] { plan.run(source); });
    if (rates.empty()) total_ms = runs.timed.total_ms;
    search found{source, plan.reached(), plan.level_sizes(), {}, {}, runs.timed.times, 0, {}};
    std::int64_t entries = 0;
    array<std::int32_t, host> own_levels;
    array<I, host> own_parents;
    together(comm, [&] {
      if (is_on_gpus && !flags.wants_tree()) return;
      own_levels = bring_home(ctx, plan.levels());
      if (flags.wants_tree() || !flags.no_validate) own_parents = bring_home(ctx, plan.parents());
    });
    if constexpr (is_on_gpus) {
      entries = count_traversed(comm, ctx, g, plan.levels());
    } else {
      const auto& offsets = g.out().offsets;
      for (std::int64_t v = 0; v < g.out().rows; ++v) entries += own_levels[v] >= 0 ? offsets[v + 1] - offsets[v] : 0;
      entries = comm.all_reduce(entries, reduction::sum);
    }
    found.mteps = static_cast<double>(directed ? entries : entries / 2) / found.times.median * 1e-3;
    rates.push_back(found.mteps);
    if (!flags.no_validate) {
      found.fault = timed_check(check_ms, [&] {
        if constexpr (is_on_gpus) {
          return check_bfs<I>(comm, ctx, g, source, plan.levels(), plan.parents());
        } else {
          return check_bfs<I>(comm, where.cpu, g, source, own_levels.view(), own_parents.view());
        }
      });
      if (is_wrong(found.fault) && !is_wrong(first_fault)) {
        first_fault = fmt::format("source {}: {}", from.facts.names.label(source), *found.fault);
      }
    }
    std::vector<std::int32_t> levels;
    std::vector<I> parents;
    if (flags.wants_tree()) {
      levels = comm.all_gather(span<const std::int32_t, host>(own_levels));
      parents = comm.all_gather(span<const I, host>(own_parents));
      found.levels = levels;
      found.parents = span<const I, host>(parents);
    }
    on_first(comm, [&] {
      report_search(out, found, from.facts.names, is_wrong(found.fault) ? -1 : target, sources.size() == 1);
      if (!flags.output.empty() && !is_wrong(found.fault)) write_tree(out, flags, found, from.facts.names);
    });
  }
  on_first(comm, [&] {
    plan_facts facts{
        bfs_algorithm::direction_optimizing,
        fmt::format(
            "pushed to the vertices' owners, or pulled over a bitmap, {}; {} levels of the last search were pulled{}",
            plan.steps(), plan.pulled_levels(),
            plan.narrow_levels() == 0 ? "" : fmt::format(", {} narrow ones walked by one GPU", plan.narrow_levels()))};
    facts.plan_ms = plan_ms;
    facts.total_ms = total_ms;
    report_plan_of(out, facts, rates);
    report_check_time(out, first_fault, check_ms);
    report_ranks(out, comm, where, plan.how(), runs);
    (void)conclude(out, flags, first_fault);
  });
  return status_of_verdict(first_fault);
}

graph_options graph_of(const bfs_flags& flags, const input_description& input) {
  const bool directed = is_directed(flags, input);
  return {.direction = directed ? direction_kind::directed : direction_kind::undirected,
          .in_edges = directed && wants_in_edges(parse_options(flags))};
}

exit_status make_and_traverse(const communicator& comm, const backend& where, const context<device>& ctx,
                              const bfs_flags& flags) {
  loaded_input from = describe_made(comm, where.cpu, flags.file, flags.cache);
  const stopwatch building;
  const distributed_graph<std::int32_t, device> g(comm, ctx, flags.file, graph_of(flags, from.input));
  from.build_ms = building.milliseconds();
  return traverse_on_ranks(flags, comm, where, ctx, from, g);
}

exit_status run_on_ranks(const communicator& comm, const backend& where, const bfs_flags& flags) {
  if constexpr (config::has_cuda) {
    if (is_made_on_gpus(comm, where, flags)) return make_and_traverse(comm, where, *where.gpu, flags);
  }
  ranked_input<pattern> read = read_on_ranks<pattern>(comm, where.cpu, flags.file, flags.common, flags.cache);
  const any_ranked_graph held = build_on_ranks(comm, where.cpu, read, graph_of(flags, read.from.input));
  read.share = {};
  exit_status status = exit_status::success;
  on_backend(where, [&](const auto& ctx) {
    status = std::visit([&](const auto& g) { return traverse_on_ranks(flags, comm, where, ctx, read.from, g); }, held);
  });
  return status;
}

void check_shared(const bfs_flags& flags) {
  const bfs_options options = parse_options(flags);
  check_source_flags({flags.source, flags.sources});
  if (options.algorithm != bfs_algorithm::automatic && options.algorithm != bfs_algorithm::direction_optimizing) {
    throw usage_error(fmt::format("--algorithm {}: several {} have direction_optimizing only", flags.algorithm,
                                  are_on_gpus(flags.common) ? "GPUs" : "processes"));
  }
  if (flags.deterministic && are_on_gpus(flags.common)) throw usage_error("--deterministic: not on several GPUs");
}

exit_status share_out(bfs_flags& flags) {
  check_shared(flags);
  return run_graph_ranks(
      flags, [&](const communicator& comm, const backend& where) { return run_on_ranks(comm, where, flags); });
}

void add_flags(CLI::App& app, bfs_flags& flags) {
  add_graph_file(app, flags);
  auto* source =
      app.add_option("--source", flags.source,
                     "an id or a name as the file writes it; first (the first vertex named in the file, the default); "
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
  app.add_option("--target", flags.target, "report a path with the fewest edges to this vertex")->type_name("ID");
  app.add_flag("--deterministic", flags.deterministic,
               "take the parent of smallest id, so that every run and device gives the same tree; costs another pass "
               "over the edges");
  add_placement_flags(app, flags);
  add_devices_flag(app, flags.common);
  add_graph_flags(
      app, flags,
      {{.columns = columns, .order = "lowest level first", .notes = "-1 and -1 (JSON: null) where unreached"},
       "do not check the result by Graph500's five rules",
       "timed runs of each source; default: 3, with --sources 1"});
}

void check_flags(const bfs_flags& flags) {
  if (flags.sources > 1 && !flags.output.empty()) {
    throw usage_error("--output holds one search (expected no --sources above 1 with it)");
  }
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
  const auto does = [flags] {
    if (is_shared_out(flags->common)) {
      check_flags(*flags);
      return share_out(*flags);
    }
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    check_flags(*flags);
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) {
            const bfs_options options = parse_options(*flags);
            check_source_flags({flags->source, flags->sources});
            check_flags(*flags);
            if (scale.ranks > 0) check_shared(*flags);
            graph_plan plan{"bfs", flags->algorithm, work_of(*flags, options)};
            plan.complete = [options](const search_size& g, std::int64_t index) {
              return complete(g, index, options.algorithm);
            };
            plan.rank_bytes = bytes_on_gpu;
            plan.gathers_results = !flags->output.empty();
            plan.made_on_gpus = true;
            return plan_graph(*flags, scale, plan);
          }};
}

}  // namespace

const command bfs_command{"bfs", "breadth-first search of a graph", declare, nullptr, true};

}  // namespace spargo::apps

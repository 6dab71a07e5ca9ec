// pagerank FILE: the ranks of a graph's vertices, timed, and checked by steps of other code.
#include "cli/choice.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "commands/table.hpp"
#include "placement/graph_command.hpp"
#include "placement/graph_plan.hpp"
#include "placement/placed_input.hpp"
#include "placement/ranks.hpp"

#include <spargo/graph/pagerank.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

namespace spargo::apps {

namespace {

constexpr std::string_view columns = "id,rank";

struct pagerank_flags : graph_flags {
  std::string algorithm = "auto";
  double damping = 0.85;
  double tolerance = 1e-6;
  std::int64_t max_iterations = 1000;
  std::int64_t iterations = 0;           // 0: to the tolerance
  std::string dangling;                  // empty: by the personalization if there is one, else uniform
  std::vector<std::string> personalize;  // lists of labels
};

pagerank_options options_of(const pagerank_flags& flags) {
  pagerank_options options;
  if (flags.algorithm != "auto") options.algorithm = parse_pagerank_algorithm(flags.algorithm);
  options.damping = flags.damping;
  options.tolerance = flags.tolerance;
  options.max_iterations = flags.max_iterations;
  options.iterations = flags.iterations;
  if (flags.dangling == "uniform") options.dangling = pagerank_dangling::uniform;
  if (flags.dangling == "drop") options.dangling = pagerank_dangling::drop;
  return options;
}

void check_flags(const pagerank_flags& flags) {
  (void)split_labels(flags.personalize);
  if (!(flags.damping >= 0 && flags.damping < 1)) {
    throw usage_error(fmt::format("--damping: {} (expected at least 0 and below 1)", flags.damping));
  }
  if (!(flags.tolerance >= 0 && flags.tolerance <= 1)) {
    throw usage_error(fmt::format("--tolerance: {} (expected 0 to 1)", flags.tolerance));
  }
  if (flags.iterations > 0 && flags.algorithm == "gauss_seidel") {
    throw usage_error("--iterations: their number is defined for jacobi only (expected no --algorithm gauss_seidel)");
  }
}

// One at each vertex named, 0 elsewhere; empty where none is named.
std::vector<double> preferences(const pagerank_flags& flags, const vertex_names& names) {
  std::vector<double> values;
  if (flags.personalize.empty()) return values;
  values.resize(static_cast<std::size_t>(names.vertices));
  for (const std::string& label : split_labels(flags.personalize)) {
    values[static_cast<std::size_t>(expect_vertex(names, "--personalize", label))] = 1;
  }
  return values;
}

// What was found, on the host.
struct ranking {
  array<double, host> ranks;
  std::int64_t iterations = 0;
  double residual = 0;
  bool converged = false;
  plan_report plan;
  verdict fault;
  double check_ms = 0;
};

template <index_type I, index_type O, class Space>
ranking rank_all(const context<host>& cpu, const context<Space>& ctx, const graph_view<I, O, Space>& g,
                 const pagerank_flags& flags, span<const double, Space> personalization) {
  const busy at_work("ranking");
  const stopwatch planning;
  pagerank_plan<double, I, O, Space> plan(ctx, g, options_of(flags));
  ctx.synchronize();
  const double plan_ms = planning.milliseconds();
  ranking found;
  found.plan = describe_plan(plan, plan_ms, time_runs(ctx, flags, [&] { plan.run(personalization); }));
  found.ranks = bring_home(ctx, plan.ranks(), cpu);
  found.iterations = plan.iterations();
  found.residual = plan.residual();
  found.converged = plan.converged();
  return found;
}

// One that ended early is as good as its last step says.
template <index_type I, index_type O>
void validate(const context<host>& cpu, const graph_view<I, O, host>& g, const pagerank_flags& flags,
              const std::vector<double>& personalization, ranking& found) {
  pagerank_options options = options_of(flags);
  options.tolerance = std::max(options.tolerance, found.residual);
  found.fault = timed_check(found.check_ms,
                            [&] { return check_pagerank<double>(cpu, g, found.ranks, options, personalization); });
}

void report_ranking(report& out, const backend& where, const pagerank_flags& flags, const ranking& found,
                    const vertex_names& names) {
  auto& keys = out.keys();
  report_plan(out, where, found.plan);
  keys["iterations"] = found.iterations;
  keys["residual"] = found.residual;
  keys["converged"] = found.converged;
  double sum = 0;
  for (std::int64_t v = 0; v < found.ranks.size(); ++v) sum += found.ranks[v];
  keys["sum"] = sum;
  keys["top"] = json::array();
  out.row("iterations", fmt::format("{}, the last one changed the ranks by {:.3g}{}", found.iterations, found.residual,
                                    found.converged ? "" : ": NOT CONVERGED"));
  for (const std::int64_t v : highest(found.ranks.view(), flags.listed())) {
    keys["top"].push_back({to_json(names, v), found.ranks[v]});
    out.row(keys["top"].size() == 1 ? "highest" : "", fmt::format("{} {:.6g}", names.label(v), found.ranks[v]));
  }
  report_verdict(out, found.fault, "checked independently", found.check_ms);
}

// What the GPU would have to hold and to do. All vertices are at work in every step.
search_size complete(search_size size, std::int64_t index_bytes, const pagerank_flags& flags) {
  size.branching = size.entries;
  size.workspace_bytes = size.vertices * (std::int64_t{6 * sizeof(double)} + index_bytes);
  size.runs_on_gpu = flags.algorithm != "gauss_seidel";
  return size;
}

template <index_type I, index_type O>
ranking rank_on(const backend& where, const placed_graph<I, O>& g, const pagerank_flags& flags,
                const std::vector<double>& personalization) {
  ranking found;
  const double upload_ms = on_graph(where, g, [&]<class Space>(const context<Space>& ctx, const auto& view) {
    if constexpr (std::same_as<Space, host>) {
      found = rank_all<I, O, Space>(where.cpu, ctx, view, flags, personalization);
    } else {
      const auto there = to_device(ctx, personalization);
      found = rank_all<I, O, Space>(where.cpu, ctx, view, flags, there.view());
    }
  });
  found.plan.upload_ms = upload_ms;
  return found;
}

void write_ranks(report& out, const pagerank_flags& flags, const loaded_input& from, const ranking& found) {
  const auto higher = [&](std::int64_t a, std::int64_t b) { return found.ranks[a] > found.ranks[b]; };
  write_vertices(out, flags, from.facts.names, columns, higher,
                 [&](std::int64_t v, table_writer& row) { row.number(found.ranks[v]); });
}

template <index_type I, index_type O>
exit_status answer(const pagerank_flags& flags, backend where, const loaded_input& from, const placed_graph<I, O>& g) {
  const std::vector<double> personalization = preferences(flags, from.facts.names);
  settle_backend(where, flags.common.device, complete(size_of_graph(g), sizeof(I), flags), flags.device_bytes());
  report out("pagerank", flags.common);
  report_graph(out, "pagerank", flags, where, from, facts_of(g));
  ranking found = rank_on<I, O>(where, g, flags, personalization);
  if (!flags.no_validate) validate(where.cpu, g.out_view(), flags, personalization, found);
  report_ranking(out, where, flags, found, from.facts.names);
  if (!flags.output.empty() && !is_wrong(found.fault)) write_ranks(out, flags, from, found);
  return conclude(out, flags, found.fault);
}

graph_work work_of(const pagerank_flags& flags) {
  graph_work work;
  work.wanted = in_edges::build;
  work.loops = self_loops::keep;
  work.runs_on_gpu = flags.algorithm != "gauss_seidel";
  // R-MAT 22 with 16 threads: 76 ms, 8 iterations.
  work.cpu_ns = 4.5 * static_cast<double>(flags.iterations > 0 ? flags.iterations : 10);
  work.results = {sizeof(double), 0};
  return work;
}

exit_status run(const pagerank_flags& flags) {
  const placed_input read = load_placed(flags, work_of(flags));
  return std::visit([&](const auto& held) { return answer(flags, read.where, read.from, held); }, read.g);
}

// Of a rank on its GPU: its rows, four numbers a vertex; contributions of others' vertices, as they come and go too.
std::int64_t bytes_on_gpu(const rank_share& own) { return own.rows * 44 + own.in_entries * 4 + own.ghosts * 36; }

// On the ranks' CPUs or GPUs; this rank's ranks on the host.
template <class I, class Space>
ranked_runs rank_on_ranks(const communicator& comm, const backend& where, const context<Space>& ctx,
                          const pagerank_flags& flags, const distributed_graph<I>& g,
                          pagerank_result<double, host>& result, double& plan_ms, std::string& how) {
  expect_room(comm, where, flags.device_bytes(), [&] { return bytes_on_gpu(share_of(comm, g)); });
  const stopwatch planning;
  distributed_pagerank_plan<I, Space> plan(comm, ctx, g, options_of(flags));
  plan_ms = planning.milliseconds();
  how = plan.how();
  ranked_runs runs = time_on_ranks(comm, 1, flags.repeat, flags.since_start, [&] { plan.run(); });
  together(comm, [&] { result.ranks = bring_home(ctx, plan.ranks()); });
  result.iterations = plan.iterations();
  result.residual = plan.residual();
  result.converged = plan.converged();
  return runs;
}

// Several processes, or GPUs.
exit_status run_on_ranks(const communicator& comm, const backend& where, const pagerank_flags& flags) {
  ranked_input<pattern> read = read_on_ranks<pattern>(comm, where.cpu, flags.file, flags.common, flags.cache);
  const bool directed = is_directed(flags, read.from.input);
  const any_ranked_graph held =
      build_on_ranks(comm, where.cpu, read,
                     {.direction = directed ? direction_kind::directed : direction_kind::undirected,
                      .in_edges = directed,
                      .loops = self_loops::keep});
  return std::visit(
      [&](const auto& g) {
        pagerank_result<double, host> result;
        ranked_runs runs;
        double plan_ms = 0;
        std::string how;
        on_backend(where,
                   [&](const auto& ctx) { runs = rank_on_ranks(comm, where, ctx, flags, g, result, plan_ms, how); });
        ranking found;
        if (!flags.no_validate) {
          found.fault = timed_check(found.check_ms,
                                    [&] { return check_pagerank(comm, where.cpu, g, result, options_of(flags)); });
        }
        found.ranks = clone(where.cpu, comm.all_gather(span<const double, host>(result.ranks)));
        found.iterations = result.iterations;
        found.residual = result.residual;
        found.converged = result.converged;
        found.plan = {"jacobi", "all ranks of a step from those of the step before", 0, plan_ms, 0, runs.timed};
        report out("pagerank", flags.common);
        on_first(comm, [&] {
          report_graph(out, "pagerank", flags, where, read.from, {g.vertices(), g.edges(), directed});
          report_ranking(out, where, flags, found, read.from.facts.names);
          report_ranks(out, comm, where, how, runs);
          if (!flags.output.empty() && !is_wrong(found.fault)) write_ranks(out, flags, read.from, found);
          (void)conclude(out, flags, found.fault);
        });
        return status_of_verdict(found.fault);
      },
      held);
}

void check_shared(const pagerank_flags& flags) {
  if (!flags.personalize.empty()) throw usage_error("--personalize: not on several processes or GPUs");
}

exit_status share_out(pagerank_flags& flags) {
  check_shared(flags);
  return run_graph_ranks(
      flags, [&](const communicator& comm, const backend& where) { return run_on_ranks(comm, where, flags); });
}

void add_flags(CLI::App& app, pagerank_flags& flags) {
  add_graph_file(app, flags);
  app.add_option("--damping", flags.damping, "the share of the steps that follow edges, 0 or more and below 1")
      ->type_name("D")
      ->capture_default_str();
  app.add_option("--tolerance", flags.tolerance, "end with a step that changes the ranks by no more, in sum")
      ->type_name("X")
      ->capture_default_str();
  auto* most = app.add_option("--max-iterations", flags.max_iterations, "end after so many without having converged");
  most->check(positive_count())->type_name("N")->capture_default_str();
  app.add_option("--iterations", flags.iterations, "exactly so many, whatever the tolerance")
      ->check(positive_count())
      ->type_name("N")
      ->excludes(most);
  app.add_option("--dangling", flags.dangling,
                 "where the rank of vertices without out-edges goes: uniform (to all) or drop; default: uniform, with "
                 "--personalize to the vertices named there")
      ->check(one_of("a rule", {"uniform", "drop"}))
      ->type_name("NAME");
  app.add_option("--personalize,--personalise", flags.personalize,
                 "start afresh at these vertices only, called as the file does")
      ->type_name("ID,...");
  app.add_option("--algorithm", flags.algorithm, "auto, jacobi or gauss_seidel (CPU)")
      ->check(one_of("an algorithm", {"auto", "jacobi", "gauss_seidel"}))
      ->type_name("NAME")
      ->capture_default_str();
  add_placement_flags(app, flags);
  add_devices_flag(app, flags.common);
  add_graph_flags(
      app, flags,
      {{.columns = columns, .order = "largest rank first", .report_list = "top"}, "skip the independent check"});
}

command_body declare(CLI::App& app) {
  app.description(
      "PageRank of a graph: reads it, ranks its vertices on the CPU or the GPU, times and checks it. Self-loops count, "
      "as in networkx; \"edges\" does not count them.");
  const auto flags = std::make_shared<pagerank_flags>();
  add_flags(app, *flags);
  add_graph_help(app, *flags,
                 {"wiki-Vote.txt.gz", "links.el --personalize 17,23 --output ranks.txt",
                  "gen:rmat:scale=20,degree=16 --undirected --iterations 20"});
  const auto does = [flags] {
    check_flags(*flags);
    if (is_shared_out(flags->common)) return share_out(*flags);
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) {
            check_flags(*flags);
            if (scale.ranks > 0) check_shared(*flags);
            graph_plan plan{"pagerank", flags->algorithm, work_of(*flags)};
            plan.complete = [flags](const search_size& g, std::int64_t index) { return complete(g, index, *flags); };
            plan.rank_bytes = bytes_on_gpu;
            return plan_graph(*flags, scale, plan);
          }};
}

}  // namespace

const command pagerank_command{"pagerank", "ranks of a graph's vertices", declare, nullptr, true};

}  // namespace spargo::apps

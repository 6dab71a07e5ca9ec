// components FILE: weak or strong components of a real graph, timed, and checked by code that shares nothing with them.
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "commands/graph/vertex_groups.hpp"
#include "commands/table.hpp"
#include "placement/graph_command.hpp"
#include "placement/graph_plan.hpp"
#include "placement/placed_input.hpp"
#include "placement/ranks.hpp"

#include <spargo/graph/components.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace spargo::apps {

namespace {

constexpr std::string_view columns = "id,component";

struct components_flags : graph_flags {
  bool strong = false;

  [[nodiscard]] components_options options() const {
    return {.connection = strong ? components_connection::strong : components_connection::weak};
  }
};

// What a run of one backend tells, its labels on the host.
template <class I>
struct found_components {
  array<I, host> labels;
  std::int64_t count = 0;
  plan_report plan;
  verdict fault;
  double check_ms = 0;
};

template <index_type I, index_type O, class Space>
found_components<I> find_components(const components_flags& flags, const context<host>& cpu, const context<Space>& ctx,
                                    const graph_view<I, O, Space>& g) {
  const busy finding("finding components");
  const stopwatch planning;
  components_plan<I, O, Space> plan(ctx, g, flags.options());
  ctx.synchronize();
  const double plan_ms = planning.milliseconds();
  found_components<I> found;
  found.plan = describe_plan(plan, plan_ms, time_runs(ctx, flags, [&] { plan.run(); }));
  found.count = plan.count();
  found.labels = bring_home(ctx, plan.labels(), cpu);
  return found;
}

search_size complete(search_size size, std::int64_t index_bytes, bool strong) {
  size.branching = 2;  // no component is followed vertex by vertex
  size.workspace_bytes = size.vertices * index_bytes + size.entries / 128 + (std::int64_t{1} << 20);
  if (strong && size.directed) {  // two searches, and what they leave
    size.workspace_bytes += 2 * search_workspace_bytes(size.vertices, size.entries, index_bytes) +
                            size.vertices * (4 + 10 * index_bytes) + size.entries / 16;
  }
  return size;
}

template <class I>
void report_components(report& out, const components_flags& flags, const backend& where,
                       const found_components<I>& found) {
  json& keys = out.keys();
  keys["connection"] = flags.strong ? "strong" : "weak";
  report_plan(out, where, found.plan);
  keys["components"] = found.count;
  out.row("components", fmt::format("{} {}", with_commas(found.count), flags.strong ? "strong" : "weak"));
  report_sizes(out, is_wrong(found.fault) ? std::vector<std::int64_t>() : component_sizes<I>(found.labels.view()));
  report_verdict(out, found.fault, "checked edge by edge", found.check_ms);
}

template <class I>
void write_labels(report& out, const components_flags& flags, const loaded_input& from,
                  const found_components<I>& found) {
  write_groups<I>(out, flags, from.facts.names, columns, found.labels.view());
}

template <index_type I, index_type O>
exit_status analyse(const components_flags& flags, backend where, const loaded_input& from,
                    const placed_graph<I, O>& g) {
  settle_backend(where, flags.common.device, complete(size_of_graph(g), sizeof(I), flags.strong), flags.device_bytes());
  report out("components", flags.common);
  report_graph(out, "components", flags, where, from, facts_of(g));
  found_components<I> found;
  const double upload_ms = on_graph(where, g, [&]<class Space>(const context<Space>& ctx, const auto& view) {
    found = find_components<I, O, Space>(flags, where.cpu, ctx, view);
  });
  found.plan.upload_ms = upload_ms;
  if (!flags.no_validate) {
    const busy validating("validating");
    found.fault = timed_check(found.check_ms, [&] {
      return check_components<I, O>(where.cpu, g.out_view(), found.labels.view(), flags.options());
    });
  }
  report_components(out, flags, where, found);
  if (!flags.output.empty() && !is_wrong(found.fault)) write_labels(out, flags, from, found);
  return conclude(out, flags, found.fault);
}

graph_work work_of(const components_flags& flags) {
  graph_work work;
  work.wanted = flags.strong ? in_edges::build : in_edges::omit;
  work.cpu_ns = flags.strong ? 50 : 10;  // R-MAT 22, directed: 40 ms by 16 threads, 0.9 on an H200
  work.results = {0, 1};
  return work;
}

exit_status run(const components_flags& flags) {
  const placed_input read = load_placed(flags, work_of(flags));
  return std::visit([&](const auto& held) { return analyse(flags, read.where, read.from, held); }, read.g);
}

// Of a rank on its GPU: its rows and labels, of others' vertices too; their labels as they come and go.
std::int64_t bytes_on_gpu(const rank_share& own) {
  const std::int64_t labelled = own.rows + own.ghosts;
  return labelled * (16 + own.index_bytes) + labelled / 8 + own.out_entries * 4 + own.out_entries / 8 +
         own.ghosts * (4 + 4 * own.index_bytes);
}

// On the ranks' CPUs or GPUs; this rank's labels on the host.
template <class I, class Space>
ranked_runs label_on_ranks(const communicator& comm, const backend& where, const context<Space>& ctx,
                           const components_flags& flags, const distributed_graph<I>& g,
                           distributed_components_result<I>& result, double& plan_ms, std::string& how) {
  expect_room(comm, where, flags.device_bytes(), [&] { return bytes_on_gpu(share_of(comm, g)); });
  const stopwatch planning;
  distributed_components_plan<I, Space> plan(comm, ctx, g);
  plan_ms = planning.milliseconds();
  how = plan.how();
  ranked_runs runs = time_on_ranks(comm, 1, flags.repeat, flags.since_start, [&] {
    plan.run();
    ctx.synchronize();
  });
  together(comm, [&] { result.labels = bring_home(ctx, plan.labels()); });
  result.count = plan.count();
  result.rounds = plan.rounds();
  return runs;
}

// Several processes, or GPUs: weak components, of an undirected graph made of the edges.
exit_status run_on_ranks(const communicator& comm, const backend& where, const components_flags& flags) {
  ranked_input<pattern> read = read_on_ranks<pattern>(comm, where.cpu, flags.file, flags.common, flags.cache);
  graph_facts facts{read.share.rows(), 0, is_directed(flags, read.from.input)};
  if (facts.directed) {
    const auto as_given = build_on_ranks(comm, where.cpu, read, {});
    facts.edges = std::visit([](const auto& g) { return g.edges(); }, as_given);
  }
  const any_ranked_graph held = build_on_ranks(comm, where.cpu, read, {.direction = direction_kind::undirected});
  return std::visit(
      [&]<class I>(const distributed_graph<I>& g) {
        if (!facts.directed) facts.edges = g.edges();
        distributed_components_result<I> result;
        ranked_runs runs;
        double plan_ms = 0;
        std::string how;
        on_backend(where,
                   [&](const auto& ctx) { runs = label_on_ranks(comm, where, ctx, flags, g, result, plan_ms, how); });
        found_components<I> found;
        if (!flags.no_validate) {
          found.fault =
              timed_check(found.check_ms, [&] { return check_components(comm, where.cpu, g, result.labels.view()); });
        }
        found.count = result.count;
        const std::vector<I> labels = comm.all_gather(span<const I, host>(result.labels));
        found.labels = clone(where.cpu, labels);
        found.plan = {"afforest", fmt::format("each rank its own edges, then {} rounds of labels", result.rounds),
                      0,          plan_ms,
                      0,          runs.timed};
        report out("components", flags.common);
        on_first(comm, [&] {
          report_graph(out, "components", flags, where, read.from, facts);
          report_components(out, flags, where, found);
          report_ranks(out, comm, where, how, runs);
          if (!flags.output.empty() && !is_wrong(found.fault)) write_labels(out, flags, read.from, found);
          (void)conclude(out, flags, found.fault);
        });
        return status_of_verdict(found.fault);
      },
      held);
}

void check_shared(const components_flags& flags) {
  if (flags.strong) throw usage_error("--strong: not on several processes or GPUs");
}

exit_status share_out(components_flags& flags) {
  check_shared(flags);
  return run_graph_ranks(
      flags, [&](const communicator& comm, const backend& where) { return run_on_ranks(comm, where, flags); });
}

command_body declare(CLI::App& app) {
  app.description(
      "Connected components of a graph: reads it, finds them on the CPU or the GPU, times and checks them.");
  const auto flags = std::make_shared<components_flags>();
  add_graph_file(app, *flags);
  app.add_flag("--strong", flags->strong,
               "components whose vertices reach each other along the edges' direction; default: weak, direction does "
               "not count");
  add_placement_flags(app, *flags);
  add_devices_flag(app, flags->common);
  add_graph_flags(
      app, *flags,
      {{.columns = columns, .order = largest_group_first, .notes = "a component is called by its smallest id"},
       "do not check the result edge by edge"});
  add_graph_help(app, *flags,
                 {"roads.mtx --output labels.txt", "wiki-Vote.txt.gz --strong --json report.json",
                  "gen:rmat:scale=20,degree=16 --undirected --device cpu"});
  const auto does = [flags] {
    if (is_shared_out(flags->common)) return share_out(*flags);
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) {
            if (scale.ranks > 0) check_shared(*flags);
            graph_plan plan{"components", "auto", work_of(*flags)};
            plan.complete = [flags](const search_size& g, std::int64_t index) {
              return complete(g, index, flags->strong);
            };
            plan.rank_bytes = bytes_on_gpu;
            plan.undirected_on_ranks = true;
            return plan_graph(*flags, scale, plan);
          }};
}

}  // namespace

const command components_command{"components", "connected components of a graph, weak or strong", declare, nullptr,
                                 true};

}  // namespace spargo::apps

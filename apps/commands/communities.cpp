// communities FILE: communities of a real graph, timed, and checked by code that shares nothing with them.
#include "cli/choice.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "commands/graph/vertex_groups.hpp"
#include "commands/table.hpp"
#include "placement/graph_plan.hpp"
#include "placement/placed_input.hpp"

#include <spargo/graph/communities.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

namespace spargo::apps {

namespace {

constexpr std::string_view columns = "id,community";

struct communities_flags : graph_flags {
  std::string method = "cdlp";
  std::int64_t iterations = 10;

  [[nodiscard]] communities_options options() const {
    return {.method = parse_communities_method(method), .iterations = iterations};
  }
};

template <class I>
struct found_communities {
  array<I, host> labels;
  std::int64_t count = 0;
  std::int64_t rounds = 0;
  plan_report plan;
};

template <index_type I, index_type O, class Space>
found_communities<I> find_communities(const communities_flags& flags, const context<host>& cpu,
                                      const context<Space>& ctx, const graph_view<I, O, Space>& g) {
  const busy finding("finding communities");
  const stopwatch planning;
  communities_plan<I, O, Space> plan(ctx, g, flags.options());
  ctx.synchronize();
  const double plan_ms = planning.milliseconds();
  found_communities<I> found;
  found.plan = describe_plan(plan, plan_ms, time_runs(ctx, flags, [&] { plan.run(); }));
  found.labels = bring_home(ctx, plan.labels(), cpu);
  found.count = plan.count();
  found.rounds = plan.rounds();
  return found;
}

// What the GPU would have to hold and to do. All vertices are at work in every round.
search_size complete(search_size size, std::int64_t index_bytes) {
  size.branching = size.entries;
  size.workspace_bytes = (3 * size.vertices + size.entries / 64) * index_bytes;
  return size;
}

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

template <class I>
void report_communities(report& out, const communities_flags& flags, const vertex_names& names,
                        const found_communities<I>& found) {
  json& keys = out.keys();
  keys["method"] = flags.method;
  keys["iterations"] = flags.iterations;
  keys["rounds"] = found.rounds;
  keys["communities"] = found.count;
  keys["label_sum"] = sum_of_labels<I>(found.labels, names);
  out.row("communities", with_commas(found.count));
  report_sizes(out, component_sizes<I>(found.labels.view()));
  out.row("rounds",
          found.rounds == flags.iterations
              ? with_commas(found.rounds)
              : fmt::format("{} of {}: more change nothing", with_commas(found.rounds), with_commas(flags.iterations)));
}

template <index_type I, index_type O>
exit_status answer(const communities_flags& flags, backend where, const loaded_input& from,
                   const placed_graph<I, O>& g) {
  settle_backend(where, flags.common.device, complete(size_of_graph(g), sizeof(I)), flags.device_bytes());
  report out("communities", flags.common);
  report_graph(out, "communities", flags, where, from, facts_of(g));
  found_communities<I> found;
  const double upload_ms = on_graph(where, g, [&]<class Space>(const context<Space>& ctx, const auto& view) {
    found = find_communities<I, O, Space>(flags, where.cpu, ctx, view);
  });
  found.plan.upload_ms = upload_ms;
  report_plan(out, where, found.plan);
  verdict fault;
  double check_ms = 0;
  if (!flags.no_validate) {
    const busy validating("validating");
    fault = timed_check(
        check_ms, [&] { return check_communities<I, O>(where.cpu, g.view(), found.labels.view(), flags.options()); });
  }
  report_communities(out, flags, from.facts.names, found);
  report_verdict(out, fault, "checked independently, round by round", check_ms);
  if (!flags.output.empty() && !is_wrong(fault)) {
    write_groups<I>(out, flags, from.facts.names, columns, found.labels.view());
  }
  return conclude(out, flags, fault);
}

graph_work work_of(const communities_flags& flags) {
  graph_work work;
  work.wanted = in_edges::build;
  work.cpu_ns = 10.0 * static_cast<double>(flags.iterations);  // R-MAT 22, 10 rounds: 210 ms by 16 threads
  work.results = {0, 1};
  return work;
}

exit_status run(const communities_flags& flags) {
  const placed_input read = load_placed(flags, work_of(flags));
  return std::visit([&](const auto& held) { return answer(flags, read.where, read.from, held); }, read.g);
}

command_body declare(CLI::App& app) {
  app.description("Communities of a graph: reads it, finds them on the CPU or the GPU, times and checks them.");
  const auto flags = std::make_shared<communities_flags>();
  add_graph_file(app, *flags);
  app.add_option("--method", flags->method,
                 "cdlp: label propagation as LDBC Graphalytics has it; each vertex takes the label of most of its "
                 "neighbours, the smallest of equals, all at once")
      ->check(one_of("a method", {"cdlp"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--iterations", flags->iterations, "rounds")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  add_placement_flags(app, *flags);
  add_graph_flags(app, *flags,
                  {.table = {.columns = columns,
                             .order = largest_group_first,
                             .notes = "a community is called by the id of one of the graph's vertices"},
                   .no_validate = "skip the independent check"});
  add_graph_help(app, *flags,
                 {"wiki-Vote.txt.gz --output labels.txt", "roads.mtx --iterations 50 --json report.json",
                  "gen:rmat:scale=20,degree=16 --undirected"});
  const auto does = [flags] {
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) {
            graph_plan plan{"communities", flags->method, work_of(*flags)};
            plan.complete = complete;
            return plan_graph(*flags, scale, plan);
          }};
}

}  // namespace

const command communities_command{"communities", "communities of a graph, by label propagation", declare};

}  // namespace spargo::apps

#include "commands/graph/bfs_search.hpp"

#include "cli/progress.hpp"

#include <spargo/graph/bfs_validate.hpp>

#include <algorithm>

namespace spargo::apps {

namespace {

// Graph500's rule: the edges of the traversed component, each once. Here they are those with a reached end that are in
// the graph, that is without duplicates and self-loops (an undirected edge has two entries, both of reached rows).
template <index_type I, index_type O>
std::int64_t traversed_edges(const placed_graph<I, O>& g, span<const std::int32_t, host> levels) {
  const span<const O, host> offsets = g.offsets();
  std::int64_t entries = 0;
  for (std::int64_t v = 0; v < levels.size(); ++v) {
    if (levels[v] >= 0) entries += offsets[v + 1] - offsets[v];
  }
  return g.direction() == direction_kind::undirected ? entries / 2 : entries;
}

// What a search leaves, brought to the host.
template <class I>
struct tree {
  array<std::int32_t, host> levels;
  array<I, host> parents;
};

template <index_type I, index_type O, class Space>
search run_search(const context<host>& cpu, const context<Space>& ctx, bfs_plan<I, O, Space>& plan, I source,
                  std::int64_t runs, tree<I>& found) {
  search result;
  result.source = source;
  std::vector<double> samples;
  for (std::int64_t run = 0; run < runs; ++run) {
    ctx.synchronize();
    const stopwatch watch;
    plan.run(source);
    ctx.synchronize();
    samples.push_back(watch.milliseconds());
  }
  result.times = summarize(std::move(samples));
  result.reached = plan.reached();
  result.level_sizes = plan.level_sizes();
  found = {bring_home(ctx, plan.levels(), cpu), bring_home(ctx, plan.parents(), cpu)};
  result.levels = std::as_const(found.levels).view();
  result.parents = std::as_const(found.parents).view();
  return result;
}

template <index_type I, index_type O, class Space>
plan_facts search_on(const context<host>& cpu, const context<Space>& ctx, const graph_view<I, O, Space>& g,
                     const placed_graph<I, O>& reference, const std::vector<std::int64_t>& sources,
                     const search_settings& how, const stopwatch& since_start,
                     const std::function<void(const search&)>& sink) {
  const busy searching("searching");
  const stopwatch planning;
  bfs_plan<I, O, Space> plan(ctx, g, how.options);
  ctx.synchronize();
  plan_facts facts{plan.algorithm(), plan.reason(), 0, planning.milliseconds(), 0, plan.workspace_bytes()};
  plan.run(static_cast<I>(sources.front()));  // untimed: memory is touched for the first time
  ctx.synchronize();
  facts.total_ms = since_start.milliseconds();
  for (const std::int64_t source : sources) {
    tree<I> tree;
    search found = run_search(cpu, ctx, plan, static_cast<I>(source), how.runs, tree);
    const auto edges = static_cast<double>(traversed_edges(reference, found.levels));
    found.mteps = edges / (found.times.median * 1e-3) * 1e-6;
    if (how.validate) {
      found.fault = timed_check(facts.check_ms, [&] {
        return check_bfs<I, O>(cpu, reference.out_view(), static_cast<I>(source), tree.levels.view(),
                               tree.parents.view());
      });
    }
    sink(found);
  }
  return facts;
}

}  // namespace

std::int64_t out_degree(const any_placed_graph& g, std::int64_t vertex) {
  return std::visit([&](const auto& held) { return std::int64_t{held.offsets()[vertex + 1]} - held.offsets()[vertex]; },
                    g);
}

search_size size_of(const any_placed_graph& g, bfs_algorithm algorithm, const std::string& device) {
  return std::visit(
      [&]<class I, class O>(const placed_graph<I, O>& held) {
        search_size size = complete(size_of_graph(held), sizeof(I), algorithm);
        if (device == "auto") size.branching = branching_of(held);
        return size;
      },
      g);
}

search_size complete(search_size size, std::int64_t index_bytes, bfs_algorithm algorithm) {
  size.workspace_bytes = search_workspace_bytes(size.vertices, size.entries, index_bytes);
  size.runs_on_cpu = algorithm != bfs_algorithm::global_queue && algorithm != bfs_algorithm::block_queue;
  size.runs_on_gpu = algorithm != bfs_algorithm::sequential;
  return size;
}

plan_facts search_all(const backend& where, const any_placed_graph& g, const std::vector<std::int64_t>& sources,
                      const search_settings& how, const stopwatch& since_start,
                      const std::function<void(const search&)>& sink) {
  plan_facts facts;
  std::visit(
      [&]<class I, class O>(const placed_graph<I, O>& held) {
        const double upload_ms = on_graph(where, held, [&]<class Space>(const context<Space>& ctx, const auto& there) {
          facts = search_on<I, O, Space>(where.cpu, ctx, there, held, sources, how, since_start, sink);
        });
        facts.upload_ms = upload_ms;
      },
      g);
  return facts;
}

}  // namespace spargo::apps

// `spargo plan` of a graph command: the command's estimates for the input's size.
#include "input/columns.hpp"
#include "placement/driver.hpp"
#include "placement/placed_loader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace spargo::apps {

namespace {

// Assumes no duplicates, and loops as in samples; an undirected graph lists each edge once, unless the
// generator says otherwise.
input_size likely_size(const input_description& input, direction_kind direction) {
  input_size size = least_size(input);
  if (size.listed == 0) size.listed = likely_entries(input);
  if (size.off_diagonal == 0) size.off_diagonal = size.listed;
  const bool triangle = input.symmetry != symmetry_kind::general && input.kind == input_kind::matrix_market;
  const bool from_both_ends = size.distinct > 0;  // of generators and snapshots, which list a symmetric graph so
  if (size.distinct == 0) size.distinct = size.off_diagonal;
  const bool mirrored = direction == direction_kind::undirected || (lists_edges(input.kind) && !input.directed);
  const bool both_ways = triangle || (mirrored && !from_both_ends);
  if (both_ways) size.distinct *= 2;
  return size;
}

device_wish choose(const backend& where, const graph_flags& flags, const graph_plan& plan,
                   const input_description& input, const input_size& size, const search_size& search) {
  const input_cache none(cache_mode::off, input, value_kind::pattern);
  const std::string reason_for_host = reason_against_device(flags, input, none);
  const std::string why_cpu = reason_for_host.empty() ? reason_against_opening(where, plan.work, input)
                                                      : reason_against_opening(where, plan.work, size.listed);
  if (!why_cpu.empty()) return {"cpu", why_cpu};
  const device_status status = query_devices();
  if (!status.usable()) return {"cpu", "no usable GPU: " + status.reason};
  const std::int64_t limit = flags.device_bytes() > 0 ? flags.device_bytes() : std::numeric_limits<std::int64_t>::max();
  const std::string too_much = reason_for_cpu("auto", "the GPU", search, limit);
  if (!too_much.empty()) return {"cpu", too_much};
  return {"cuda", "the first usable GPU, if as much of its memory is free"};
}

// Besides arrays that the plan knows: buffers, sorting, ids, weights as doubles, and what grows while compressed text
// is read. Measured on eight graphs of 9 to 4 million edges with all commands.
std::int64_t aside_bytes(const graph_plan& plan, const input_description& input, const input_size& size) {
  const bool may_have_weights = plan.reads_weights && is_graph_text(input.kind);
  const bool is_compressed = input.path.ends_with(".gz");
  return size.listed * (size.index_bytes + (may_have_weights ? 28 : 0) + (is_compressed ? 8 : 0)) + 16 * size.rows;
}

// Of the CPU: the graph, as if it had no duplicates, its plan, and copies of the results. Vertices that only the file
// tells count as if it were a forest.
std::int64_t most_running_bytes(const graph_plan& plan, search_size search, const input_description& input,
                                input_size size, const graph_need& need) {
  constexpr std::int64_t small_arrays = std::int64_t{64} << 10;
  if (size.rows == 0) search.vertices = size.rows = size.cols = size.listed + 1;
  const bool mirrored = need.direction == direction_kind::undirected && input.directed;
  size.distinct = std::max(size.distinct, (mirrored ? 2 : 1) * size.listed);
  search.entries = size.distinct;
  search = plan.complete(search, size.index_bytes);
  return least_device_graph_bytes(size, need) + search.host_workspace_bytes +
         size.rows * (need.results.fixed + need.results.indices * size.index_bytes) + aside_bytes(plan, input, size) +
         small_arrays;
}

}  // namespace

exit_status plan_graph(const graph_flags& flags, const plan_scale& scale, const graph_plan& plan) {
  const backend where = choose_cpu("cpu", flags.common.threads);
  const bool ranked = scale.ranks > 0;
  if (ranked) {
    expect_parsing_on_cpu(flags.parse);
    expect_no_cache(flags.cache);
  }
  const input_description input = describe_input(where.cpu, flags.file, flags.common.columns, ids_of(flags.common));
  expect_known_size(input);
  expect_square(input);
  const bool directed = is_directed(flags, input) && !(ranked && plan.undirected_on_ranks);
  const direction_kind direction = directed ? direction_kind::directed : direction_kind::undirected;
  const input_size size = likely_size(input, direction);
  const graph_need need{direction, plan.reads_weights, directed && plan.work.wanted != in_edges::omit,
                        plan.work.edge_bytes, plan.work.results};
  search_size search;
  search.vertices = size.rows;
  search.entries = size.distinct;
  search.branching = size.distinct;  // unknown: not of paths
  search.directed = directed;
  search.threads = where.cpu.threads();
  graph_need graph_alone = need;
  graph_alone.results = {};
  search.graph_bytes = least_device_graph_bytes(size, graph_alone);
  search = plan.complete(search, size.index_bytes);

  work_plan result{plan.command, input.path, input.format, size.rows, size.cols, size.listed};
  result.directed = is_directed(flags, input);
  if (plan.reads_weights) result.unused_weights = unused_weights(input);
  result.scale = scale;
  result.threads = where.cpu.threads();
  result.runs_on_gpu = plan.work.runs_on_gpu;
  result.algorithm = plan.algorithm;
  result.algorithm_reason = ranked ? "several processes or GPUs run no other" : plan.algorithm_reason;
  const std::int64_t ranks = std::max<std::int64_t>(scale.ranks, 1);
  result.cpu_ms = expected_cpu_ms({size.listed / ranks, entry_ns(input) + plan.work.cpu_ns, result.threads});
  result.gpu_ms = expected_gpu_ms(size.listed / ranks);
  device_wish wish = device_as_asked(flags.common, scale);
  if (wish.device.empty()) wish = choose(where, flags, plan, input, size, search);
  result.device = std::move(wish.device);
  result.device_reason = std::move(wish.reason);
  if (!ranked) {
    result.host_bytes = least_graph_bytes(input, size, need);
    const std::int64_t most = most_running_bytes(plan, search, input, size, need);
    result.host_running_bytes = std::max(most, result.host_bytes + aside_bytes(plan, input, size));
    result.device_bytes = search.graph_bytes + search.workspace_bytes;
    return print_plan(flags.common, result, input);
  }
  rank_share own{size.rows,        size.rows / ranks, size.distinct / ranks, size.distinct / ranks, 0, ranks,
                 size.index_bytes, directed};
  own.ghosts = std::min(own.vertices - own.rows, own.in_entries);
  result.device_bytes = plan.rank_bytes(own);
  const bool made_on_device = plan.made_on_gpus && result.device != "cpu" && input.kind == input_kind::generator;
  graph_need of_rank = need;
  if (!plan.gathers_results) of_rank.results = {};
  if (!made_on_device) result.host_bytes = least_rank_bytes(size, ranks, of_rank);
  return print_plan(flags.common, result, input);
}

}  // namespace spargo::apps

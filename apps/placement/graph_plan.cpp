// `spargo plan` of a graph command: the command's estimates for the input's size.
#include "input/columns.hpp"
#include "input/text_extent.hpp"
#include "placement/driver.hpp"
#include "placement/placed_loader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace spargo::apps {

namespace {

// Whether the graph has both directions of each entry that is listed: not of generators and snapshots, which list a
// symmetric graph from both ends.
bool adds_reverse(const input_description& input, const input_size& size, direction_kind direction) {
  const bool triangle = input.symmetry != symmetry_kind::general && input.kind == input_kind::matrix_market;
  const bool mirrored = direction == direction_kind::undirected || (lists_edges(input.kind) && !input.directed);
  return triangle || (mirrored && size.distinct == 0);
}

// Assumes no duplicates, and loops as in samples.
input_size likely_size(const input_description& input, input_size size, bool both_ways) {
  if (size.listed == 0) size.listed = likely_entries(input);
  if (size.off_diagonal == 0) size.off_diagonal = size.listed;
  if (size.distinct == 0) size.distinct = size.off_diagonal;
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

// Blocks of text while they are read (io/text/blocks.hpp, read_ahead.hpp).
std::int64_t text_buffer_bytes(bool compressed, std::int64_t text_bytes, int threads) {
  constexpr std::int64_t mib = std::int64_t{1} << 20;
  constexpr std::int64_t inflating = 12 * mib;
  return compressed ? inflating : std::min(text_bytes, std::clamp(4 * threads, 8, 64) * mib) + mib;
}

// Of a list or a document while it is read: its text, edges in arrays that grow, and a table of ids or names with room
// for twice as many as the next 8 MiB have lines, which is half as large again when it has grown.
std::int64_t reading_bytes(const input_description& input, const text_extent& text, std::int64_t edge_bytes,
                           int threads) {
  constexpr std::int64_t batch_bytes = std::int64_t{8} << 20;
  constexpr std::int64_t slot_bytes = 40;    // 16 and 60 percent more, and as they grow
  constexpr std::int64_t record_bytes = 32;  // of a name beside its characters
  const std::int64_t buffer = text_buffer_bytes(text.compressed, text.bytes, threads);
  if (input.kind == input_kind::document) {  // each end is kept as text, and its place in the file
    const std::int64_t ids = text.vertices + 2 * text.edges;
    return buffer + ids * (slot_bytes + record_bytes + 3 * 8 + 24) + text.edges * 56 + 2 * text.name_bytes;
  }
  const std::int64_t batch =
      std::min(text.edges, batch_bytes / std::max<std::int64_t>(text.bytes / std::max<std::int64_t>(text.edges, 1), 1));
  const std::int64_t names = input.columns.ids == id_kind::names ? text.name_bytes : 0;
  return buffer + 2 * text.edges * edge_bytes + (text.vertices + 2 * batch) * slot_bytes +
         text.vertices * record_bytes + names;
}

// Weights that a file may have, or random ones; generated graphs have none of their own.
bool has_double_weights(const graph_plan& plan, const input_description& input) {
  return plan.reads_weights ? input.kind != input_kind::generator : plan.work.edge_bytes > 0;
}

// Besides arrays that the plan knows: buffers, sorting, ids, and weights as doubles. Measured on eight graphs of 9 to 4
// million edges with all commands.
std::int64_t aside_bytes(bool weighted, const input_size& size) {
  return size.listed * (size.index_bytes + (weighted ? 28 : 0)) + 16 * size.rows;
}

// Of the CPU: the greater of what reading and what running takes. Running: the graph, as if it had no duplicates, its
// plan, and copies of the results.
std::int64_t most_running_bytes(const graph_plan& plan, search_size search, const input_description& input,
                                input_size size, const graph_need& need, bool both_ways) {
  constexpr std::int64_t small_arrays = std::int64_t{64} << 10;
  constexpr std::int64_t partly_used_pages = std::int64_t{12} << 20;  // of 2 MiB; Leiden has some twenty arrays
  const bool weighted = has_double_weights(plan, input);
  std::int64_t reading = 0;
  std::int64_t names = 0;  // beside what runs
  if (lists_edges(input.kind)) {
    const text_extent text = measure_text(input);
    search.vertices = size.rows = size.cols = text.vertices;
    size.listed = text.edges;
    reading = reading_bytes(input, text, 2 * size.index_bytes + (weighted ? 8 : 0), search.threads);
    const bool named = input.kind == input_kind::document || input.columns.ids == id_kind::names;
    if (named) names = std::min(text.name_bytes, text.bytes) + 32 * text.vertices;
  } else if (input.file.has_value() && !input.mapped.has_value() && is_compressed(input.path)) {
    reading = text_buffer_bytes(true, 0, search.threads) + least_listed_bytes(input, size, plan.reads_weights) * 2;
  }
  const bool mirrored = both_ways || (need.direction == direction_kind::undirected && input.directed);
  size.distinct = std::max(size.distinct, (mirrored ? 2 : 1) * size.listed);
  search.entries = size.distinct;
  search = plan.complete(search, size.index_bytes);
  const std::int64_t running = least_device_graph_bytes(size, need) + search.host_workspace_bytes +
                               size.rows * (need.results.fixed + need.results.indices * size.index_bytes) +
                               aside_bytes(weighted, size) + names;
  return std::max(reading, running + std::min(running, partly_used_pages)) + small_arrays;
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
  const input_size least = least_size(input);
  const bool both_ways = adds_reverse(input, least, direction);
  const input_size size = likely_size(input, least, both_ways);
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
    result.host_running_bytes = std::max(most_running_bytes(plan, search, input, size, need, both_ways),
                                         result.host_bytes + aside_bytes(has_double_weights(plan, input), size));
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

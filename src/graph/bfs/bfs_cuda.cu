// Device BFS: the executor. A search is a fixed sequence of kernels (cuda_kernel.cuh); the host waits only at its end.
//
// Cost: O(vertices + edges) work; one or two grid barriers per wide level, one cluster barrier per narrow level. Memory
// besides the graph, I = int32: 17.5 bytes per vertex, results included, plus 8 bytes per 512 edges of each vertex with
// 512 or more (I = int64: 21.5 and 16); a push-only plan needs 5 bytes per vertex less. Building a plan reads the graph
// once or twice and synchronizes; H200, R-MAT 22: 0.43 ms to choose likely parents. Direction-optimizing search:
// Beamer, Asanovic, Patterson, SC 2012. Queues and load balancing: Merrill, Garland, Grimshaw, PPoPP 2012.
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/bfs/cuda_narrow_launch.cuh"
#include "graph/bfs/cuda_prepare.cuh"
#include "graph/bfs/executor.hpp"
#include "primitives/element.hpp"

#include <algorithm>

namespace spargo::detail::bfs {

namespace {

template <class I, class O>
struct device_executor final : device_search<I> {
  static constexpr std::int64_t level_slots = 4096;  // deeper levels are counted after the search

  context<device> ctx;
  std::int64_t vertices;
  bfs_options options;
  bfs::choice choice;
  cooperative_kernel<bfs::search<I, O>, kernel_part> wide;
  narrow_launch<I, O> narrow;
  bfs::search<I, O> search{};
  plan_memory memory{ctx};
  array<host_report, host> report;
  std::vector<std::int64_t> sizes_found;
  std::int64_t reached_vertices = 0;

  device_executor(const context<device>& c, const graph_view<I, O, device>& g, const bfs::choice& chosen,
                  const bfs_options& o)
      : ctx(c), vertices(g.vertices()), options(o), choice(chosen) {
    const device_guard guard(ctx);
    allocate(g);
    prepare();
    wide = {ctx, wide_kernel(), cuda_tuning::block, "bfs", staged_bytes<I>()};
    if (balanced()) narrow = narrow_launch<I, O>(ctx);
  }

  void allocate(const graph_view<I, O, device>& g) {
    const std::int64_t n = vertices;
    const bool pulls = choice.direction != bfs_direction::push;
    const std::int64_t words = 4 * div_up(n, 4 * warp_size);
    const std::int64_t slots = std::min(n, level_slots);
    report = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    sizes_found.reserve(static_cast<std::size_t>(n));
    const auto in = pull_edges(g);
    search = {.out_offsets = g.out.offsets.data(),
              .out_indices = g.out.indices.data(),
              .in_offsets = pulls ? in.offsets.data() : nullptr,
              .in_indices = pulls ? in.indices.data() : nullptr,
              .likely = pulls && sizeof(I) == sizeof(std::int32_t) ? memory.take<I>(n) : nullptr,
              .weights = memory.take<unsigned char>(n),
              .n = n,
              .words = words,
              .edges = g.out.nnz(),
              .levels = memory.take<std::int32_t>(n),  // also for parents only: collect_sizes reads it
              .parents = wants_parents(options.output) ? memory.take<I>(n) : nullptr,
              .start = memory.take<unsigned>(words),
              .visited = memory.take<unsigned>(words),
              .front = pulls ? memory.take<unsigned>(words) : nullptr,
              .next = pulls ? memory.take<unsigned>(words) : nullptr,
              .queue = memory.take<I>(n),
              .hubs = nullptr,
              .level_sizes = memory.take<std::int64_t>(slots),
              .level_slots = slots,
              .control = memory.take<control_block>(1),
              .report = report.data(),
              .source = 0,
              .previous_source = -1,
              .target = options.target,
              .max_depth = options.max_depth,
              .allowed = choice.direction,
              .rule = {}};
  }

  // Initializes bitmaps, results and per-vertex data of the graph. Synchronizes.
  void prepare() {
    constexpr int block = prepare_tuning::block;
    if (vertices == 0) return;
    const auto n = static_cast<std::size_t>(vertices);
    fill_bytes(ctx, search.levels, 0xff, n * sizeof(std::int32_t));
    if (search.parents != nullptr) fill_bytes(ctx, search.parents, 0xff, n * sizeof(I));
    if (search.front != nullptr) fill_zero(ctx, span<unsigned, device>(search.front, search.words));
    array<count64, device> chunks(ctx, 1);
    fill_zero(ctx, chunks.view());
    launch_kernel(ctx, one_thread_each(search.words * warp_size, block), profile_vertices_kernel<I, O>, search,
                  chunks.data());
    if (search.likely != nullptr) {
      launch_kernel(ctx, one_thread_each(vertices * prepare_tuning::lanes, block),
                    find_likely_kernel<I, O, in_degrees<O>>, search, in_degrees<O>{search.in_offsets});
    }
    copy_on_device(ctx, search.start, search.visited, static_cast<std::size_t>(search.words) * sizeof(unsigned));
    search.hubs = memory.take<edge_chunk<I>>(static_cast<std::int64_t>(element<count64>(ctx, chunks.view(), 0)));
  }

  [[nodiscard]] bool balanced() const {
    return choice.algorithm != bfs_algorithm::global_queue && choice.algorithm != bfs_algorithm::block_queue;
  }
  [[nodiscard]] auto wide_kernel() const {
    switch (choice.algorithm) {
      case bfs_algorithm::global_queue:
        return &bfs::wide_kernel<push_kind::global, I, O>;
      case bfs_algorithm::block_queue:
        return &bfs::wide_kernel<push_kind::block, I, O>;
      default:
        return &bfs::wide_kernel<push_kind::balanced, I, O>;
    }
  }

  void enqueue(I source) override {
    const device_guard guard(ctx);
    search.previous_source = search.source;
    search.source = source;
    if (balanced()) {
      narrow(ctx, search, {.first = true, .last = false});
      wide.launch(ctx, search, {.first = true, .last = false});
      narrow(ctx, search, {.first = false, .last = false});
      wide.launch(ctx, search, {.first = false, .last = true});
    } else {
      wide.launch(ctx, search, {.first = true, .last = true});
    }
    if (options.parents == bfs_parents::smallest && search.parents != nullptr && search.edges > 0) {
      const std::int64_t warps = div_up(search.edges, std::int64_t{prepare_tuning::edges});
      launch_kernel(ctx, one_thread_each(warps * warp_size, prepare_tuning::block), offer_parents_kernel<I, O>, search);
    }
  }
  [[nodiscard]] const std::int64_t* unexpanded() const noexcept override { return &search.control->position.vertices; }

  void run(I source) override {
    const device_guard guard(ctx);
    sizes_found.clear();
    reached_vertices = 0;
    enqueue(source);
    ctx.synchronize();
    reached_vertices = report[0].position.reached;
    collect_sizes(report[0].position.level);
  }

  void collect_sizes(std::int64_t depth) {  // depth: number of levels
    const std::int64_t reported = std::min<std::int64_t>(depth, host_report::size_slots);
    sizes_found.assign(report[0].sizes, report[0].sizes + reported);
    if (depth == reported) return;
    sizes_found.resize(static_cast<std::size_t>(depth));
    if (depth <= search.level_slots) {
      copy_to_host(ctx, search.level_sizes + reported, sizes_found.data() + reported,
                   static_cast<std::size_t>(depth - reported) * sizeof(std::int64_t));
      ctx.synchronize();
      return;
    }
    // More levels than slots: count them into the queue, which is free after the search, and copy them in chunks.
    fill_zero(ctx, span<I, device>(search.queue, vertices));
    launch_kernel(ctx, one_thread_each(vertices, prepare_tuning::block), count_levels_kernel<I>, search.levels,
                  vertices, search.queue);
    I* const part = reinterpret_cast<I*>(report[0].sizes);
    for (std::int64_t first = 0; first < depth; first += host_report::size_slots) {
      const std::int64_t count = std::min<std::int64_t>(depth - first, host_report::size_slots);
      copy_to_host(ctx, search.queue + first, part, static_cast<std::size_t>(count) * sizeof(I));
      ctx.synchronize();
      std::copy(part, part + count, sizes_found.begin() + first);
    }
  }

  [[nodiscard]] span<const std::int32_t, device> levels() const noexcept override {
    if (!wants_levels(options.output)) return {};
    return {search.levels, vertices};
  }
  [[nodiscard]] span<const I, device> parents() const noexcept override {
    return {search.parents, search.parents == nullptr ? 0 : vertices};
  }
  [[nodiscard]] std::int64_t reached() const noexcept override { return reached_vertices; }
  [[nodiscard]] span<const std::int64_t, host> level_sizes() const noexcept override { return sizes_found; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return memory.bytes(); }
};

}  // namespace

template <class I, class O>
std::unique_ptr<device_search<I>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                const choice& choice, const bfs_options& options) {
  return std::make_unique<device_executor<I, O>>(ctx, g, choice, options);
}

#define INSTANTIATE(I, O)                                                                                           \
  template std::unique_ptr<device_search<I>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                           const choice&, const bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::bfs

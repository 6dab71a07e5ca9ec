// Breadth-first search on the device: the executor. A search is a few kernels in a row (cuda_kernel.cuh), so the host
// waits once, at its end.
//
// Cost: O(vertices + edges) work; one or two barriers of the grid a wide level, one of a cluster a narrow one.
// Memory besides the graph, I = int32: 17.5 bytes per vertex, results included, and 8 for each 512 edges of a vertex
// that has as many (I = int64: 21.5 and 16); a plan that only pushes needs 5 less. Building a plan reads the graph once
// or twice and synchronises; H200, R-MAT 22: 0.43 ms for likely neighbours. Direction-optimizing search: Beamer,
// Asanovic, Patterson, SC 2012. Queues and load balance: Merrill, Garland, Grimshaw, PPoPP 2012.
#include "core/cuda.cuh"
#include "core/instantiate.hpp"
#include "graph/bfs/cuda_kernel.cuh"
#include "graph/bfs/cuda_prepare.cuh"
#include "graph/bfs/executor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace spargo::detail::bfs {

namespace {

template <class T>
std::int64_t bytes_of(const array<T, device>& a) {
  return a.size() * static_cast<std::int64_t>(sizeof(T));
}

unsigned blocks_for(std::int64_t threads, int block) { return static_cast<unsigned>(div_up(threads, block)); }

template <class I, class O>
struct device_executor final : device_search<I> {
  static constexpr std::int64_t level_slots = 4096;  // levels past these are counted after the search

  context<device> ctx;
  std::int64_t vertices;
  bfs_options options;
  bfs::choice choice;
  int grid_blocks = 0;
  int cluster_blocks = 0;
  bfs::search<I, O> search{};
  array<std::int32_t, device> level_of;
  array<I, device> parent_of;
  array<unsigned, device> start;
  array<unsigned, device> visited;
  array<unsigned, device> front;
  array<unsigned, device> next;
  array<I, device> likely;
  array<unsigned char, device> weights;
  array<I, device> queue;
  array<edge_chunk<I>, device> hubs;
  array<std::int64_t, device> sizes;
  array<control_block, device> control;
  array<host_report, host> report;
  std::vector<std::int64_t> sizes_found;
  std::int64_t reached_vertices = 0;

  device_executor(const context<device>& c, const graph_view<I, O, device>& g, const bfs::choice& chosen,
                  const bfs_options& o)
      : ctx(c), vertices(g.vertices()), options(o), choice(chosen) {
    const device_guard guard(ctx);
    allocate(g);
    prepare();
    prepare_launch();
  }

  void allocate(const graph_view<I, O, device>& g) {
    const std::int64_t n = vertices;
    const bool pulls = choice.direction != bfs_direction::push;
    const std::int64_t words = 4 * div_up(n, 4 * warp_size);
    level_of = {ctx, n};  // also when only parents are asked for: levels past `level_slots` are counted there
    if (wants_parents(options.output)) parent_of = {ctx, n};
    start = {ctx, words};
    visited = {ctx, words};
    if (pulls) {
      front = {ctx, words};
      next = {ctx, words};
      if constexpr (sizeof(I) == sizeof(std::int32_t)) likely = {ctx, n};
    }
    weights = {ctx, n};
    queue = {ctx, n};
    sizes = {ctx, std::min(n, level_slots)};
    control = {ctx, 1};
    report = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    sizes_found.reserve(static_cast<std::size_t>(n));
    const auto in = pull_edges(g);
    search = {.out_offsets = g.out.offsets.data(),
              .out_indices = g.out.indices.data(),
              .in_offsets = pulls ? in.offsets.data() : nullptr,
              .in_indices = pulls ? in.indices.data() : nullptr,
              .likely = likely.data(),
              .weights = weights.data(),
              .n = n,
              .words = words,
              .edges = g.out.nnz(),
              .levels = level_of.data(),
              .parents = parent_of.data(),
              .start = start.data(),
              .visited = visited.data(),
              .front = front.data(),
              .next = next.data(),
              .queue = queue.data(),
              .hubs = nullptr,
              .level_sizes = sizes.data(),
              .level_slots = sizes.size(),
              .control = control.data(),
              .report = report.data(),
              .source = 0,
              .previous_source = -1,
              .target = options.target,
              .max_depth = options.max_depth,
              .allowed = choice.direction,
              .rule = {}};
  }

  // The bitmaps and results as every search expects and leaves them, and what is known of the graph. Synchronises.
  void prepare() {
    constexpr int block = prepare_tuning::block;
    fill_bytes(ctx, level_of.data(), 0xff, static_cast<std::size_t>(bytes_of(level_of)));
    fill_bytes(ctx, parent_of.data(), 0xff, static_cast<std::size_t>(bytes_of(parent_of)));
    fill_zero(ctx, front.view());
    if (vertices == 0) return;
    array<count64, device> chunks(ctx, 1);
    fill_zero(ctx, chunks.view());
    profile_vertices_kernel<<<blocks_for(search.words * warp_size, block), block, 0, ctx.stream()>>>(
        search, start.data(), weights.data(), chunks.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    if (!likely.empty()) {
      find_likely_kernel<<<blocks_for(vertices * prepare_tuning::lanes, block), block, 0, ctx.stream()>>>(
          search, likely.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    copy<unsigned>(ctx, start.view(), visited.view());
    count64 wanted = 0;
    copy<count64>(ctx, chunks.view(), span<count64, host>(&wanted, 1));
    ctx.synchronize();
    hubs = {ctx, static_cast<std::int64_t>(wanted)};
    search.hubs = hubs.data();
  }

  [[nodiscard]] bool balanced() const {
    return choice.algorithm != bfs_algorithm::global_queue && choice.algorithm != bfs_algorithm::block_queue;
  }
  [[nodiscard]] const void* wide_kernel() const {
    switch (choice.algorithm) {
      case bfs_algorithm::global_queue:
        return reinterpret_cast<const void*>(&bfs::wide_kernel<push_kind::global, I, O>);
      case bfs_algorithm::block_queue:
        return reinterpret_cast<const void*>(&bfs::wide_kernel<push_kind::block, I, O>);
      default:
        return reinterpret_cast<const void*>(&bfs::wide_kernel<push_kind::balanced, I, O>);
    }
  }
  [[nodiscard]] static const void* narrow_kernel() { return reinterpret_cast<const void*>(&bfs::narrow_kernel<I, O>); }

  // As many blocks as can be resident together, which the grid's barrier needs, and as large a cluster as there can be.
  void prepare_launch() {
    int cooperative = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx.ordinal()));
    if (cooperative == 0) throw error(error_code::unsupported, "bfs: the device cannot launch cooperative kernels");
    constexpr std::size_t staged = staged_bytes<I>();
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(wide_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, int{staged}));
    int a_multiprocessor = 0;
    SPARGO_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, wide_kernel(), cuda_tuning::block, staged));
    grid_blocks = a_multiprocessor * ctx.properties().multiprocessors;
    if (grid_blocks == 0) throw error(error_code::unsupported, "bfs: no block of the search fits a multiprocessor");
    if (!balanced()) return;
    SPARGO_CUDA_TRY(
        cudaFuncSetAttribute(narrow_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, int{narrow_bytes<I, O>()}));
    cluster_blocks = 1;
    if (!has_clusters()) return;
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(narrow_kernel(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (cluster_blocks = narrow_tuning::blocks; cluster_blocks > 1; cluster_blocks /= 2) {
      cudaLaunchAttribute attribute;
      const cudaLaunchConfig_t config = narrow_config(attribute);
      int clusters = 0;
      SPARGO_CUDA_TRY(cudaOccupancyMaxActiveClusters(&clusters, narrow_kernel(), &config));
      if (clusters > 0) return;
    }
  }

  [[nodiscard]] bool has_clusters() const { return ctx.properties().code_capability >= hopper_capability; }

  [[nodiscard]] cudaLaunchConfig_t narrow_config(cudaLaunchAttribute& attribute) const {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(cluster_blocks), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(cluster_blocks));
    config.blockDim = dim3(narrow_tuning::block);
    config.dynamicSmemBytes = narrow_bytes<I, O>();
    config.stream = ctx.stream();
    config.attrs = &attribute;
    config.numAttrs = has_clusters() ? 1 : 0;
    return config;
  }

  void launch_narrow(kernel_part part) {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = narrow_config(attribute);
    void* arguments[] = {&search, &part};
    SPARGO_CUDA_TRY(cudaLaunchKernelExC(&config, narrow_kernel(), arguments));
  }
  void launch_wide(kernel_part part) {
    void* arguments[] = {&search, &part};
    SPARGO_CUDA_TRY(cudaLaunchCooperativeKernel(wide_kernel(), dim3(static_cast<unsigned>(grid_blocks)),
                                                dim3(cuda_tuning::block), arguments, staged_bytes<I>(), ctx.stream()));
  }

  void enqueue(I source) override {
    const device_guard guard(ctx);
    search.previous_source = search.source;
    search.source = source;
    if (balanced()) {
      launch_narrow({.first = true, .last = false});
      launch_wide({.first = true, .last = false});
      launch_narrow({.first = false, .last = false});
      launch_wide({.first = false, .last = true});
    } else {
      launch_wide({.first = true, .last = true});
    }
    if (options.parents == bfs_parents::smallest && !parent_of.empty() && search.edges > 0) {
      const std::int64_t warps = div_up(search.edges, std::int64_t{prepare_tuning::edges});
      constexpr int block = prepare_tuning::block;
      offer_parents_kernel<<<blocks_for(warps * warp_size, block), block, 0, ctx.stream()>>>(search);
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
  }
  [[nodiscard]] const std::int64_t* unexpanded() const noexcept override {
    const auto* const at = reinterpret_cast<const unsigned char*>(control.data()) + offsetof(control_block, position);
    return reinterpret_cast<const std::int64_t*>(at + offsetof(search_position, vertices));
  }

  void run(I source) override {
    const device_guard guard(ctx);
    sizes_found.clear();
    reached_vertices = 0;
    enqueue(source);
    ctx.synchronize();
    reached_vertices = report[0].position.reached;
    collect_sizes(report[0].position.level);
  }

  void collect_sizes(std::int64_t depth) {  // levels walked
    const std::int64_t told = std::min<std::int64_t>(depth, host_report::size_slots);
    sizes_found.assign(report[0].sizes, report[0].sizes + told);
    if (depth == told) return;
    sizes_found.resize(static_cast<std::size_t>(depth));
    if (depth <= search.level_slots) {
      copy_to_host(ctx, sizes.data() + told, sizes_found.data() + told,
                   static_cast<std::size_t>(depth - told) * sizeof(std::int64_t));
      ctx.synchronize();
      return;
    }
    // More levels than slots: they are counted in the queue, which the search no longer needs, and come in parts.
    constexpr int block = prepare_tuning::block;
    fill_zero(ctx, queue.view());
    count_levels_kernel<<<blocks_for(vertices, block), block, 0, ctx.stream()>>>(level_of.data(), vertices,
                                                                                 queue.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    I* const part = reinterpret_cast<I*>(report[0].sizes);
    for (std::int64_t first = 0; first < depth; first += host_report::size_slots) {
      const std::int64_t count = std::min<std::int64_t>(depth - first, host_report::size_slots);
      copy_to_host(ctx, queue.data() + first, part, static_cast<std::size_t>(count) * sizeof(I));
      ctx.synchronize();
      std::copy(part, part + count, sizes_found.begin() + first);
    }
  }

  [[nodiscard]] span<const std::int32_t, device> levels() const noexcept override {
    if (!wants_levels(options.output)) return {};
    return level_of.view();
  }
  [[nodiscard]] span<const I, device> parents() const noexcept override { return parent_of.view(); }
  [[nodiscard]] std::int64_t reached() const noexcept override { return reached_vertices; }
  [[nodiscard]] span<const std::int64_t, host> level_sizes() const noexcept override { return sizes_found; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(level_of) + bytes_of(parent_of) + bytes_of(start) + bytes_of(visited) + bytes_of(front) +
           bytes_of(next) + bytes_of(likely) + bytes_of(weights) + bytes_of(queue) + bytes_of(hubs) + bytes_of(sizes) +
           bytes_of(control);
  }
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

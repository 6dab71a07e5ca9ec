// Breadth-first search on the device: the plan. A search is a few kernels in a row (cuda_kernel.cuh), so the host
// waits once, at its end.
//
// Cost: O(vertices + edges) work; one or two barriers of the grid a wide level, one of a cluster a narrow one.
// Memory besides the graph, I = int32: 17.5 bytes a vertex, results included, and 8 for each 512 edges of a vertex that
// has as many (I = int64: 21.5 and 16); a plan that only pushes needs 5 less. Building a plan reads the graph once or
// twice and synchronises; H200, R-MAT 22: 0.43 ms for likely neighbours. Direction-optimizing search: Beamer, Asanovic,
// Patterson, SC 2012. Queues and load balance: Merrill, Garland, Grimshaw, PPoPP 2012.
#include "core/cuda.cuh"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/bfs/common.hpp"
#include "graph/bfs/cuda_kernel.cuh"
#include "graph/bfs/cuda_prepare.cuh"

#include <algorithm>
#include <array>

namespace spargo {

namespace {

using detail::bfs_control;
using detail::bfs_cuda_tuning;
using detail::bfs_narrow_tuning;
using detail::bfs_part;
using detail::bfs_prepare_tuning;
using detail::bfs_report;
using detail::bfs_search;
using detail::push_kind;

template <class T>
std::int64_t bytes_of(const array<T, device>& a) {
  return a.size() * static_cast<std::int64_t>(sizeof(T));
}

unsigned blocks_for(std::int64_t threads, int block) { return static_cast<unsigned>(div_up(threads, block)); }

}  // namespace

template <index_type I, index_type O, class Space>
struct bfs_plan<I, O, Space>::state {
  static constexpr std::int64_t level_slots = 4096;  // levels past these are counted after the search

  context<device> ctx;
  std::int64_t vertices;
  bfs_options options;
  detail::bfs_choice choice;
  int grid_blocks = 0;
  int cluster_blocks = 0;
  bfs_search<I, O> search{};
  array<std::int32_t, device> levels;
  array<I, device> parents;
  array<unsigned, device> start;
  array<unsigned, device> visited;
  array<unsigned, device> front;
  array<unsigned, device> next;
  array<I, device> likely;
  array<unsigned char, device> weights;
  array<I, device> queue;
  array<detail::bfs_hub_chunk<I>, device> hubs;
  array<std::int64_t, device> sizes;
  array<bfs_control, device> control;
  array<bfs_report, host> report;
  std::vector<std::int64_t> level_sizes;
  std::int64_t reached = 0;

  state(const context<device>& c, const graph_view<I, O, device>& g, const bfs_options& o)
      : ctx(c),
        vertices(g.vertices()),
        options(o),
        choice((detail::check_bfs_graph(g),
                detail::choose_bfs(detail::bfs_backend::device, detail::facts_of(g), options))) {
    const detail::device_guard guard(ctx);
    allocate(g);
    prepare();
    prepare_launch();
  }

  void allocate(const graph_view<I, O, device>& g) {
    const std::int64_t n = vertices;
    const bool pulls = choice.direction != bfs_direction::push;
    const std::int64_t words = 4 * div_up(n, 4 * detail::warp_size);
    levels = {ctx, n};  // also when only parents are asked for: levels past `level_slots` are counted there
    if (detail::wants_parents(options.output)) parents = {ctx, n};
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
    level_sizes.reserve(static_cast<std::size_t>(n));
    const auto in = detail::pull_edges(g);
    search = {.out_offsets = g.out.offsets.data(),
              .out_indices = g.out.indices.data(),
              .in_offsets = pulls ? in.offsets.data() : nullptr,
              .in_indices = pulls ? in.indices.data() : nullptr,
              .likely = likely.data(),
              .weights = weights.data(),
              .n = n,
              .words = words,
              .edges = g.out.nnz(),
              .levels = levels.data(),
              .parents = parents.data(),
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
    constexpr int block = bfs_prepare_tuning::block;
    detail::fill_bytes(ctx, levels.data(), 0xff, static_cast<std::size_t>(bytes_of(levels)));
    detail::fill_bytes(ctx, parents.data(), 0xff, static_cast<std::size_t>(bytes_of(parents)));
    fill_zero(ctx, front.view());
    if (vertices == 0) return;
    array<detail::count64, device> chunks(ctx, 1);
    fill_zero(ctx, chunks.view());
    detail::profile_vertices_kernel<<<blocks_for(search.words * detail::warp_size, block), block, 0, ctx.stream()>>>(
        search, start.data(), weights.data(), chunks.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    if (!likely.empty()) {
      detail::find_likely_kernel<<<blocks_for(vertices * bfs_prepare_tuning::lanes, block), block, 0, ctx.stream()>>>(
          search, likely.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    copy<unsigned>(ctx, start.view(), visited.view());
    detail::count64 wanted = 0;
    copy<detail::count64>(ctx, chunks.view(), span<detail::count64, host>(&wanted, 1));
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
        return reinterpret_cast<const void*>(&detail::bfs_wide_kernel<push_kind::global, I, O>);
      case bfs_algorithm::block_queue:
        return reinterpret_cast<const void*>(&detail::bfs_wide_kernel<push_kind::block, I, O>);
      default:
        return reinterpret_cast<const void*>(&detail::bfs_wide_kernel<push_kind::balanced, I, O>);
    }
  }
  [[nodiscard]] static const void* narrow_kernel() {
    return reinterpret_cast<const void*>(&detail::bfs_narrow_kernel<I, O>);
  }

  // As many blocks as can be resident together, which the grid's barrier needs, and as large a cluster as there can be.
  void prepare_launch() {
    int cooperative = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx.ordinal()));
    if (cooperative == 0) throw error(error_code::unsupported, "bfs: the device cannot launch cooperative kernels");
    constexpr std::size_t staged = detail::staged_bytes<I>();
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(wide_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, int{staged}));
    int a_multiprocessor = 0;
    SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, wide_kernel(),
                                                                  bfs_cuda_tuning::block, staged));
    grid_blocks = a_multiprocessor * ctx.properties().multiprocessors;
    if (grid_blocks == 0) throw error(error_code::unsupported, "bfs: no block of the search fits a multiprocessor");
    if (!balanced()) return;
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(narrow_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         int{detail::narrow_bytes<I, O>()}));
    cluster_blocks = 1;
    if (!has_clusters()) return;
    SPARGO_CUDA_TRY(cudaFuncSetAttribute(narrow_kernel(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (cluster_blocks = bfs_narrow_tuning::blocks; cluster_blocks > 1; cluster_blocks /= 2) {
      cudaLaunchAttribute attribute;
      const cudaLaunchConfig_t config = narrow_config(attribute);
      int clusters = 0;
      SPARGO_CUDA_TRY(cudaOccupancyMaxActiveClusters(&clusters, narrow_kernel(), &config));
      if (clusters > 0) return;
    }
  }

  [[nodiscard]] bool has_clusters() const { return ctx.properties().code_capability >= detail::hopper_capability; }

  [[nodiscard]] cudaLaunchConfig_t narrow_config(cudaLaunchAttribute& attribute) const {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(cluster_blocks), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(cluster_blocks));
    config.blockDim = dim3(bfs_narrow_tuning::block);
    config.dynamicSmemBytes = detail::narrow_bytes<I, O>();
    config.stream = ctx.stream();
    config.attrs = &attribute;
    config.numAttrs = has_clusters() ? 1 : 0;
    return config;
  }

  void launch_narrow(bfs_part part) {
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = narrow_config(attribute);
    void* arguments[] = {&search, &part};
    SPARGO_CUDA_TRY(cudaLaunchKernelExC(&config, narrow_kernel(), arguments));
  }
  void launch_wide(bfs_part part) {
    void* arguments[] = {&search, &part};
    SPARGO_CUDA_TRY(cudaLaunchCooperativeKernel(wide_kernel(), dim3(static_cast<unsigned>(grid_blocks)),
                                                dim3(bfs_cuda_tuning::block), arguments, detail::staged_bytes<I>(),
                                                ctx.stream()));
  }

  void run(I source) {
    detail::check_bfs_source(source, vertices);
    const detail::device_guard guard(ctx);
    level_sizes.clear();
    reached = 0;
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
    if (options.parents == bfs_parents::smallest && !parents.empty() && search.edges > 0) {
      const std::int64_t warps = div_up(search.edges, std::int64_t{bfs_prepare_tuning::edges});
      constexpr int block = bfs_prepare_tuning::block;
      detail::offer_parents_kernel<<<blocks_for(warps * detail::warp_size, block), block, 0, ctx.stream()>>>(search);
      SPARGO_CUDA_TRY(cudaGetLastError());
    }
    ctx.synchronize();
    reached = report[0].position.reached;
    collect_sizes(report[0].position.level);
  }

  void collect_sizes(std::int64_t depth) {  // levels walked
    const std::int64_t told = std::min<std::int64_t>(depth, bfs_report::size_slots);
    level_sizes.assign(report[0].sizes, report[0].sizes + told);
    if (depth == told) return;
    level_sizes.resize(static_cast<std::size_t>(depth));
    if (depth <= search.level_slots) {
      detail::copy_to_host(ctx, sizes.data() + told, level_sizes.data() + told,
                           static_cast<std::size_t>(depth - told) * sizeof(std::int64_t));
      ctx.synchronize();
      return;
    }
    // More levels than slots: they are counted in the queue, which the search no longer needs, and come in pieces.
    constexpr int block = bfs_prepare_tuning::block;
    fill_zero(ctx, queue.view());
    detail::count_levels_kernel<<<blocks_for(vertices, block), block, 0, ctx.stream()>>>(levels.data(), vertices,
                                                                                         queue.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    I* const piece = reinterpret_cast<I*>(report[0].sizes);
    for (std::int64_t first = 0; first < depth; first += bfs_report::size_slots) {
      const std::int64_t count = std::min<std::int64_t>(depth - first, bfs_report::size_slots);
      detail::copy_to_host(ctx, queue.data() + first, piece, static_cast<std::size_t>(count) * sizeof(I));
      ctx.synchronize();
      std::copy(piece, piece + count, level_sizes.begin() + first);
    }
  }

  [[nodiscard]] span<const std::int32_t, device> levels_found() const {
    return detail::wants_levels(options.output) ? std::as_const(levels).view() : span<const std::int32_t, device>{};
  }

  [[nodiscard]] std::int64_t workspace_bytes() const {
    return bytes_of(levels) + bytes_of(parents) + bytes_of(start) + bytes_of(visited) + bytes_of(front) +
           bytes_of(next) + bytes_of(likely) + bytes_of(weights) + bytes_of(queue) + bytes_of(hubs) + bytes_of(sizes) +
           bytes_of(control);
  }
};

template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                const bfs_options& options) try
    : state_(std::make_unique<state>(ctx, g, options)) {
} catch (...) {
  detail::rethrow("bfs");
}
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>& bfs_plan<I, O, Space>::operator=(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::~bfs_plan() = default;

template <index_type I, index_type O, class Space>
void bfs_plan<I, O, Space>::run(I source) try {
  state_->run(source);
} catch (...) {
  detail::rethrow("bfs");
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> bfs_plan<I, O, Space>::levels() const noexcept {
  return state_->levels_found();
}
template <index_type I, index_type O, class Space>
span<const I, Space> bfs_plan<I, O, Space>::parents() const noexcept {
  return std::as_const(state_->parents).view();
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::reached() const noexcept {
  return state_->reached;
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, host> bfs_plan<I, O, Space>::level_sizes() const noexcept {
  return state_->level_sizes;
}
template <index_type I, index_type O, class Space>
bfs_algorithm bfs_plan<I, O, Space>::algorithm() const noexcept {
  return state_->choice.algorithm;
}
template <index_type I, index_type O, class Space>
const std::string& bfs_plan<I, O, Space>::reason() const noexcept {
  return state_->choice.reason;
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::workspace_bytes() const noexcept {
  return state_->workspace_bytes();
}

template <index_type I, index_type O, class Space>
bfs_result<I, Space> bfs(const context<Space>& ctx, const graph_view<I, O, Space>& g, std::int64_t source,
                         const bfs_options& options) try {
  return detail::bfs_once(ctx, g, source, options);
} catch (...) {
  detail::rethrow("bfs");
}

#define INSTANTIATE(I, O)                                                                                   \
  template class bfs_plan<I, O, device>;                                                                    \
  template bfs_result<I, device> bfs<I, O, device>(const context<device>&, const graph_view<I, O, device>&, \
                                                   std::int64_t, const bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

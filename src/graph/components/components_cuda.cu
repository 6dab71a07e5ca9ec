// Connected components on the device: the choice of executor, and the executor of weak components. A run is a fixed
// sequence of kernels (cuda_weak.cuh); the last writes the number of components to host memory, and only count() waits.
//
// Cost, H200: reads the offsets, one sector per vertex, and the parents about three times, which the L2 cache holds for
// some million vertices; also the edges of vertices outside the largest tree, or all edges of a directed graph without
// in-edges. Memory, I = int32: 8 bytes per vertex, labels included, 4 more for dense labels, and 16 per 128 edges.
#include "core/cuda.cuh"
#include "core/device/early_launch.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/components/cuda_numbers.cuh"
#include "graph/components/cuda_weak.cuh"
#include "graph/components/executor.hpp"

#include <algorithm>

namespace spargo::detail::components {

namespace {

template <class I, class O>
class weak_executor final : public executor<I, device> {
  using tuning = cuda_weak_tuning;

 public:
  weak_executor(const context<device>& ctx, const graph_view<I, O, device>& g, components_labels wanted,
                bool ghosts = false)
      : ctx_(ctx), g_(g), n_(g.vertices()), ghosts_(ghosts) {
    labels_ = {ctx, n_};
    listed_ = {ctx, n_};
    if (g.direction == direction_kind::undirected) isolated_ = {ctx, div_up(n_, std::int64_t{warp_size})};
    if (wanted == components_labels::dense) numbers_ = {ctx, n_};
    // Vertices with that many edges have at most twice as many segments as full ones.
    segments_ = {ctx, 2 * (g.out.nnz() / tuning::segment_edges) + 1};
    control_ = {ctx, 1};
    const weak_control fresh;
    copy_to_device(ctx, &fresh, control_.data(), sizeof fresh);
    ctx.synchronize();
    report_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    report_[0] = {};
  }

  void run() override {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    const bool undirected = g_.direction == direction_kind::undirected;
    const bool skips = undirected || g_.has_in_edges();
    const weak_edges<I, O> out{g_.out.offsets.data(), g_.out.indices.data()};
    I* const parent = labels_.data();
    I* const listed = skips ? listed_.data() : nullptr;
    weak_control* const control = control_.data();
    launch_kernel(ctx_, {blocks(cuda_start_tuning::chunk), cuda_start_tuning::block}, start_kernel<I, O>, n_, out,
                  weak_start{isolated_.data(), reads_one_sector()}, parent, listed_.data(), control);
    for (const int part : {0, 1}) {
      launch_early(ctx_, list_blocks(), connect_kernel<I, O>, n_, out, parent, listed_.data(), control, part);
    }
    launch_early(ctx_, list_blocks(), flatten_kernel<I, O>, n_, out, parent, listed_.data(), control);
    launch_early(ctx_, list_blocks(), settle_kernel<I, O>, n_, out, parent, listed_.data(), control);
    if (ghosts_) launch_early(ctx_, list_blocks(), join_last_kernel<I, O>, n_, out, parent);
    if (skips) {
      launch_early(ctx_, {1 + blocks(tuning::first_vertices * tuning::samples), tuning::samples}, sample_kernel<I>, n_,
                   parent, control);
    }
    launch_early(ctx_, {blocks(tuning::block * tuning::labelled), tuning::block}, label_kernel<I>, n_, parent,
                 isolated_.data(), listed, control);
    if (skips) {
      join_rest(out, 0);
      if (!undirected) join_rest({g_.in.offsets.data(), g_.in.indices.data()}, 1);
    } else if (const std::int64_t nnz = g_.out.nnz(); nnz > 0) {
      const std::int64_t tiles = div_up(nnz, std::int64_t{tuning::block} * tuning::edges_in_flight);
      launch_early(ctx_, {tiles, tuning::block}, join_all_kernel<I, O>, n_, nnz, out, parent);
    }
    launch_early(ctx_, list_blocks(), finish_kernel<I>, n_, parent, isolated_.data(), listed, control, report_.data());
    if (numbers_.empty()) return;
    mark_roots<I>(ctx_, parent, numbers_);
    number_roots<I>(ctx_, parent, numbers_);
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return labels_.view(); }
  [[nodiscard]] std::int64_t count() const override {
    ctx_.synchronize();
    return static_cast<std::int64_t>(report_[0].count);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return (labels_.size() + listed_.size() + numbers_.size()) * std::int64_t{sizeof(I)} +
           isolated_.size() * std::int64_t{sizeof(unsigned)} +
           segments_.size() * std::int64_t{sizeof(weak_segment<I>)} + std::int64_t{sizeof(weak_control)};
  }

  [[nodiscard]] std::int64_t skipped() const override {
    ctx_.synchronize();
    return report_[0].skipped;
  }
  void join_skipped() override {
    const std::int64_t member = skipped();
    if (member < 0) return;
    const device_guard guard(ctx_);
    launch_kernel(ctx_, list_blocks(), list_tree_kernel<I>, n_, labels_.data(), static_cast<I>(member), listed_.data(),
                  control_.data());
    join_rest({g_.out.offsets.data(), g_.out.indices.data()}, 0);
    launch_early(ctx_, list_blocks(), finish_kernel<I>, n_, labels_.data(), isolated_.data(), nullptr, control_.data(),
                 report_.data());
  }

 private:
  [[nodiscard]] std::int64_t blocks(int vertices_per_block) const { return div_up(n_, vertices_per_block); }
  // Grid for lists whose sizes only the device knows.
  [[nodiscard]] launch_shape list_blocks() const {
    const std::int64_t per_sm = ctx_.properties().max_threads_per_multiprocessor / tuning::block;
    return {std::min<std::int64_t>(blocks(tuning::block), per_sm * ctx_.properties().multiprocessors), tuning::block};
  }
  [[nodiscard]] bool reads_one_sector() const {
    return g_.out.nnz() >= n_ * (cuda_start_tuning::sector / std::int64_t{sizeof(I)});
  }

  void join_rest(const weak_edges<I, O>& edges, int pass) {
    // In an undirected graph the first two kernels have joined a vertex of degree 1 with its neighbour. In a directed
    // one it may be under another vertex of its chunk, by that vertex's edge.
    const std::int64_t joined = g_.direction == direction_kind::undirected ? 1 : 0;
    launch_early(ctx_, list_blocks(), join_kernel<I, O>, edges, labels_.data(), listed_.data(), control_.data(),
                 segments_.data(), pass, joined);
    if (segments_.size() == 1) return;  // no row is that long
    launch_early(ctx_, {blocks_for(ctx_, segments_.size(), 1), tuning::block}, join_segments_kernel<I, O>, edges,
                 labels_.data(), control_.data(), segments_.data(), pass);
  }

  context<device> ctx_;
  graph_view<I, O, device> g_;
  std::int64_t n_;
  bool ghosts_;
  array<I, device> labels_;
  array<I, device> listed_;           // roots with neighbours, then vertices outside the largest tree
  array<unsigned, device> isolated_;  // undirected only: bits of vertices without edges
  array<I, device> numbers_;          // for dense labels
  array<weak_segment<I>, device> segments_;
  array<weak_control, device> control_;
  array<weak_report, host> report_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   components_algorithm algorithm, components_labels labels) {
  if (algorithm == components_algorithm::forward_backward) return make_strong_executor<I, O>(ctx, g, labels);
  return std::make_unique<weak_executor<I, O>>(ctx, g, labels);
}

template <class I, class O>
std::unique_ptr<executor<I, device>> make_rank_executor(const context<device>& ctx, const graph_view<I, O, device>& g) {
  return std::make_unique<weak_executor<I, O>>(ctx, g, components_labels::smallest_vertex, true);
}
template std::unique_ptr<executor<std::int32_t, device>> make_rank_executor(
    const context<device>&, const graph_view<std::int32_t, std::int64_t, device>&);

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              components_algorithm, components_labels);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::components

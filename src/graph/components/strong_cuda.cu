// Strong components on the device: the executor. A run is two searches, three kernels and a copy of the number of
// components; only count() waits.
//
// Cost: O(vertices + edges) for the searches and once for the vertices they leave. A round of colouring costs the edges
// of the vertices whose numbers have risen; on a path or cycle the number of rounds is expected to grow with the
// logarithm of its length (H200, a path of 10^6 vertices: 52 ms). H200, R-MAT 22 of degree 16, directed: 0.48 ms, of
// which the searches take 0.38; they leave 3,430 vertices to be trimmed. Memory besides the searches', I = int32: 44
// bytes per vertex, labels included, 4 more for dense labels, 32 per 512 edges (I = int64: 84, 8 and 32); and the
// transpose where in-edges are missing. Building a plan reads the offsets to choose a hub, and synchronizes.
#include "core/bytes_of.hpp"
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/bfs/executor.hpp"
#include "graph/components/cuda_colouring.cuh"
#include "graph/components/cuda_numbers.cuh"
#include "graph/components/executor.hpp"

#include <spargo/formats/convert.hpp>

#include <algorithm>
#include <cmath>

namespace spargo::detail::components {

namespace {

// Depth limit of a search: on a path a level takes 1.4 us (H200), longer than colouring a vertex; grids, roads: fewer.
std::int64_t most_levels(std::int64_t vertices) {
  return 256 + static_cast<std::int64_t>(4 * std::sqrt(static_cast<double>(vertices)));
}

template <class I, class O>
class strong_executor final : public executor<I, device> {
  using tuning = cuda_strong_tuning;
  using edges_view = csr_pattern_view<I, O, device>;

 public:
  strong_executor(const context<device>& ctx, const graph_view<I, O, device>& g, components_labels wanted)
      : ctx_(ctx), n_(g.vertices()), out_(g.out), in_(in_edges_of(g)) {
    count_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    count_[0] = 0;
    s_.root = memory_.take<I>(n_);
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    if (wanted == components_labels::dense) numbers_ = {ctx, n_};
    allocate();
    find_hub();
    const bfs_options options{.output = bfs_output::levels, .max_depth = most_levels(n_)};
    forward_ = search({out_, in_, direction_kind::directed}, options);
    backward_ = search({in_, out_, direction_kind::directed}, options);
    s_.reached = forward_->levels().data();
    s_.reaching = backward_->levels().data();
    s_.reached_left = forward_->unexpanded();
    s_.reaching_left = backward_->unexpanded();
    settle_ = {ctx_, settle_kernel<I, O>, tuning::block, "components", 0, tuning::blocks};
  }

  void run() override {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    fill_zero(ctx_, span<strong_control, device>(s_.control, 1));
    forward_->enqueue(s_.pivot);
    backward_->enqueue(s_.pivot);
    constexpr int block = tuning::split_block;
    launch_kernel(ctx_, {div_up(n_, std::int64_t{block * tuning::split_vertices}), block}, split_kernel<I, O>, s_);
    settle_.launch(ctx_, s_);
    launch_kernel(ctx_, one_thread_each(n_, block), label_components_kernel<I, O>, s_, numbers_.data());
    if (!numbers_.empty()) number_roots<I>(ctx_, s_.root, numbers_);
    copy_to_host(ctx_, &s_.control->roots, count_.data(), sizeof(count64));
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return {s_.root, n_}; }
  [[nodiscard]] std::int64_t count() const override {
    ctx_.synchronize();
    return static_cast<std::int64_t>(count_[0]);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    std::int64_t bytes = memory_.bytes() + bytes_of(numbers_, transposed_.offsets(), transposed_.indices());
    if (forward_ != nullptr) bytes += forward_->workspace_bytes() + backward_->workspace_bytes();
    return bytes;
  }

 private:
  [[nodiscard]] edges_view in_edges_of(const graph_view<I, O, device>& g) {
    if (g.has_in_edges()) return g.in;
    if (g.direction == direction_kind::undirected) return g.out;
    transposed_ = transpose(ctx_, csr_view<const pattern, I, O, device>{{g.out}, {}});
    return transposed_.view();
  }

  void allocate() {
    s_.n = n_;
    s_.out_edges = {out_.offsets.data(), out_.indices.data()};
    s_.in_edges = {in_.offsets.data(), in_.indices.data()};
    s_.order = shuffled_ids<I>(n_);
    s_.least = memory_.take<I>(n_);
    s_.part = memory_.take<strong_part<I>>(n_);
    s_.member = memory_.take<I>(n_);
    s_.in = memory_.take<I>(n_);
    s_.out = memory_.take<I>(n_);
    s_.stamp = memory_.take<unsigned>(n_);
    for (I*& list : s_.lists) list = memory_.take<I>(n_);
    s_.out_hubs = memory_.take<strong_hub<I>>(out_.nnz() / tuning::hub_edges + 1);
    s_.in_hubs = memory_.take<strong_hub<I>>(in_.nnz() / tuning::hub_edges + 1);
    s_.control = memory_.take<strong_control>(1);
  }

  // Any vertex is valid; one with many paths through it is likely to be in the largest component.
  void find_hub() {
    const unsigned parts = blocks_for(ctx_, n_, tuning::split_block);
    array<strong_candidate, device> candidates(ctx_, parts);
    launch_kernel(ctx_, {parts, tuning::split_block}, find_hub_kernel<I, O>, n_, s_.out_edges, s_.in_edges,
                  candidates.data());
    const auto found = to_host(ctx_, candidates.view());
    const auto best = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.paths < b.paths || (a.paths == b.paths && a.vertex > b.vertex);
    });
    s_.pivot = static_cast<I>(best->vertex);
  }

  [[nodiscard]] auto search(const graph_view<I, O, device>& g, const bfs_options& options) const {
    return bfs::make_executor<I, O>(ctx_, g, bfs::choose(bfs::backend_kind::device, bfs::facts_of(g), options),
                                    options);
  }

  context<device> ctx_;
  std::int64_t n_;
  csr_matrix<pattern, I, O, device> transposed_;  // empty unless in-edges are missing
  edges_view out_, in_;
  strong_search<I, O> s_{};
  plan_memory memory_{ctx_};
  array<I, device> numbers_;  // for dense labels
  array<count64, host> count_;
  std::unique_ptr<bfs::device_search<I>> forward_, backward_;
  cooperative_kernel<strong_search<I, O>> settle_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_strong_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                          components_labels labels) {
  return std::make_unique<strong_executor<I, O>>(ctx, g, labels);
}

#define INSTANTIATE(I, O)                                             \
  template std::unique_ptr<executor<I, device>> make_strong_executor( \
      const context<device>&, const graph_view<I, O, device>&, components_labels);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::components

// Connected components on the device: the choice of executor, and that of weak ones. A run is some kernels in a row
// (cuda_weak.cuh) and a copy of the number of components; nobody waits for it but count().
//
// Cost, H200: the offsets, one sector a vertex and about five passes over the parents, which the L2 cache holds up to
// some million vertices; edges of vertices outside the largest tree besides, and all edges of a directed graph without
// in-edges. Memory, I = int32: 4 bytes a vertex, labels included, 4 more for dense labels, and 16 for each 2048 edges.
#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/components/cuda_numbers.cuh"
#include "graph/components/cuda_weak.cuh"
#include "graph/components/executor.hpp"

#include <cstddef>

namespace spargo::detail::components {

namespace {

template <class I, class O>
class weak_executor final : public executor<I, device> {
  using tuning = cuda_weak_tuning;

 public:
  weak_executor(const context<device>& ctx, const graph_view<I, O, device>& g, components_labels wanted)
      : ctx_(ctx), g_(g), n_(g.vertices()) {
    labels_ = {ctx, n_};
    if (wanted == components_labels::dense) numbers_ = {ctx, n_};
    // A vertex of so many edges has fewer segments than twice what its edges fill.
    segments_ = {ctx, 2 * (g.out.nnz() / tuning::segment_edges) + 1};
    control_ = {ctx, 1};
    roots_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    roots_[0] = 0;
  }

  void run() override {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    I* const parent = labels_.data();
    const weak_edges<I, O> out{g_.out.offsets.data(), g_.out.indices.data()};
    const bool undirected = g_.direction == direction_kind::undirected;
    start_kernel<<<blocks(tuning::chunk), tuning::start_block, 0, ctx_.stream()>>>(n_, out, parent, control_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    connect_kernel<<<blocks(tuning::block), tuning::block, 0, ctx_.stream()>>>(n_, out, parent);
    SPARGO_CUDA_TRY(cudaGetLastError());
    if (undirected || g_.has_in_edges()) {
      draw_kernel<<<1, tuning::draws, 0, ctx_.stream()>>>(n_, parent, control_.data());
      SPARGO_CUDA_TRY(cudaGetLastError());
      join_rest(out, 0);
      if (!undirected) join_rest({g_.in.offsets.data(), g_.in.indices.data()}, 1);
    } else if (g_.out.nnz() > 0) {
      join_all(out);
    }
    put_under_roots(&control_.data()->roots, numbers_.data());
    if (!numbers_.empty()) number_roots<I>(ctx_, parent, numbers_);
    const auto* const roots = reinterpret_cast<const unsigned char*>(control_.data()) + offsetof(weak_control, roots);
    copy_to_host(ctx_, roots, roots_.data(), sizeof(count64));
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return labels_.view(); }
  [[nodiscard]] std::int64_t count() const override {
    ctx_.synchronize();
    return static_cast<std::int64_t>(roots_[0]);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return (labels_.size() + numbers_.size()) * std::int64_t{sizeof(I)} +
           segments_.size() * std::int64_t{sizeof(weak_segment<I>)} + std::int64_t{sizeof(weak_control)};
  }

 private:
  [[nodiscard]] unsigned blocks(int vertices_per_block) const {
    return static_cast<unsigned>(div_up(n_, std::int64_t{vertices_per_block}));
  }

  void put_under_roots(count64* roots, I* is_root) {
    label_kernel<<<blocks(tuning::block * tuning::labelled), tuning::block, 0, ctx_.stream()>>>(n_, labels_.data(),
                                                                                                roots, is_root);
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  void join_all(const weak_edges<I, O>& edges) {
    put_under_roots(nullptr, nullptr);
    const std::int64_t nnz = g_.out.nnz();
    const auto tiles = static_cast<unsigned>(div_up(nnz, std::int64_t{tuning::block} * tuning::edges_in_flight));
    join_all_kernel<<<tiles, tuning::block, 0, ctx_.stream()>>>(n_, nnz, edges, labels_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  void join_rest(const weak_edges<I, O>& edges, int pass) {
    join_kernel<<<blocks(tuning::block), tuning::block, 0, ctx_.stream()>>>(n_, edges, labels_.data(), control_.data(),
                                                                            segments_.data(), pass);
    SPARGO_CUDA_TRY(cudaGetLastError());
    if (segments_.size() == 1) return;  // no vertex has as many edges
    join_segments_kernel<<<blocks_for(ctx_, segments_.size(), 1), tuning::block, 0, ctx_.stream()>>>(
        edges, labels_.data(), control_.data(), segments_.data(), pass);
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  context<device> ctx_;
  graph_view<I, O, device> g_;
  std::int64_t n_;
  array<I, device> labels_;
  array<I, device> numbers_;  // where dense labels are wanted
  array<weak_segment<I>, device> segments_;
  array<weak_control, device> control_;
  array<count64, host> roots_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   components_algorithm algorithm, components_labels labels) {
  if (algorithm == components_algorithm::forward_backward) return make_strong_executor<I, O>(ctx, g, labels);
  return std::make_unique<weak_executor<I, O>>(ctx, g, labels);
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              components_algorithm, components_labels);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::components

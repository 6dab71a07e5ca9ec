// Strong components on the device: the executor. A run is two searches, three kernels and a copy of the number of
// components; nobody waits for it but count().
//
// Cost: O(vertices + edges) for the searches and once for what they leave; a round of colouring costs the edges of the
// vertices whose numbers have risen, and the rounds on a path or a cycle are expected to grow with the logarithm of its
// length (H200, a path of 10^6 vertices: 52 ms). H200, R-MAT 22 of degree 16, directed: 0.48 ms, of which the searches
// take 0.38; they leave 3,430 vertices to be trimmed.
// Memory besides the searches', I = int32: 44 bytes a vertex, labels included, 4 more for dense labels, 32 for each 512
// edges (I = int64: 84, 8 and 32); and the transpose where in-edges are missing. Building a plan reads the offsets for
// a hub, and synchronises.
#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/bfs/executor.hpp"
#include "graph/components/cuda_colouring.cuh"
#include "graph/components/cuda_numbers.cuh"
#include "graph/components/executor.hpp"

#include <spargo/formats/convert.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace spargo::detail::components {

namespace {

template <class T>
std::int64_t bytes_of(const array<T, device>& a) {
  return a.size() * static_cast<std::int64_t>(sizeof(T));
}

// A search gives up after so many levels: a path costs 1.4 microseconds a level (H200), and less for a vertex when it
// is coloured. Grids and road networks have fewer.
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
    root_ = {ctx, n_};
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
    prepare_launch();
  }

  void run() override {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    fill_zero(ctx_, control_.view());
    forward_->enqueue(s_.pivot);
    backward_->enqueue(s_.pivot);
    split_kernel<<<blocks(tuning::split_block * tuning::split_vertices), tuning::split_block, 0, ctx_.stream()>>>(s_);
    SPARGO_CUDA_TRY(cudaGetLastError());
    void* arguments[] = {&s_};
    SPARGO_CUDA_TRY(
        cudaLaunchCooperativeKernel(settle(), dim3(settle_blocks_), dim3(tuning::block), arguments, 0, ctx_.stream()));
    label_components_kernel<<<blocks(tuning::split_block), tuning::split_block, 0, ctx_.stream()>>>(s_,
                                                                                                    numbers_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    if (!numbers_.empty()) number_roots<I>(ctx_, root_.data(), numbers_);
    const auto* const roots = reinterpret_cast<const unsigned char*>(control_.data()) + offsetof(strong_control, roots);
    copy_to_host(ctx_, roots, count_.data(), sizeof(count64));
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return root_.view(); }
  [[nodiscard]] std::int64_t count() const override {
    ctx_.synchronize();
    return static_cast<std::int64_t>(count_[0]);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    std::int64_t bytes = transposed_.offsets().size() * std::int64_t{sizeof(O)} +
                         transposed_.nnz() * std::int64_t{sizeof(I)} + bytes_of(root_) + bytes_of(numbers_) +
                         bytes_of(least_) + bytes_of(part_) + bytes_of(home_) + bytes_of(in_numbers_) +
                         bytes_of(out_numbers_) + bytes_of(stamp_) + bytes_of(out_hubs_) + bytes_of(in_hubs_) +
                         bytes_of(control_);
    for (const auto& list : lists_) bytes += bytes_of(list);
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

  [[nodiscard]] unsigned blocks(int vertices_per_block) const {
    return static_cast<unsigned>(div_up(n_, std::int64_t{vertices_per_block}));
  }
  [[nodiscard]] static const void* settle() { return reinterpret_cast<const void*>(&settle_kernel<I, O>); }

  void allocate() {
    least_ = {ctx_, n_};
    part_ = {ctx_, n_};
    home_ = {ctx_, n_};
    in_numbers_ = {ctx_, n_};
    out_numbers_ = {ctx_, n_};
    stamp_ = {ctx_, n_};
    for (auto& list : lists_) list = {ctx_, n_};
    out_hubs_ = {ctx_, out_.nnz() / tuning::hub_edges + 1};
    in_hubs_ = {ctx_, in_.nnz() / tuning::hub_edges + 1};
    control_ = {ctx_, 1};
    s_.n = n_;
    s_.out_edges = {out_.offsets.data(), out_.indices.data()};
    s_.in_edges = {in_.offsets.data(), in_.indices.data()};
    s_.order = shuffled_ids<I>(n_);
    s_.root = root_.data();
    s_.least = least_.data();
    s_.part = part_.data();
    s_.home = home_.data();
    s_.in = in_numbers_.data();
    s_.out = out_numbers_.data();
    s_.stamp = stamp_.data();
    for (int k = 0; k < 3; ++k) s_.lists[k] = lists_[k].data();
    s_.out_hubs = out_hubs_.data();
    s_.in_hubs = in_hubs_.data();
    s_.control = control_.data();
  }

  // Any vertex will do; one with many ways through it is likely to be in the largest component.
  void find_hub() {
    const unsigned parts = blocks_for(ctx_, n_, tuning::split_block);
    array<strong_candidate, device> there(ctx_, parts);
    find_hub_kernel<<<parts, tuning::split_block, 0, ctx_.stream()>>>(n_, s_.out_edges, s_.in_edges, there.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    std::vector<strong_candidate> found(parts);
    copy_to_host(ctx_, there.data(), found.data(), found.size() * sizeof(strong_candidate));
    ctx_.synchronize();
    const auto best = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.ways < b.ways || (a.ways == b.ways && a.vertex > b.vertex);
    });
    s_.pivot = static_cast<I>(best->vertex);
  }

  [[nodiscard]] auto search(const graph_view<I, O, device>& g, const bfs_options& options) const {
    return bfs::make_executor<I, O>(ctx_, g, bfs::choose(bfs::backend_kind::device, bfs::facts_of(g), options),
                                    options);
  }

  // The grid's barrier needs all blocks to be resident.
  void prepare_launch() {
    int a_multiprocessor = 0;
    SPARGO_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a_multiprocessor, settle(), tuning::block, 0));
    settle_blocks_ =
        static_cast<unsigned>(std::min(a_multiprocessor, tuning::blocks) * ctx_.properties().multiprocessors);
    if (settle_blocks_ == 0) throw error(error_code::unsupported, "components: no block fits a multiprocessor");
  }

  context<device> ctx_;
  std::int64_t n_;
  csr_matrix<pattern, I, O, device> transposed_;  // where in-edges are missing
  edges_view out_, in_;
  strong_search<I, O> s_{};
  array<I, device> root_;
  array<I, device> numbers_;  // where dense labels are wanted
  array<I, device> least_, home_, in_numbers_, out_numbers_;
  array<strong_part<I>, device> part_;
  array<unsigned, device> stamp_;
  array<I, device> lists_[3];
  array<strong_hub<I>, device> out_hubs_, in_hubs_;
  array<strong_control, device> control_;
  array<count64, host> count_;
  std::unique_ptr<bfs::device_search<I>> forward_, backward_;
  unsigned settle_blocks_ = 0;
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

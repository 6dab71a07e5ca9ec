// Batches of the device multi-source search: workspace and launches, for either sink.
#pragma once

#include "core/bytes_of.hpp"
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "graph/multi_bfs/cuda_kernel.cuh"

#include <algorithm>
#include <tuple>

namespace spargo::detail::multi_bfs {

// Kernels for each of the widths Ws, in words per vertex.
template <class I, class O, class Sink, int... Ws>
class device_batches {
 public:
  device_batches(const context<device>& ctx, const graph_view<I, O, device>& g, const multi_bfs::choice& chosen)
      : ctx_(ctx), vertices_(g.vertices()), choice_(chosen), out_(g.out) {
    const device_guard guard(ctx_);
    if (choice_.direction != bfs_direction::push) in_ = bfs::pull_edges(g);
    const std::int64_t words = vertices_ * choice_.words();
    seen_ = {ctx_, words};
    other_ = {ctx_, words};
    front_ = {ctx_, words};
    marks_ = {ctx_, div_up(vertices_, warp_size)};
    queue_ = {ctx_, vertices_};
    next_queue_ = {ctx_, vertices_};
    push_chunks_ = {ctx_, 2 * (out_.nnz() / cuda_tuning::push_chunk)};
    sources_ = {ctx_, choice_.batch()};
    const context<host> pinned({.threads = 1, .resource = &pinned_host_resource()});
    pinned_sources_ = {pinned, choice_.batch()};
    pinned_counts_ = {pinned, choice_.batch()};
    cut_hubs();
    with_width([&]<int W>() {
      control_ = {ctx_, static_cast<std::int64_t>(sizeof(control_block<W>))};
      kernel<W>() = {ctx_, search_kernel<I, O, W, Sink>, cuda_tuning::block, "multi_bfs"};
    });
  }

  [[nodiscard]] const context<device>& ctx() const noexcept { return ctx_; }

  // One batch, of at most choice.batch() sources; synchronizes. complete(search&) sets the results.
  template <class Complete>
  void run(span<const I, host> batch, span<multi_bfs_counts, host> counts, Complete&& complete) {
    with_width([&]<int W>() { run_wide<W>(batch, counts, complete); });
  }

  // The sources of the last batch, on the device.
  [[nodiscard]] span<const I, device> sources(std::int64_t count) const { return sources_.view().subspan(0, count); }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    return bytes_of(seen_, other_, front_, marks_, queue_, next_queue_, push_chunks_, pull_chunks_, control_, sources_);
  }

 private:
  template <class F>
  void with_width(F&& f) {
    const int words = choice_.words();
    ((words == Ws ? f.template operator()<Ws>() : void()), ...);
  }

  // Cuts rows that several warps pull into chunks.
  void cut_hubs() {
    pull_chunks_ = {ctx_, 2 * (in_.nnz() / cuda_tuning::pull_chunk)};
    pull_chunk_count_ = {ctx_, 1};
    fill_zero(ctx_, pull_chunk_count_.view());
    if (pull_chunks_.empty()) return;
    launch_kernel(ctx_, one_thread_each(vertices_, 256), cut_rows_kernel<cuda_tuning::pull_chunk, I, O>,
                  in_.offsets.data(), vertices_, pull_chunks_.data(), pull_chunk_count_.data());
  }

  template <int W>
  [[nodiscard]] auto& kernel() {
    return std::get<cooperative_kernel<search<I, O, W, Sink>>>(kernels_);
  }

  template <int W>
  [[nodiscard]] search<I, O, W, Sink> search_of(std::int64_t batch) {
    using words = search_words<W>;
    search<I, O, W, Sink> s{};
    s.out_offsets = out_.offsets.data();
    s.out_indices = out_.indices.data();
    s.in_offsets = in_.offsets.data();
    s.in_indices = in_.indices.data();
    s.n = vertices_;
    s.edges = out_.nnz();
    s.seen = reinterpret_cast<words*>(seen_.data());
    s.other = reinterpret_cast<words*>(other_.data());
    s.front = reinterpret_cast<words*>(front_.data());
    s.marks = marks_.data();
    s.queue = queue_.data();
    s.next_queue = next_queue_.data();
    s.push_chunks = push_chunks_.data();
    s.pull_chunks = pull_chunks_.data();
    s.pull_chunk_count = pull_chunk_count_.data();
    s.control = reinterpret_cast<control_block<W>*>(control_.data());
    s.sources = sources_.data();
    s.source_count = static_cast<int>(batch);
    for (std::int64_t k = 0; k < batch; ++k) s.full.w[k / 64] |= count64{1} << (k % 64);
    s.allowed = choice_.direction;
    return s;
  }

  template <int W, class Complete>
  void run_wide(span<const I, host> batch, span<multi_bfs_counts, host> counts, Complete&& complete) {
    std::copy(batch.begin(), batch.end(), pinned_sources_.begin());
    copy<I>(ctx_, std::as_const(pinned_sources_).view(), sources_.view());
    fill_zero(ctx_, seen_.view());
    fill_zero(ctx_, other_.view());
    fill_zero(ctx_, marks_.view());
    fill_zero(ctx_, control_.view());
    search<I, O, W, Sink> s = search_of<W>(batch.size());
    complete(s);
    kernel<W>().launch(ctx_, s);
    copy_to_host(ctx_, s.control->counts, pinned_counts_.data(), sizeof(s.control->counts));
    ctx_.synchronize();
    std::copy_n(pinned_counts_.begin(), batch.size(), counts.begin());
  }

  context<device> ctx_;
  std::int64_t vertices_;
  multi_bfs::choice choice_;
  csr_pattern_view<I, O, device> out_;
  csr_pattern_view<I, O, device> in_;
  std::tuple<cooperative_kernel<search<I, O, Ws, Sink>>...> kernels_;
  array<count64, device> seen_;  // `seen`, `other` and `front`: words() per vertex
  array<count64, device> other_;
  array<count64, device> front_;
  array<unsigned, device> marks_;
  array<I, device> queue_;
  array<I, device> next_queue_;
  array<edge_chunk<I>, device> push_chunks_;
  array<edge_chunk<I>, device> pull_chunks_;
  array<count64, device> pull_chunk_count_;
  array<unsigned char, device> control_;
  array<I, device> sources_;                     // sources of the batch
  array<I, host> pinned_sources_;                // pinned
  array<multi_bfs_counts, host> pinned_counts_;  // pinned
};

}  // namespace spargo::detail::multi_bfs

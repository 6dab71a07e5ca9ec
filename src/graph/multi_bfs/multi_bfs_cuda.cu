// Device multi-source BFS: the executor. One cooperative kernel runs a batch; the host synchronizes once, at the end.
//
// Cost: a pulled level reads at most the in-edges of unfinished vertices and one sector for each, mostly from the L2
// cache; a pushed level the out-edges of its frontier. Workspace: 24 W + 2 sizeof(I) + 1/8 bytes per vertex, 32 W more
// with levels (besides the result), sizeof(I) / 56 bytes per edge. Source: Then et al., VLDB 2015; direction: Beamer,
// Asanovic, Patterson, SC 2012.
#include "core/bytes_of.hpp"
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/multi_bfs/cuda_kernel.cuh"
#include "graph/multi_bfs/executor.hpp"

#include <algorithm>
#include <tuple>

namespace spargo::detail::multi_bfs {

namespace {

template <class I, class O>
struct device_executor final : executor<I, device> {
  context<device> ctx;
  std::int64_t vertices;
  multi_bfs::choice choice;
  csr_pattern_view<I, O, device> out;
  csr_pattern_view<I, O, device> in;
  std::tuple<cooperative_kernel<search<I, O, 1>>, cooperative_kernel<search<I, O, 4>>> kernels;  // by words per vertex
  array<std::int32_t, device> level_of;
  array<count64, device> seen;  // `seen`, `other` and `front`: words() per vertex
  array<count64, device> other;
  array<count64, device> front;
  array<count64, device> planes;
  array<unsigned, device> marks;
  array<I, device> queue;
  array<I, device> next_queue;
  array<edge_chunk<I>, device> push_chunks;
  array<edge_chunk<I>, device> pull_chunks;
  array<count64, device> pull_chunk_count;
  array<unsigned char, device> control;
  array<I, device> device_sources;              // sources of the batch
  array<I, host> pinned_sources;                // pinned
  array<multi_bfs_counts, host> pinned_counts;  // pinned
  std::vector<multi_bfs_counts> counted;
  std::int64_t sources = 0;  // of the last run

  device_executor(const context<device>& c, const graph_view<I, O, device>& g, const multi_bfs::choice& chosen,
                  std::int64_t most, multi_bfs_output output)
      : ctx(c), vertices(g.vertices()), choice(chosen), out(g.out) {
    const device_guard guard(ctx);
    if (choice.direction != bfs_direction::push) in = bfs::pull_edges(g);
    const std::int64_t words = vertices * choice.words();
    if (output == multi_bfs_output::counts_and_levels) {
      level_of = {ctx, static_cast<std::int64_t>(checked_bytes(vertices, static_cast<std::size_t>(most)))};
      planes = {ctx, cuda_tuning::planes * words};
      fill_zero(ctx, planes.view());
    }
    seen = {ctx, words};
    other = {ctx, words};
    front = {ctx, words};
    marks = {ctx, div_up(vertices, warp_size)};
    queue = {ctx, vertices};
    next_queue = {ctx, vertices};
    push_chunks = {ctx, 2 * (out.nnz() / cuda_tuning::push_chunk)};
    device_sources = {ctx, choice.batch()};
    const context<host> pinned({.threads = 1, .resource = &pinned_host_resource()});
    pinned_sources = {pinned, choice.batch()};
    pinned_counts = {pinned, choice.batch()};
    counted.reserve(static_cast<std::size_t>(most));
    cut_hubs();
    if (choice.words() == 1) {
      prepare_launch<1>();
    } else {
      prepare_launch<4>();
    }
  }

  // Cuts rows that several warps pull into chunks.
  void cut_hubs() {
    pull_chunks = {ctx, 2 * (in.nnz() / cuda_tuning::pull_chunk)};
    pull_chunk_count = {ctx, 1};
    fill_zero(ctx, pull_chunk_count.view());
    if (pull_chunks.empty()) return;
    launch_kernel(ctx, one_thread_each(vertices, 256), cut_rows_kernel<cuda_tuning::pull_chunk, I, O>,
                  in.offsets.data(), vertices, pull_chunks.data(), pull_chunk_count.data());
  }

  template <int W>
  void prepare_launch() {
    control = {ctx, static_cast<std::int64_t>(sizeof(control_block<W>))};
    kernel<W>() = {ctx, search_kernel<I, O, W>, cuda_tuning::block, "multi_bfs"};
  }

  template <int W>
  [[nodiscard]] auto& kernel() {
    return std::get<cooperative_kernel<search<I, O, W>>>(kernels);
  }

  template <int W>
  [[nodiscard]] search<I, O, W> search_of(std::int64_t batch, std::int64_t first) {
    using words = search_words<W>;
    search<I, O, W> s{};
    s.out_offsets = out.offsets.data();
    s.out_indices = out.indices.data();
    s.in_offsets = in.offsets.data();
    s.in_indices = in.indices.data();
    s.n = vertices;
    s.edges = out.nnz();
    s.seen = reinterpret_cast<words*>(seen.data());
    s.other = reinterpret_cast<words*>(other.data());
    s.front = reinterpret_cast<words*>(front.data());
    s.marks = marks.data();
    s.queue = queue.data();
    s.next_queue = next_queue.data();
    s.push_chunks = push_chunks.data();
    s.pull_chunks = pull_chunks.data();
    s.pull_chunk_count = pull_chunk_count.data();
    s.control = reinterpret_cast<control_block<W>*>(control.data());
    s.planes = planes.data();
    s.levels = level_of.empty() ? nullptr : level_of.data() + first;
    s.stride = sources;
    s.sources = device_sources.data();
    s.source_count = static_cast<int>(batch);
    for (std::int64_t k = 0; k < batch; ++k) s.full.w[k / 64] |= count64{1} << (k % 64);
    s.allowed = choice.direction;
    return s;
  }

  template <int W>
  void run_batch(span<const I, host> batch, std::int64_t first) {
    std::copy(batch.begin(), batch.end(), pinned_sources.begin());
    copy<I>(ctx, std::as_const(pinned_sources).view(), device_sources.view());
    fill_zero(ctx, seen.view());
    fill_zero(ctx, other.view());
    fill_zero(ctx, marks.view());
    fill_zero(ctx, control.view());
    const search<I, O, W> s = search_of<W>(batch.size(), first);
    kernel<W>().launch(ctx, s);
    copy_to_host(ctx, s.control->counts, pinned_counts.data(), sizeof(s.control->counts));
    ctx.synchronize();
    std::copy_n(pinned_counts.begin(), batch.size(), counted.begin() + first);
  }

  void run(span<const I, host> all) override {
    const device_guard guard(ctx);
    sources = all.size();
    counted.assign(static_cast<std::size_t>(sources), {});
    for (std::int64_t first = 0; first < sources; first += choice.batch()) {
      const auto batch = all.subspan(first, std::min(choice.batch(), sources - first));
      if (choice.words() == 1) {
        run_batch<1>(batch, first);
      } else {
        run_batch<4>(batch, first);
      }
    }
  }

  [[nodiscard]] span<const std::int32_t, device> levels() const noexcept override {
    if (level_of.empty()) return {};
    return level_of.view().subspan(0, vertices * sources);
  }
  [[nodiscard]] const std::vector<multi_bfs_counts>& counts() const noexcept override { return counted; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(level_of, seen, other, front, planes, marks, queue, next_queue, push_chunks, pull_chunks, control,
                    device_sources);
  }
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const choice& choice, std::int64_t max_sources,
                                                   multi_bfs_output output) {
  return std::make_unique<device_executor<I, O>>(ctx, g, choice, max_sources, output);
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              const choice&, std::int64_t, multi_bfs_output);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::multi_bfs

// Device multi-source BFS: the executor. One cooperative kernel runs a batch; the host synchronizes once, at the end.
//
// Cost: a pulled level reads at most the in-edges of unfinished vertices and one sector for each, mostly from the L2
// cache; a pushed level the out-edges of its frontier. Workspace: 24 W + 2 sizeof(I) + 1/8 bytes per vertex, 32 W more
// with levels (besides the result), sizeof(I) / 56 bytes per edge. Source: Then et al., VLDB 2015; direction: Beamer,
// Asanovic, Patterson, SC 2012.
#include "core/instantiate.hpp"
#include "graph/multi_bfs/cuda_batches.cuh"
#include "graph/multi_bfs/executor.hpp"

namespace spargo::detail::multi_bfs {

namespace {

template <class I, class O>
struct device_executor final : executor<I, device> {
  device_batches<I, O, level_sink, 1, 4> batches;
  std::int64_t vertices;
  std::int64_t batch_size;
  array<std::int32_t, device> level_of;
  array<count64, device> planes;
  std::vector<multi_bfs_counts> counted;
  std::int64_t sources = 0;  // of the last run

  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const multi_bfs::choice& chosen,
                  std::int64_t most, multi_bfs_output output)
      : batches(ctx, g, chosen), vertices(g.vertices()), batch_size(chosen.batch()) {
    const device_guard guard(ctx);
    if (output == multi_bfs_output::counts_and_levels) {
      level_of = {ctx, static_cast<std::int64_t>(checked_bytes(vertices, static_cast<std::size_t>(most)))};
      planes = {ctx, cuda_tuning::planes * vertices * chosen.words()};
      fill_zero(ctx, planes.view());
    }
    counted.reserve(static_cast<std::size_t>(most));
  }

  void run(span<const I, host> all) override {
    const device_guard guard(batches.ctx());
    sources = all.size();
    counted.assign(static_cast<std::size_t>(sources), {});
    for (std::int64_t first = 0; first < sources; first += batch_size) {
      const auto batch = all.subspan(first, std::min(batch_size, sources - first));
      batches.run(batch, span<multi_bfs_counts, host>(counted).subspan(first, batch.size()), [&](auto& s) {
        s.planes = planes.data();
        s.levels = level_of.empty() ? nullptr : level_of.data() + first;
        s.stride = sources;
      });
    }
  }

  [[nodiscard]] span<const std::int32_t, device> levels() const noexcept override {
    if (level_of.empty()) return {};
    return level_of.view().subspan(0, vertices * sources);
  }
  [[nodiscard]] const std::vector<multi_bfs_counts>& counts() const noexcept override { return counted; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return batches.workspace_bytes() + bytes_of(level_of, planes);
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

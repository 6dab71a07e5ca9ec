// Host multi-source BFS: the executor. host_batches.hpp: batches and levels; host_steps.hpp: a level, its cost,
// correctness.
//
// Cost: on a small-world graph two or three passes over the edges for 64 or 256 sources, instead of one search each.
// Source: Then et al., VLDB 2015; direction: Beamer, Asanovic, Patterson, SC 2012.
#include "graph/multi_bfs/executor.hpp"
#include "graph/multi_bfs/host_batches.hpp"

#include "core/instantiate.hpp"

namespace spargo::detail::multi_bfs {

namespace {

template <class I, class O>
struct host_executor final : executor<I, host> {
  host_batches<I, O> batches;
  std::int64_t vertices;
  std::int64_t batch_size;
  array<std::int32_t, host> level_of;
  std::vector<multi_bfs_counts> counted;
  std::int64_t sources = 0;  // of the last run

  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const multi_bfs::choice& chosen,
                std::int64_t most, multi_bfs_output output)
      : batches(ctx, g, chosen), vertices(g.vertices()), batch_size(chosen.batch()) {
    if (output == multi_bfs_output::counts_and_levels) {
      level_of = {ctx, static_cast<std::int64_t>(checked_bytes(vertices, static_cast<std::size_t>(most)))};
    }
    counted.reserve(static_cast<std::size_t>(most));
  }

  void run(span<const I, host> all) override {
    sources = all.size();
    counted.assign(static_cast<std::size_t>(sources), {});
    if (!level_of.empty()) {
      fill(batches.threads(), level_of.view().subspan(0, vertices * sources), std::int32_t{-1});
    }
    for (std::int64_t first = 0; first < sources; first += batch_size) {
      const auto batch = all.subspan(first, std::min(batch_size, sources - first));
      batches.run(batch, span<multi_bfs_counts, host>(counted).subspan(first, batch.size()),
                  {.levels = level_of.empty() ? nullptr : level_of.data() + first, .stride = sources});
    }
  }

  [[nodiscard]] span<const std::int32_t, host> levels() const noexcept override {
    if (level_of.empty()) return {};
    return level_of.view().subspan(0, vertices * sources);
  }
  [[nodiscard]] const std::vector<multi_bfs_counts>& counts() const noexcept override { return counted; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return batches.workspace_bytes() + bytes_of(level_of);
  }
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const choice& choice, std::int64_t max_sources,
                                                 multi_bfs_output output) {
  return std::make_unique<host_executor<I, O>>(ctx, g, choice, max_sources, output);
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            const choice&, std::int64_t, multi_bfs_output);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::multi_bfs

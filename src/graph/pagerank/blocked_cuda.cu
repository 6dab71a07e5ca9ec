// PageRank steps from a blocked copy of the graph, which keeps nearly all shares in shared memory.
//
// The copy is the pattern of the in-edges as sparse/spmv/copies/blocked stores it. Vertices are sorted by descending
// out-degree, so that most edges come from a few adjacent vertices, and shares and sums have the same order. Two
// launches: one sums the strips, the other adds each vertex's strips and computes its new share. Cost of a step: 2
// bytes per edge in cells, 4 and an L2 sector for the others (R-MAT 22, fp32: 11 percent), about 20 per strip and 16
// per vertex. Sources: those of the blocked SpMV.
#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/device/resident.cuh"
#include "core/instantiate.hpp"
#include "graph/pagerank/device.cuh"
#include "sparse/spmv/copies/blocked/product.cuh"

#include <algorithm>
#include <utility>

namespace spargo::detail::pagerank {

namespace {

struct tuning {
  static constexpr std::int64_t most_blocks = 512;
  // Edges per vertex and block that form a cell; 3, 4, 5, 6, 8: R-MAT 22 fp32 0.230, 0.228, 0.232, 0.239, 0.266 ms.
  static constexpr std::uint32_t least_cell = 4;
  // Window within which strips are sorted, so that the sums of a vertex are close together; 0: all. All, 1024: R-MAT 22
  // fp32 0.219, 0.236 ms, fp64 0.372, 0.350.
  template <class V>
  static constexpr std::int64_t window() {
    return sizeof(V) == 4 ? 0 : 1024;
  }
  // A copy pays off if least_popular of the edges come from the first block and at most most_gathered are gathered.
  static constexpr double least_popular = 0.2;
  static constexpr double most_gathered = 0.4;
};

template <class V>
__global__ void __launch_bounds__(block_threads)
    finish_vertices_kernel(step_arguments<V> a, spmv::strip_arguments<V> strips, unsigned* tickets,
                           const V* __restrict__ now, V* __restrict__ next) {
  if (a.state->done != 0) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) *tickets = 0;  // for the next step
  const step_terms terms = a.state->terms;
  step_outcome mine;
  const std::int64_t blocks = strips.blocks();
  for (std::int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    spmv::add_strips(strips, block, [&](std::int64_t place, V sum) {
      mine.add(finish_place(a, terms, place, __ldg(a.degrees + place), sum, __ldg(now + place), next), a.norm);
    });
    if (block < strips.parts) __syncthreads();  // the parts' sums in shared memory are no longer needed
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) mine.add(finish_isolated(a, terms, now, next), a.norm);
  close_step(mine, a.outcomes, a.rule, a.end, a.norm, true, a.state);
}

static_assert(spmv::threads_per_block == block_threads);

template <class V>
class blocked_copy final : public step_copy<V> {
 public:
  blocked_copy(const context<device>& ctx, array<std::uint32_t, device> order, spmv::pattern_strips<V> strips,
               std::int64_t linked)
      : ctx_(ctx),
        linked_(linked),
        order_(std::move(order)),
        strips_(std::move(strips)),
        finish_blocks_(resident_grid(ctx, finish_vertices_kernel<V>, block_threads)) {}

  void step(const step_arguments<V>& a, const V* now, V* next) const override {
    strips_.sum(now, &a.state->done);
    auto strips = strips_.strips();
    strips.rows = a.kept;
    launch_kernel(ctx_, {std::min(strips.blocks(), blocks()), block_threads}, finish_vertices_kernel<V>, a, strips,
                  strips_.tickets(), now, next);
  }
  [[nodiscard]] std::int64_t blocks() const noexcept override { return finish_blocks_; }
  [[nodiscard]] const std::uint32_t* order() const noexcept override { return order_.data(); }
  [[nodiscard]] std::int64_t with_edges() const noexcept override { return linked_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return bytes_of(order_) + strips_.bytes(); }

 private:
  context<device> ctx_;
  std::int64_t linked_;  // vertices with edges
  array<std::uint32_t, device> order_;
  spmv::pattern_strips<V> strips_;
  std::int64_t finish_blocks_;
};

}  // namespace

template <class V, class I, class O>
step_copy_attempt<V> copy_blocked(const context<device>& ctx, const graph_view<I, O, device>& g, copy_demand demand) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - (std::int64_t{1} << 16);
  const bool by_choice = demand == copy_demand::if_it_pays;
  const std::int64_t edges = g.in.nnz();
  if (g.vertices() > most || edges > most) return {nullptr, "the graph exceeds 32-bit indices"};
  const std::int64_t block = spmv::pattern_strips<V>::block_columns(ctx.properties());
  const spmv::blocked_shape shape{block, tuning::most_blocks, tuning::least_cell, tuning::window<V>()};

  auto by_degree = spmv::order_square<O>(ctx, g.in.offsets, g.out.offsets, edges, shape);
  const auto percent_of = [&](std::int64_t part) { return std::to_string(100 * part / edges) + " percent"; };
  const auto popular = static_cast<std::int64_t>(by_degree.totals.popular_entries);
  if (by_choice && static_cast<double>(popular) < tuning::least_popular * static_cast<double>(edges)) {
    return {nullptr, percent_of(popular) + " of the edges come from the vertices with most out-edges"};
  }
  const auto in = spmv::renumber_square<I, O>(ctx, g.in, by_degree, shape);
  const auto cut = spmv::cut_rows<std::int64_t>(ctx, in.offsets.view(), in.columns, shape);
  if (by_choice && static_cast<double>(cut.gathered) > tuning::most_gathered * static_cast<double>(edges)) {
    return {nullptr, percent_of(cut.gathered) + " of the edges would have to be gathered"};
  }
  spmv::pattern_strips<V> strips(ctx, spmv::arrange_entries(ctx, in.columns, cut, shape), in.columns, block);
  auto reason = "shares from shared memory for " + percent_of(edges - cut.gathered) + " of the edges, in " +
                std::to_string(cut.strips) + " strips";
  return {std::make_unique<blocked_copy<V>>(ctx, std::move(by_degree.order), std::move(strips),
                                            static_cast<std::int64_t>(by_degree.totals.linked)),
          std::move(reason)};
}

#define INSTANTIATE_V(V, I, O)                                                                                 \
  template step_copy_attempt<V> copy_blocked<V, I, O>(const context<device>&, const graph_view<I, O, device>&, \
                                                      copy_demand);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank

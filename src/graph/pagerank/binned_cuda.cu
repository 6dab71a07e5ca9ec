// PageRank steps from a binned copy of the graph, for graphs with neither hubs nor locality.
//
// The copy is the pattern of the in-edges as sparse/spmv/copies/binned stores it; a vertex's new share is computed
// where the second pass sums its row. Cost of a step: per edge two 16-bit numbers, and its share written and read once:
// 12 bytes in fp32, 20 in fp64, at copy bandwidth; 3 values and an offset per vertex.
#include "core/instantiate.hpp"
#include "graph/pagerank/device.cuh"
#include "sparse/spmv/copies/binned/product.cuh"

#include <utility>

namespace spargo::detail::pagerank {

namespace {

struct tuning {
  static constexpr std::int64_t longest = 512;        // maximum in-degree
  static constexpr std::int64_t least_sectors = 800;  // minimum sectors of shares per 1000 consecutive edges
  static constexpr std::int64_t least_cell =
      27;  // minimum edges per cell; fp64 with 27: 1.189 ms, from the graph 1.329
};

template <class V>
struct step_epilogue {
  const step_arguments<V>& a;
  const V* now;
  V* next;
  step_terms terms{};
  step_outcome mine{};

  static constexpr auto rule = spmv::bin_rows_rule::equal;
  struct loaded {
    V degree;
    V before;
  };
  __device__ void start() { terms = a.state->terms; }
  [[nodiscard]] __device__ loaded load(std::int64_t v) const { return {__ldg(a.degrees + v), __ldg(now + v)}; }
  __device__ void finish(std::int64_t v, const loaded& of, V sum) {
    mine.add(finish_vertex(a, terms, v, of.degree, sum, of.before, next), a.norm);
  }
};

template <class V>
__global__ void __launch_bounds__(spmv::binned_tuning::collect_threads, spmv::collect_residency)
    collect_kernel(step_arguments<V> a, spmv::binned_arguments<V> b, const V* __restrict__ now, V* __restrict__ next) {
  if (a.state->done != 0) return;
  step_epilogue<V> epilogue{a, now, next};
  spmv::collect_bins(b, epilogue);
  close_step(epilogue.mine, a.outcomes, a.rule, a.end, a.norm, true, a.state);
}

template <class V>
class binned_steps final : public step_copy<V> {
 public:
  binned_steps(const context<device>& ctx, spmv::binned_pattern pattern, std::int64_t vertices)
      : ctx_(ctx), vertices_(vertices), copy_(ctx, std::move(pattern), collect_kernel<V>) {}

  void step(const step_arguments<V>& a, const V* now, V* next) const override {
    copy_.write({&a.state->done}, now);
    launch_kernel(ctx_, copy_.collect_shape(), collect_kernel<V>, a, copy_.arguments(), now, next);
  }
  [[nodiscard]] std::int64_t blocks() const noexcept override { return copy_.collect_blocks(); }
  [[nodiscard]] const std::uint32_t* order() const noexcept override { return nullptr; }
  [[nodiscard]] std::int64_t with_edges() const noexcept override { return vertices_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return copy_.bytes(); }

 private:
  context<device> ctx_;
  std::int64_t vertices_;
  spmv::binned_copy<V, spmv::unit_values> copy_;
};

}  // namespace

template <class V, class I, class O>
step_copy_attempt<V> copy_binned(const context<device>& ctx, const graph_view<I, O, device>& g, copy_demand demand) {
  const bool by_choice = demand == copy_demand::if_it_pays;
  const std::int64_t n = g.vertices();
  const std::int64_t edges = g.in.nnz();
  constexpr std::int64_t most = std::int64_t{1} << 32;
  constexpr std::int64_t bytes = sizeof(V);
  if (n >= most || edges >= most) return {nullptr, "the graph exceeds 32-bit indices"};
  if (by_choice) {
    const std::int64_t sectors = spmv::sectors_per_1000(ctx, g.in.indices.data(), edges, bytes);
    if (sectors < tuning::least_sectors) {
      return {nullptr, "1000 consecutive edges read only " + std::to_string(sectors) + " sectors of shares"};
    }
  }
  const spmv::bin_shape blocks = spmv::shape_bins(ctx.properties(), g.in.rows, n, bytes);
  auto cut = spmv::cut_bins<I, O>(ctx, g.in.offsets, g.in.indices, blocks, spmv::bin_rows_rule::equal);
  if (!cut.refused.empty()) return {nullptr, std::move(cut.refused)};
  const spmv::bin_shape& shape = cut.shape;
  if (by_choice && shape.longest > tuning::longest) {
    return {nullptr, "a vertex has " + std::to_string(shape.longest) + " in-edges, too many for a thread"};
  }
  const std::int64_t cell = edges / (shape.blocks * shape.bins);
  const std::string parts =
      std::to_string(shape.blocks) + " blocks of sources and " + std::to_string(shape.bins) + " bins";
  if (by_choice && cell < tuning::least_cell) {
    return {nullptr, parts + " leave cells of " + std::to_string(cell) + " edges"};
  }
  if (by_choice && shape.is_uneven()) return {nullptr, "some blocks of sources have many more edges than others"};
  auto pattern = spmv::fill_bins<I, O>(ctx, std::move(cut), g.in.offsets, g.in.indices, spmv::entry_sources::dropped);
  return {std::make_unique<binned_steps<V>>(ctx, std::move(pattern), n), "shares by " + parts};
}

#define INSTANTIATE_V(V, I, O)                                                                                \
  template step_copy_attempt<V> copy_binned<V, I, O>(const context<device>&, const graph_view<I, O, device>&, \
                                                     copy_demand);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank

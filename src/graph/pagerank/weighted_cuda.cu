// PageRank steps over weights: a product of spmv_plan, whose copies suit the graph, and a kernel that finishes
// vertices.
//
// A vertex's share is its rank divided by the sum of its weights, as steps without weights divide by the out-degree,
// and the product multiplies shares by weights as given. Where some sums are so small or large that shares could leave
// the range of V, the weights are divided by the sums instead, and shares are ranks. Cost of a step: that of the
// product, which reads a value more per entry than one without weights, and 4 values per vertex.
#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/pagerank/device.cuh"
#include "graph/ranks/vectors.cuh"
#include "primitives/element.hpp"

#include <spargo/sparse/spmv.hpp>

#include <bit>
#include <utility>

namespace spargo::detail::pagerank {

namespace {

template <class V>
__global__ void __launch_bounds__(block_threads)
    finish_product_kernel(step_arguments<V> a, const V* __restrict__ incoming, const V* __restrict__ now,
                          V* __restrict__ next) {
  if (a.state->done != 0) return;
  const step_terms terms = a.state->terms;
  step_outcome mine;
  for (std::int64_t v = global_thread(); v < a.n; v += grid_threads()) {
    mine.add(finish_vertex(a, terms, v, a.degrees[v], incoming[v], now[v], next), a.norm);
  }
  close_step(mine, a.outcomes, a.rule, a.end, a.norm, true, a.state);
}

// In device memory: of the sums over vertices that do not dangle.
struct sum_range {
  unsigned long long least;  // bits of a positive double, which order like its value
  unsigned long long most;
  unsigned long long refused;  // the smallest vertex whose sum is not finite
};

// Of the weights from each vertex; one product gives them. Synchronizes.
template <class I, class O>
sum_range sum_rows(const context<device>& ctx, const weighted_graph_view<double, I, O, device>& g,
                   array<double, device>& sums) {
  array<double, device> ones(ctx, sums.size());
  ranks::fill_values(ctx, ones, 1);
  spmv_plan<double, I, O, device>(ctx, csr_view<const double, I, O, device>{g.out, g.out_weights})
      .run(1.0, std::as_const(ones).view(), 0.0, sums.view());
  const sum_range start{~0ULL, 0, ~0ULL};
  array<sum_range, device> range(ctx, 1);
  copy<sum_range>(ctx, span<const sum_range, host>(&start, 1), range.view());
  for_each(ctx, sums.size(), [sum = sums.data(), to = range.data()] __device__(std::int64_t v) {
    if (!isfinite(sum[v])) {
      atomicMin(&to->refused, static_cast<unsigned long long>(v));
    } else if (sum[v] > 0) {
      const auto bits = static_cast<unsigned long long>(__double_as_longlong(sum[v]));
      if (bits < *static_cast<volatile unsigned long long*>(&to->least)) atomicMin(&to->least, bits);
      if (bits > *static_cast<volatile unsigned long long*>(&to->most)) atomicMax(&to->most, bits);
    }
  });
  return element<sum_range>(ctx, std::as_const(range).view(), 0);
}

// The values of the products, by in-edge. Divisors: the sums of the vertices' weights, or 1; 0 for those that dangle.
template <class V, class I, class O>
array<V, device> product_values(const context<device>& ctx, const weighted_graph_view<double, I, O, device>& g,
                                array<V, device>& degrees) {
  array<double, device> sums(ctx, g.vertices());
  const sum_range range = sum_rows(ctx, g, sums);
  if (range.refused != ~0ULL) refuse_weight_sum(static_cast<std::int64_t>(range.refused));
  constexpr double room = sizeof(V) == 4 ? 0x1p40 : 0x1p300;
  const bool extreme = range.least <= range.most &&
                       (std::bit_cast<double>(range.least) < 1 / room || std::bit_cast<double>(range.most) > room);
  const int divided = extreme ? 1 : 0;
  for_each(ctx, sums.size(), [=, sum = sums.data(), degree = degrees.data()] __device__(std::int64_t v) {
    degree[v] = static_cast<V>(divided != 0 && sum[v] > 0 ? 1.0 : sum[v]);
  });
  array<V, device> values(ctx, g.in.nnz());
  for_each(ctx, values.size(),
           [=, to = values.data(), weight = g.in_weights.data(), from = g.in.indices.data(),
            sum = sums.data()] __device__(std::int64_t e) {
             const double of_source = divided != 0 ? sum[from[e]] : 1.0;
             to[e] = static_cast<V>(of_source == 0 ? 0.0 : weight[e] / of_source);
           });
  return values;
}

template <class V, class I, class O>
class product_steps final : public step_copy<V> {
 public:
  // Writes the vertices' divisors.
  product_steps(const context<device>& ctx, const weighted_graph_view<double, I, O, device>& g, std::int64_t steps,
                array<V, device>& degrees)
      : ctx_(ctx),
        n_(g.vertices()),
        blocks_(blocks_for(ctx, n_, block_threads)),
        incoming_(ctx, n_),
        values_(product_values<V>(ctx, g, degrees)),
        plan_(ctx, csr_view<const V, I, O, device>{g.in, std::as_const(values_).view()},
              {.storage = spmv_storage::copied, .products = steps}) {
    if (plan_.storage() == spmv_storage::copied) values_ = {};
  }

  void step(const step_arguments<V>& a, const V* now, V* next) const override {
    plan_.run(V{1}, span<const V, device>(now, n_), V{0}, incoming_.view());
    launch_kernel(ctx_, {blocks_, block_threads}, finish_product_kernel<V>, a, incoming_.data(), now, next);
  }
  [[nodiscard]] std::int64_t blocks() const noexcept override { return blocks_; }
  [[nodiscard]] const std::uint32_t* order() const noexcept override { return nullptr; }
  [[nodiscard]] std::int64_t with_edges() const noexcept override { return n_; }
  [[nodiscard]] bool skips_after_end() const noexcept override { return false; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(incoming_, values_) + plan_.workspace_bytes();
  }
  [[nodiscard]] std::string reason() const {
    return "products by " + std::string(to_string(plan_.algorithm())) + ": " + plan_.reason();
  }

 private:
  context<device> ctx_;
  std::int64_t n_;
  unsigned blocks_;
  mutable array<V, device> incoming_;  // of the current step
  array<V, device> values_;            // if the plan reads them
  spmv_plan<V, I, O, device> plan_;
};

}  // namespace

template <class V, class I, class O>
step_copy_attempt<V> copy_weighted(const context<device>& ctx, const weighted_graph_view<double, I, O, device>& g,
                                   std::int64_t steps, array<V, device>& degrees) {
  auto made = std::make_unique<product_steps<V, I, O>>(ctx, g, steps, degrees);
  std::string reason = made->reason();
  return {std::move(made), std::move(reason)};
}

#define INSTANTIATE_V(V, I, O)                 \
  template step_copy_attempt<V> copy_weighted( \
      const context<device>&, const weighted_graph_view<double, I, O, device>&, std::int64_t, array<V, device>&);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank

// Device rows sorted by weight against a host sort of each row, all edges at once and in small batches.
#include "core/device/launch.cuh"
#include "graph/sssp/cuda_sorted.cuh"
#include "graph/sssp_support.hpp"
#include "support/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace spargo {
namespace {

template <class W, class I, class O>
struct widths {
  using weight = W;
  using index = I;
  using offset = O;
};

// Field by field, since padding is uninitialized.
template <class W, class I, class Edge>
std::pair<array<I, host>, array<W, host>> fields_of(const context<device>& ctx, span<const Edge, device> edges) {
  array<I, device> targets(ctx, edges.size());
  array<W, device> weights(ctx, edges.size());
  detail::for_each(ctx, edges.size(),
                   [to = targets.data(), weight = weights.data(), from = edges.data()] __device__(std::int64_t e) {
                     to[e] = from[e].target;
                     weight[e] = from[e].weight;
                   });
  return {to_host(ctx, targets.view()), to_host(ctx, weights.view())};
}

template <class Widths>
class SsspSorted : public testing::Test {
 protected:
  using W = typename Widths::weight;
  using I = typename Widths::index;
  using O = typename Widths::offset;

  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }

  static void check(std::int64_t n, const test::weighted_edges<W>& edges, std::int64_t at_once) {
    const auto g = test::make_weighted<W, I, O>(n, edges, test::graph_form::out_only);
    const test::placed_weighted<W, I, O, device> placed(g);
    const auto view = placed.view();
    detail::sssp::weight_facts facts;
    for (const W w : g.weights) facts.largest = std::max(facts.largest, static_cast<double>(w));
    const auto sorted = detail::sssp::sort_rows<W, I, O>(placed.ctx(), view.out, view.out_weights, facts, at_once);
    const auto [targets, found_weights] = fields_of<W, I>(placed.ctx(), sorted.view());
    for (std::int64_t v = 0; v < n; ++v) {
      const auto row = static_cast<std::size_t>(v);
      std::vector<O> order(static_cast<std::size_t>(g.structure.offsets[row + 1] - g.structure.offsets[row]));
      std::iota(order.begin(), order.end(), g.structure.offsets[row]);
      std::stable_sort(order.begin(), order.end(), [&](O a, O b) {
        return g.weights[static_cast<std::size_t>(a)] < g.weights[static_cast<std::size_t>(b)];
      });
      for (std::size_t k = 0; k < order.size(); ++k) {
        const auto to = static_cast<std::int64_t>(g.structure.offsets[row]) + static_cast<std::int64_t>(k);
        const auto from = static_cast<std::size_t>(order[k]);
        ASSERT_EQ(targets[to], g.structure.indices[from]) << "vertex " << v << ", edge " << k << ", " << at_once;
        ASSERT_EQ(found_weights[to], g.weights[from]) << "vertex " << v << ", edge " << k << ", " << at_once;
      }
    }
  }
};

using all_widths = testing::Types<widths<std::int32_t, int, int>, widths<std::int64_t, int, std::int64_t>,
                                  widths<float, std::int64_t, std::int64_t>, widths<double, int, int>>;
TYPED_TEST_SUITE(SsspSorted, all_widths);

// Long rows and empty rows, including the first and last; equal weights, 0, -0 and the largest one.
TYPED_TEST(SsspSorted, RowsKeepTheOrderOfEqualWeights) {
  using W = typename TypeParam::weight;
  test::random_source random(9);
  for (const std::int64_t n : {1, 5, 700}) {
    test::weighted_edges<W> edges;
    for (std::int64_t k = 0; k < 6000; ++k) {
      const std::int64_t u = n < 3 ? 0 : 1 + random.below(k % 3 == 0 ? 2 : n - 2);
      const auto whole = static_cast<W>(random.below(1000));
      const W weight = std::is_floating_point_v<W> ? whole / 8 : whole;
      edges.push_back({u, random.below(n), k % 50 == 0 ? -W{0} : k % 51 == 0 ? W{0} : weight});
    }
    edges.push_back({n / 2, 0, std::numeric_limits<W>::max()});
    for (const std::int64_t at_once : {detail::sssp::sorted_at_once, std::int64_t{500}, std::int64_t{1}}) {
      this->check(n, edges, at_once);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace spargo

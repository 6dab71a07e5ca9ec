// A graph's weights as checked doubles, with in-edges: the input of ranks over weights. Code behind it has one type of
// weight. Arrays that the graph has in this form are borrowed.
#pragma once

#include "core/bytes_of.hpp"
#include "graph/graph/with_in_edges.hpp"

#include <spargo/graph/weighted_graph.hpp>

#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace spargo::detail::ranks {

// Asynchronous on a device. W: an integer type or float.
template <class W, class Space>
[[nodiscard]] array<double, Space> to_doubles(const context<Space>& ctx, span<const W, Space> weights);

// Throws invalid_data naming the first edge whose weight is negative or not finite, if there is one.
template <class I, class O>
void expect_finite_weights(std::string_view operation, const csr_pattern_view<I, O, host>& edges,
                           span<const double, host> weights);

template <class I, class O, class Space>
class double_weights {
 public:
  double_weights() = default;
  // Synchronizes the stream. Throws invalid_data for weights that are negative or not finite.
  template <class W>
  double_weights(std::string_view operation, const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g)
      : view_{{static_cast<const graph_view<I, O, Space>&>(g)}, {}, {}} {
    view_.out_weights = doubles(ctx, g.out_weights, out_weights_);
    const weight_summary seen = summarize_weights(ctx, view_.out_weights);
    largest_ = seen.largest;
    if (seen.negative_or_nan || largest_ > std::numeric_limits<double>::max()) {
      if constexpr (std::same_as<Space, host>) {
        expect_finite_weights<I, O>(operation, g.out, view_.out_weights);
      } else {
        const auto offsets = to_host(ctx, g.out.offsets);
        const auto indices = to_host(ctx, g.out.indices);
        const auto weights = to_host(ctx, view_.out_weights);
        expect_finite_weights<I, O>(operation, {g.out.rows, g.out.cols, offsets.view(), indices.view()},
                                    weights.view());
      }
    }
    if (g.direction == direction_kind::undirected) {
      view_.in = view_.out;
      view_.in_weights = view_.out_weights;
    } else if (g.has_in_edges()) {
      view_.in_weights = doubles(ctx, g.in_weights, in_weights_);
    } else if (g.vertices() > 0) {
      in_ = transpose(ctx, csr_view<const double, I, O, Space>{g.out, view_.out_weights});
      view_.in = std::as_const(in_).view();
      view_.in_weights = std::as_const(in_).values().view();
    }
  }

  [[nodiscard]] const weighted_graph_view<double, I, O, Space>& view() const { return view_; }
  [[nodiscard]] double largest() const { return largest_; }
  // Frees the weights; a transpose that was made here keeps its pattern.
  void keep_pattern() {
    out_weights_ = {};
    in_weights_ = {};
    in_.values() = {};
  }
  // Of the arrays that are owned.
  [[nodiscard]] std::int64_t bytes() const {
    return bytes_of(out_weights_, in_weights_, in_.offsets(), in_.indices(), in_.values());
  }

 private:
  template <class W>
  static span<const double, Space> doubles(const context<Space>& ctx, span<const W, Space> weights,
                                           array<double, Space>& to) {
    if constexpr (std::same_as<W, double>) {
      return weights;
    } else {
      to = to_doubles<W, Space>(ctx, weights);
      return std::as_const(to).view();
    }
  }

  array<double, Space> out_weights_, in_weights_;
  csr_matrix<double, I, O, Space> in_;  // of a directed graph without in-edges
  weighted_graph_view<double, I, O, Space> view_;
  double largest_ = 0;
};

}  // namespace spargo::detail::ranks

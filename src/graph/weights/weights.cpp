// Edge weights: summary, conversion and generation, for both backends.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/weights/backend.hpp"
#include "primitives/element.hpp"

#include <fmt/format.h>

namespace spargo {

template <class Space>
weight_summary summarize_weights(const context<Space>& ctx,
                                 std::type_identity_t<span<const double, Space>> weights) try {
  if constexpr (detail::is_built<Space>) {
    return detail::weights::summarize<Space>(ctx, weights);
  } else {
    detail::no_device("summarize_weights");
  }
} catch (...) {
  detail::rethrow("summarize_weights");
}

template <index_type W, class Space>
array<W, Space> integer_weights(const context<Space>& ctx,
                                std::type_identity_t<span<const double, Space>> weights) try {
  if constexpr (detail::is_built<Space>) {
    array<W, Space> integers(ctx, weights.size());
    const std::int64_t bad = detail::weights::convert<W, Space>(ctx, weights, integers.view());
    if (bad < weights.size()) {
      throw error(error_code::invalid_data,
                  fmt::format("integer_weights: weight {} is {} (expected an integer of {} bits)", bad,
                              detail::element<double>(ctx, weights, bad), 8 * sizeof(W)));
    }
    return integers;
  } else {
    detail::no_device("integer_weights");
  }
} catch (...) {
  detail::rethrow("integer_weights");
}

template <index_type I, index_type O, class Space>
array<std::int32_t, Space> random_weights(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges,
                                          std::uint64_t seed) try {
  if constexpr (detail::is_built<Space>) {
    array<std::int32_t, Space> drawn(ctx, edges.nnz());
    detail::weights::draw<I, O, Space>(ctx, edges, seed, drawn.view());
    return drawn;
  } else {
    detail::no_device("random_weights");
  }
} catch (...) {
  detail::rethrow("random_weights");
}

template <class Space>
array<std::int32_t, Space> unit_weights(const context<Space>& ctx, std::int64_t edges) try {
  SPARGO_EXPECTS(edges >= 0, fmt::format("unit_weights: {} edges", edges));
  if constexpr (detail::is_built<Space>) {
    array<std::int32_t, Space> ones(ctx, edges);
    detail::weights::fill_ones<Space>(ctx, ones.view());
    return ones;
  } else {
    detail::no_device("unit_weights");
  }
} catch (...) {
  detail::rethrow("unit_weights");
}

#define INSTANTIATE_IN(S)                                                                                     \
  template weight_summary summarize_weights<S>(const context<S>&, span<const double, S>);                     \
  template array<std::int32_t, S> integer_weights<std::int32_t, S>(const context<S>&, span<const double, S>); \
  template array<std::int64_t, S> integer_weights<std::int64_t, S>(const context<S>&, span<const double, S>); \
  template array<std::int32_t, S> unit_weights<S>(const context<S>&, std::int64_t);
INSTANTIATE_IN(host)
INSTANTIATE_IN(device)
#define INSTANTIATE(I, O, S)                                                                                   \
  template array<std::int32_t, S> random_weights<I, O, S>(const context<S>&, const csr_pattern_view<I, O, S>&, \
                                                          std::uint64_t);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo

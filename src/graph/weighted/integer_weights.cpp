// Weights that were read as floating-point numbers, as the integers that they are.
#include <spargo/graph/weighted_graph.hpp>

#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>

namespace spargo {

template <index_type W>
array<W, host> integer_weights(const context<host>& ctx, span<const double, host> weights) try {
  constexpr auto least = static_cast<double>(std::numeric_limits<W>::min());  // a power of two, as -least is
  array<W, host> integers(ctx, weights.size());
  std::atomic<std::int64_t> bad{weights.size()};
  detail::parallel_for(ctx.threads(), weights.size(), detail::grain::elements, [&](std::int64_t k) {
    const double weight = weights[k];
    if (weight >= least && weight < -least && weight == std::trunc(weight)) {
      integers[k] = static_cast<W>(weight);
    } else {
      detail::lower_to(bad, k);
    }
  });
  if (bad < weights.size()) {
    throw error(error_code::invalid_data,
                fmt::format("integer_weights: weight {} is {} (expected an integer of {} bits)", bad.load(),
                            weights[bad], 8 * sizeof(W)));
  }
  return integers;
} catch (...) {
  detail::rethrow("integer_weights");
}

template array<std::int32_t, host> integer_weights<std::int32_t>(const context<host>&, span<const double, host>);
template array<std::int64_t, host> integer_weights<std::int64_t>(const context<host>&, span<const double, host>);

}  // namespace spargo

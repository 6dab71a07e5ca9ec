#include "sparse/coo_order.hpp"

namespace spargo::detail {

void count_up(const context<host>& ctx, span<double, host> to) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t k = 0; k < to.size(); ++k) to[k] = static_cast<double>(k);
}

void to_integers(const context<host>& ctx, span<const double, host> from, span<std::int64_t, host> to) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t k = 0; k < to.size(); ++k) to[k] = static_cast<std::int64_t>(from[k]);
}

}  // namespace spargo::detail

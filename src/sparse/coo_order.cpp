#include "sparse/coo_order.hpp"
#include "core/parallel.hpp"

namespace spargo::detail {

void count_up(const context<host>& ctx, span<double, host> to) {
  parallel_for(ctx.threads(), to.size(), grain::elements, [&](std::int64_t k) { to[k] = static_cast<double>(k); });
}

void to_integers(const context<host>& ctx, span<const double, host> from, span<std::int64_t, host> to) {
  parallel_for(ctx.threads(), to.size(), grain::elements,
               [&](std::int64_t k) { to[k] = static_cast<std::int64_t>(from[k]); });
}

}  // namespace spargo::detail

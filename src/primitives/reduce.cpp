// Reductions: checks, and the choice of backend.
#include <spargo/primitives/reduce.hpp>

#include "primitives/backend.hpp"

namespace spargo {

template <class T, class Space>
T reduce_sum(const context<Space>& ctx, span<const T, Space> values) {
  if (values.empty()) return T{0};
  if constexpr (detail::is_built<Space>) {
    return detail::reduce_sum(ctx, values);
  } else {
    detail::no_device("reduce_sum");
  }
}

template <class T, class Space>
T reduce_max(const context<Space>& ctx, span<const T, Space> values) {
  SPARGO_EXPECTS(!values.empty(), "reduce_max: an empty range has no largest element");
  if constexpr (detail::is_built<Space>) {
    return detail::reduce_max(ctx, values);
  } else {
    detail::no_device("reduce_max");
  }
}

#define INSTANTIATE(T, Space)                                         \
  template T reduce_sum(const context<Space>&, span<const T, Space>); \
  template T reduce_max(const context<Space>&, span<const T, Space>);
#define INSTANTIATE_SPACE(Space)   \
  INSTANTIATE(std::int32_t, Space) \
  INSTANTIATE(std::int64_t, Space) \
  INSTANTIATE(float, Space)        \
  INSTANTIATE(double, Space)
INSTANTIATE_SPACE(host)
INSTANTIATE_SPACE(device)
#undef INSTANTIATE_SPACE
#undef INSTANTIATE

}  // namespace spargo

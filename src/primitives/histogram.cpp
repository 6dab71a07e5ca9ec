// Counting: the choice of backend.
#include <spargo/primitives/histogram.hpp>

#include "primitives/backend.hpp"

namespace spargo {

template <class Key, class Count, class Space>
void histogram(const context<Space>& ctx, span<const Key, Space> keys, span<Count, Space> counts) {
  fill_zero(ctx, counts);
  if (keys.empty() || counts.empty()) return;
  if constexpr (detail::is_built<Space>) {
    detail::histogram<Key, Count>(ctx, keys, counts);
  } else {
    detail::no_device("histogram");
  }
}

#define INSTANTIATE(Key, Count, Space) \
  template void histogram<Key, Count, Space>(const context<Space>&, span<const Key, Space>, span<Count, Space>);
#define INSTANTIATE_SPACE(Space)                 \
  INSTANTIATE(std::int32_t, std::int32_t, Space) \
  INSTANTIATE(std::int32_t, std::int64_t, Space) \
  INSTANTIATE(std::int64_t, std::int32_t, Space) \
  INSTANTIATE(std::int64_t, std::int64_t, Space)
INSTANTIATE_SPACE(host)
INSTANTIATE_SPACE(device)
#undef INSTANTIATE_SPACE
#undef INSTANTIATE

}  // namespace spargo

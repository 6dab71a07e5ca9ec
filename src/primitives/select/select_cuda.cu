// CUB's select, which reads and writes in a single pass (decoupled look-back).
#include "primitives/select/select.hpp"

#include "core/device/launch.cuh"
#include "primitives/element.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

namespace spargo::detail {

namespace {

template <class T, class From>
array<T, device> select(const context<device>& ctx, From from, span<const std::uint8_t, device> flags) {
  array<T, device> to(ctx, flags.size());
  if (flags.empty()) return to;
  array<std::int64_t, device> count(ctx, 1);
  with_temporary_storage(ctx, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(storage, bytes, from, flags.data(), to.data(), count.data(), flags.size(),
                                      ctx.stream());
  });
  to.truncate(element<std::int64_t>(ctx, count.view(), 0));
  return to;
}

}  // namespace

array<std::uint64_t, device> select_flagged(const context<device>& ctx, span<const std::uint64_t, device> values,
                                            span<const std::uint8_t, device> flags) {
  SPARGO_EXPECTS(values.size() == flags.size(), "select_flagged: the numbers of values and flags differ");
  return select<std::uint64_t>(ctx, values.data(), flags);
}

array<std::int64_t, device> positions_of(const context<device>& ctx, span<const std::uint8_t, device> flags) {
  return select<std::int64_t>(ctx, thrust::counting_iterator<std::int64_t>(0), flags);
}

}  // namespace spargo::detail

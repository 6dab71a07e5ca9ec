#pragma once

#include <spargo/core/array.hpp>

namespace spargo::detail {

// One element, copied to the host; on a device this synchronises the stream.
template <class T>
T element(const context<host>&, span<const T, host> from, std::int64_t i) {
  return from[i];
}
template <class T>
T element(const context<device>& ctx, span<const T, device> from, std::int64_t i) {
  T value{};
  copy<T>(ctx, from.subspan(i, 1), span<T, host>(&value, 1));
  ctx.synchronize();
  return value;
}

}  // namespace spargo::detail

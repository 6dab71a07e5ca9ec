// Tests over ranks on hosts and on devices, for both widths of vertices.
#pragma once

#include "distributed/devices.hpp"
#include "support/suite_types.hpp"

#include <functional>

namespace spargo::test {

template <class I, class Space>
struct numbered_in {
  using index = I;
  using space = Space;
};
using ranks_kinds = suite_types<numbered_in<std::int32_t, host>, numbered_in<std::int64_t, host>,
                                numbered_in<std::int32_t, device>, numbered_in<std::int64_t, device>>;

// Runs a body on teams of ranks, on devices with every link that they support.
template <class Space>
void on_spaces(const std::function<void(const communicator&, const context<Space>&, const exchange_options&)>& body) {
  if constexpr (std::same_as<Space, host>) {
    on_ranks([&](const communicator& comm) { body(comm, context_of(comm), {}); });
  } else {
    on_devices(body);
  }
}

template <class T>
array<T, host> fetched(const context<host>& ctx, span<const T, host> values) {
  return clone(ctx, values);
}
template <class T>
array<T, host> fetched(const context<device>& ctx, span<const T, device> values) {
  return to_host(ctx, values);
}

}  // namespace spargo::test

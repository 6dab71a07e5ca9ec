// Prefix sums: checks, and the choice of backend.
#include <spargo/primitives/scan.hpp>

#include "primitives/backend.hpp"

namespace spargo {

namespace {

void check_sizes(const char* operation, std::int64_t in, std::int64_t out) {
  SPARGO_EXPECTS(in == out, std::string(operation) + ": " + std::to_string(in) + " elements into a range of " +
                                std::to_string(out));
}

}  // namespace

template <class T, class Space>
void exclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, span<T, Space> out) {
  check_sizes("exclusive_scan", in.size(), out.size());
  if (in.empty()) return;
  if constexpr (detail::is_built<Space>) {
    detail::exclusive_scan(ctx, in, out);
  } else {
    detail::no_device("exclusive_scan");
  }
}

template <class T, class Space>
void inclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, span<T, Space> out) {
  check_sizes("inclusive_scan", in.size(), out.size());
  if (in.empty()) return;
  if constexpr (detail::is_built<Space>) {
    detail::inclusive_scan(ctx, in, out);
  } else {
    detail::no_device("inclusive_scan");
  }
}

#define INSTANTIATE(T, Space)                                                                \
  template void exclusive_scan(const context<Space>&, span<const T, Space>, span<T, Space>); \
  template void inclusive_scan(const context<Space>&, span<const T, Space>, span<T, Space>);
INSTANTIATE(std::int32_t, host)
INSTANTIATE(std::int64_t, host)
INSTANTIATE(std::int32_t, device)
INSTANTIATE(std::int64_t, device)
#undef INSTANTIATE

}  // namespace spargo

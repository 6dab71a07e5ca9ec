#include <spargo/primitives/scan.hpp>

#include "primitives/scan/algorithms.hpp"
#include "primitives/scan/backend.hpp"

#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

namespace spargo {

namespace {

[[maybe_unused]] scan_algorithm automatic_choice(const context<host>&) { return scan_algorithm::chained_blocks; }

[[maybe_unused]] scan_algorithm automatic_choice(const context<device>&) { return scan_algorithm::decoupled_lookback; }

template <class T, class Space>
void check(const std::string& caller, span<const T, Space> in, span<T, Space> out, operation op,
           scan_algorithm algorithm) {
  detail::expect_runs_on<Space>(detail::scan::algorithms, caller, algorithm);
  SPARGO_EXPECTS(std::integral<T> || (op != operation::bit_and && op != operation::bit_or),
                 caller + ": operation " + std::string(to_string(op)) + " is not defined for floating-point values");
  detail::expect_same_size(caller, in.size(), out.size());
  detail::expect_range(caller, "the input", in);
  detail::expect_range(caller, "the output", out);
  if (in.data() != out.data()) {
    detail::expect_apart(caller, "the output", detail::memory_of(out), "the input", detail::memory_of(in));
  }
}

template <class T, class Space>
void scan(const char* caller, const context<Space>& ctx, span<const T, Space> in, span<T, Space> out,
          detail::scan::scan_kind kind, operation op, const scan_options& options) {
  check(caller, in, out, op, options.algorithm);
  if (in.empty()) return;
  if constexpr (detail::is_built<Space>) {
    const auto algorithm = options.algorithm == scan_algorithm::automatic ? automatic_choice(ctx) : options.algorithm;
    detail::scan::run(ctx, in, out, kind, op, algorithm);
  } else {
    detail::no_device(caller);
  }
}

}  // namespace

template <>
enum_table<scan_algorithm> enum_rows() noexcept {
  return detail::scan::algorithms;
}

template <detail::scalar T, class Space>
void exclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, span<T, Space> out,
                    operation op, const scan_options& options) try {
  scan("exclusive_scan", ctx, in, out, detail::scan::scan_kind::exclusive, op, options);
} catch (...) {
  detail::rethrow("exclusive_scan");
}

template <detail::scalar T, class Space>
void inclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, span<T, Space> out,
                    operation op, const scan_options& options) try {
  scan("inclusive_scan", ctx, in, out, detail::scan::scan_kind::inclusive, op, options);
} catch (...) {
  detail::rethrow("inclusive_scan");
}

#define INSTANTIATE(T, Space)                                                                          \
  template void exclusive_scan(const context<Space>&, span<const T, Space>, span<T, Space>, operation, \
                               const scan_options&);                                                   \
  template void inclusive_scan(const context<Space>&, span<const T, Space>, span<T, Space>, operation, \
                               const scan_options&);
SPARGO_FOR_EACH_SCALAR_SPACE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo

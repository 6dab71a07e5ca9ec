#include "primitives/reduce/algorithms.hpp"
#include "primitives/reduce/backend.hpp"

#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "primitives/element.hpp"

#include <fmt/format.h>

namespace spargo {

template <>
enum_table<reduce_algorithm> enum_rows() noexcept {
  return detail::reduce::algorithms;
}

namespace {

using detail::reduce::source_kind;

template <class Space>
void check_options(const char* name, const reduce_options& options) {
  detail::expect_runs_on<Space>(detail::reduce::algorithms, name, options.algorithm);
  SPARGO_EXPECTS(options.blocks >= 0, fmt::format("{}: {} blocks, expected 0 or more", name, options.blocks));
}

template <class T>
T identity_of(const char* name, source_kind source, operation op) {
  T value{};
  if (source == source_kind::values) {
    SPARGO_EXPECTS(op != operation::min && op != operation::max,
                   fmt::format("{}: an empty range has no {}", name, to_string(op)));
    detail::with_operation<T>(name, op, [&](auto apply) { value = decltype(apply)::identity; });
  }
  return value;
}

template <class T, class Space>
struct arguments {
  const char* name;
  source_kind source;
  operation op;
  span<const T, Space> a;
  span<const T, Space> b;
};

template <class T, class Space>
void check(const arguments<T, Space>& args, const reduce_options& options) {
  check_options<Space>(args.name, options);
  detail::expect_range(args.name, args.source == source_kind::values ? "the range" : "a", args.a);
  if (args.source != source_kind::values) {
    detail::expect_range(args.name, "b", args.b);
    SPARGO_EXPECTS(args.a.size() == args.b.size(),
                   fmt::format("{}: a has {} elements and b {}", args.name, args.a.size(), args.b.size()));
  } else {
    detail::with_operation<T>(args.name, args.op, [](auto) {});  // throws if T does not support the operation
  }
}

template <class T, class Space>
void run(const context<Space>& ctx, const arguments<T, Space>& args, span<T, Space> result,
         const reduce_options& options) {
  check(args, options);
  SPARGO_EXPECTS(result.size() == 1 && result.data() != nullptr,
                 fmt::format("{}: the result has {} elements, expected 1", args.name, result.size()));
  if constexpr (detail::is_built<Space>) {
    if (args.a.empty()) {
      const T value = identity_of<T>(args.name, args.source, args.op);
      copy<T>(ctx, span<const T, host>(&value, 1), result);
      return;
    }
    const detail::reduce::operands<T> in{args.a.data(), args.b.data(), args.a.size()};
    if constexpr (std::same_as<Space, host>) {
      detail::reduce::run_host(ctx, args.source, args.op, in, result.data());
    } else {
      detail::reduce::run_device(ctx, args.source, args.op, in, result.data(), options);
    }
  } else {
    detail::no_device(args.name);
  }
}

template <class T, class Space>
T value_of(const context<Space>& ctx, const arguments<T, Space>& args, const reduce_options& options) {
  check(args, options);
  if (args.a.empty()) return identity_of<T>(args.name, args.source, args.op);
  if constexpr (detail::is_built<Space>) {
    array<T, Space> result(ctx, 1);
    run(ctx, args, result.view(), options);
    return detail::element(ctx, std::as_const(result).view(), 0);
  } else {
    detail::no_device(args.name);
  }
}

}  // namespace

template <detail::scalar T, class Space>
T reduce(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> values, operation op,
         const reduce_options& options) try {
  return value_of<T, Space>(ctx, {"reduce", source_kind::values, op, values, {}}, options);
} catch (...) {
  detail::rethrow("reduce");
}
template <detail::scalar T, class Space>
void reduce_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> values, span<T, Space> result,
                 operation op, const reduce_options& options) try {
  run<T, Space>(ctx, {"reduce_into", source_kind::values, op, values, {}}, result, options);
} catch (...) {
  detail::rethrow("reduce_into");
}

template <detail::scalar T, class Space>
T dot(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
      std::type_identity_t<span<const T, Space>> b, const reduce_options& options) try {
  return value_of<T, Space>(ctx, {"dot", source_kind::products, operation::sum, a, b}, options);
} catch (...) {
  detail::rethrow("dot");
}
template <detail::scalar T, class Space>
void dot_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
              std::type_identity_t<span<const T, Space>> b, span<T, Space> result, const reduce_options& options) try {
  run<T, Space>(ctx, {"dot_into", source_kind::products, operation::sum, a, b}, result, options);
} catch (...) {
  detail::rethrow("dot_into");
}

template <detail::scalar T, class Space>
T max_abs_difference(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
                     std::type_identity_t<span<const T, Space>> b, const reduce_options& options) try {
  return value_of<T, Space>(ctx, {"max_abs_difference", source_kind::differences, operation::max, a, b}, options);
} catch (...) {
  detail::rethrow("max_abs_difference");
}
template <detail::scalar T, class Space>
void max_abs_difference_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
                             std::type_identity_t<span<const T, Space>> b, span<T, Space> result,
                             const reduce_options& options) try {
  run<T, Space>(ctx, {"max_abs_difference_into", source_kind::differences, operation::max, a, b}, result, options);
} catch (...) {
  detail::rethrow("max_abs_difference_into");
}

template <detail::scalar T, class Space>
T reduce_sum(const context<Space>& ctx, span<const T, Space> values) {
  return reduce<T, Space>(ctx, values, operation::sum);
}
template <detail::scalar T, class Space>
T reduce_max(const context<Space>& ctx, span<const T, Space> values) {
  return reduce<T, Space>(ctx, values, operation::max);
}

#define INSTANTIATE(T, Space)                                                                                         \
  template T reduce<T, Space>(const context<Space>&, span<const T, Space>, operation, const reduce_options&);         \
  template void reduce_into<T, Space>(const context<Space>&, span<const T, Space>, span<T, Space>, operation,         \
                                      const reduce_options&);                                                         \
  template T dot<T, Space>(const context<Space>&, span<const T, Space>, span<const T, Space>, const reduce_options&); \
  template void dot_into<T, Space>(const context<Space>&, span<const T, Space>, span<const T, Space>, span<T, Space>, \
                                   const reduce_options&);                                                            \
  template T max_abs_difference<T, Space>(const context<Space>&, span<const T, Space>, span<const T, Space>,          \
                                          const reduce_options&);                                                     \
  template void max_abs_difference_into<T, Space>(const context<Space>&, span<const T, Space>, span<const T, Space>,  \
                                                  span<T, Space>, const reduce_options&);                             \
  template T reduce_sum<T, Space>(const context<Space>&, span<const T, Space>);                                       \
  template T reduce_max<T, Space>(const context<Space>&, span<const T, Space>);
SPARGO_FOR_EACH_SCALAR_SPACE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo

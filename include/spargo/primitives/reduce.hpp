// Reductions of one range, or of two, to one value.
//
// T: int32, int64, float, double. `reduce`, `dot` and `max_abs_difference` return the value to the host, so on a device
// they synchronise the context's stream; the `_into` forms write it to memory of the range's own space and are
// asynchronous on a device. Scratch: at most one element per 16 KiB of input, from the context's pool.
//
// Every algorithm is deterministic. `deterministic`, `single_pass` and every host algorithm combine in an order that
// depends on the number of elements only: the same bits for any launch shape, device and thread count. The error of a
// float sum is at most (64 + n / 2^23) * eps / 2 * sum |x| for n elements (host: (log2(n) + 32) * eps / 2 * sum |x|); a
// sum of at most 2^30 equal powers of two is exact.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/primitives/operation.hpp>

#include <string_view>

namespace spargo {

// Each algorithm but the last writes one value per block and repeats on those until one is left.
enum class reduce_algorithm {
  automatic,              // single_pass on a device, deterministic on a host
  interleaved_divergent,  // device: every second, fourth, eighth ... thread adds: half of each warp is idle
  interleaved_strided,    // device: neighbouring threads add at a growing stride: bank conflicts
  sequential,             // device: the upper half is added to the lower: neither divergence nor conflicts
  add_on_load,            // device: each thread adds two elements as it loads them
  coarsened,              // device: each thread adds eight, all loads in flight at once
  warp_shuffle,           // device: as before, with shuffles instead of shared memory within a warp
  deterministic,          // host and device: a tree over the elements; on a device one launch per level
  single_pass,            // device: one launch, 16-byte loads; the block that finishes last adds the blocks' values
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<reduce_algorithm> enum_rows() noexcept;

struct SPARGO_EXPORT reduce_options {
  reduce_algorithm algorithm = reduce_algorithm::automatic;
  // Number of blocks of single_pass; 0: as many as are resident. Affects the time, never the result.
  int blocks = 0;
};

// values[0] op values[1] op ... An empty range gives the identity (sum 0, product 1, bit_and all ones, bit_or 0).
// Throws invalid_argument for `min` and `max` of an empty range, a null range of non-zero size, bitwise operations on
// floating-point values; unsupported for an algorithm of the other backend. O(n) work, n reads.
template <detail::scalar T, class Space>
[[nodiscard]] SPARGO_EXPORT T reduce(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> values,
                                     operation op = operation::sum, const reduce_options& options = {});

// The same, into result[0]; `result` has one element and may be part of `values`.
template <detail::scalar T, class Space>
SPARGO_EXPORT void reduce_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> values,
                               span<T, Space> result, operation op = operation::sum,
                               const reduce_options& options = {});

// a[0] * b[0] + a[1] * b[1] + ...; 0 for empty ranges. Sizes are equal. Integers wrap; floating-point products are
// rounded before they are added. 2n reads.
template <detail::scalar T, class Space>
[[nodiscard]] SPARGO_EXPORT T dot(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
                                  std::type_identity_t<span<const T, Space>> b, const reduce_options& options = {});
template <detail::scalar T, class Space>
SPARGO_EXPORT void dot_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
                            std::type_identity_t<span<const T, Space>> b, span<T, Space> result,
                            const reduce_options& options = {});

// max over i of |a[i] - b[i]|; 0 for empty ranges, NaN if any is NaN. Sizes are equal, integer differences fit T. 2n
// reads.
template <detail::scalar T, class Space>
[[nodiscard]] SPARGO_EXPORT T max_abs_difference(const context<Space>& ctx,
                                                 std::type_identity_t<span<const T, Space>> a,
                                                 std::type_identity_t<span<const T, Space>> b,
                                                 const reduce_options& options = {});
template <detail::scalar T, class Space>
SPARGO_EXPORT void max_abs_difference_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
                                           std::type_identity_t<span<const T, Space>> b, span<T, Space> result,
                                           const reduce_options& options = {});

// reduce(ctx, values, operation::sum) and (..., operation::max), for callers that name the types.
template <detail::scalar T, class Space>
[[nodiscard]] SPARGO_EXPORT T reduce_sum(const context<Space>& ctx, span<const T, Space> values);
template <detail::scalar T, class Space>
[[nodiscard]] SPARGO_EXPORT T reduce_max(const context<Space>& ctx, span<const T, Space> values);

// For arrays, containers and spans, without template arguments.
template <class Space, detail::input_range<Space> Values>
[[nodiscard]] auto reduce(const context<Space>& ctx, const Values& values, operation op = operation::sum,
                          const reduce_options& options = {}) {
  return reduce<detail::element_of<Values>, Space>(ctx, values, op, options);
}
template <class Space, detail::input_range<Space> Values>
[[nodiscard]] auto reduce_sum(const context<Space>& ctx, const Values& values) {
  return reduce_sum<detail::element_of<Values>, Space>(ctx, values);
}
template <class Space, detail::input_range<Space> Values>
[[nodiscard]] auto reduce_max(const context<Space>& ctx, const Values& values) {
  return reduce_max<detail::element_of<Values>, Space>(ctx, values);
}
template <class Space, detail::input_range<Space> A, detail::input_range<Space> B>
[[nodiscard]] auto dot(const context<Space>& ctx, const A& a, const B& b, const reduce_options& options = {}) {
  return dot<detail::element_of<A>, Space>(ctx, a, b, options);
}
template <class Space, detail::input_range<Space> A, detail::input_range<Space> B>
[[nodiscard]] auto max_abs_difference(const context<Space>& ctx, const A& a, const B& b,
                                      const reduce_options& options = {}) {
  return max_abs_difference<detail::element_of<A>, Space>(ctx, a, b, options);
}
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void reduce_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> values, Out&& result,
                 operation op = operation::sum, const reduce_options& options = {}) {
  reduce_into<T, Space>(ctx, values, result, op, options);
}
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void dot_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
              std::type_identity_t<span<const T, Space>> b, Out&& result, const reduce_options& options = {}) {
  dot_into<T, Space>(ctx, a, b, result, options);
}
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void max_abs_difference_into(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> a,
                             std::type_identity_t<span<const T, Space>> b, Out&& result,
                             const reduce_options& options = {}) {
  max_abs_difference_into<T, Space>(ctx, a, b, result, options);
}

}  // namespace spargo

// Prefix sums, and scans under any associative operation.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/primitives/operation.hpp>

#include <string_view>

namespace spargo {

// Every algorithm gives the same bits for any thread count, launch and alignment.
enum class scan_algorithm {
  automatic,  // chained_blocks on the host, decoupled_lookback on a device

  // Device: textbook block scans, extended to any length: the blocks' totals are scanned recursively, and a final pass
  // adds each block's prefix: 4n element moves.
  kogge_stone,                  // log2(b) steps in one buffer, two barriers per step (Kogge and Stone 1973)
  kogge_stone_double_buffered,  // the same between two buffers, one barrier per step
  brent_kung,  // an up-sweep and a down-sweep of a reduction tree, 2b operations for b elements (Brent and Kung 1982)

  // Device: one pass, 2n element moves. Tiles publish their totals early and look back over those of their predecessors
  // (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016).
  decoupled_lookback,

  // Host.
  sequential,     // one loop in one thread
  chained_blocks  // threads pass on cache-sized blocks; a block's second pass hits the cache: 2n moves
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<scan_algorithm> enum_rows() noexcept;

struct SPARGO_EXPORT scan_options {
  scan_algorithm algorithm = scan_algorithm::automatic;
};

// out[i] = in[0] op ... op in[i-1]; out[0] is the operation's identity: 0 for sum and bit_or, 1 for product, all ones
// for bit_and; for min and max the largest and smallest value of T (an infinity for floats). T: int32, int64, float,
// double. `in` and `out` have equal sizes, any length including 0, any alignment, and may be the same range.
//
// Operations are regrouped, never reordered. Integers wrap. The error of a float sum is at most d * eps * (|in[0]| +
// ... + |in[i]|), where d is the longest chain of additions:
//   sequential n; chained_blocks n/2^14 + 2200;
//   decoupled_lookback n/2^18 + 130; block algorithms 25 for each of log_512(n) levels.
// Sums, products, min and max are NaN from the first NaN on.
//
// Asynchronous on a device. Scratch: 8 bytes per few thousand elements (16 for 8-byte types); block algorithms n/511
// elements.
// Throws invalid_argument if sizes differ, ranges overlap without being the same, a range of non-zero size is null, for
// a bitwise operation on floats; unsupported for an algorithm of the other backend.
template <detail::scalar T, class Space>
SPARGO_EXPORT void exclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                                  span<T, Space> out, operation op = operation::sum, const scan_options& options = {});

// out[i] = in[0] op ... op in[i]; otherwise as exclusive_scan.
template <detail::scalar T, class Space>
SPARGO_EXPORT void inclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                                  span<T, Space> out, operation op = operation::sum, const scan_options& options = {});

// For arrays and containers.
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void exclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, Out&& out,
                    operation op = operation::sum, const scan_options& options = {}) {
  exclusive_scan<T, Space>(ctx, in, out, op, options);
}
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void inclusive_scan(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, Out&& out,
                    operation op = operation::sum, const scan_options& options = {}) {
  inclusive_scan<T, Space>(ctx, in, out, op, options);
}

}  // namespace spargo

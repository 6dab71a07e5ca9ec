// The searches of `validate` on host and device; validate.cpp has the checks and messages.
#pragma once

#include <spargo/formats/validate.hpp>

#include "core/backend.hpp"
#include "primitives/element.hpp"

namespace spargo::detail::validate {

// --- Host --------------------------------------------------------------------------------------------------------

// Each returns the first i that violates the condition, or -1.
template <index_type O>
std::int64_t find_decrease(const context<host>& ctx, span<const O, host> offsets);  // offsets[i] > offsets[i + 1]
template <index_type I>
std::int64_t find_outside(const context<host>& ctx, span<const I, host> values, std::int64_t first,
                          std::int64_t last);  // not in [first, last)
template <index_type I, index_type O>
std::int64_t find_unordered(const context<host>& ctx, span<const O, host> offsets,
                            span<const I, host> indices);  // not above its predecessor in the same row
template <index_type O>
std::int64_t find_uneven_slice(const context<host>& ctx, span<const O, host> slice_offsets,
                               std::int64_t height);  // not a multiple of `height`
template <index_type I, index_type O>
std::int64_t find_long_slot(const context<host>& ctx, span<const O, host> slice_offsets,
                            span<const I, host> permutation, span<const I, host> lengths,
                            std::int64_t height);  // negative, wider than the slice, or not 0 without a row

// owner[row] = the first slot that holds the row, UINT64_MAX for none. The searches below find the first slot whose row
// has another owner, and the first row without one.
template <index_type I>
void claim_rows(const context<host>& ctx, span<const I, host> permutation, span<std::uint64_t, host> owner);
template <index_type I>
std::int64_t find_repeated(const context<host>& ctx, span<const I, host> permutation,
                           span<const std::uint64_t, host> owner);
std::int64_t find_unclaimed(const context<host>& ctx, span<const std::uint64_t, host> owner);

template <index_type I>
std::int64_t sum_lengths(const context<host>& ctx, span<const I, host> lengths);  // lengths are not negative

// --- Device: the same; all but `claim_rows` synchronise the stream ---------------------------------------------------

template <index_type O>
std::int64_t find_decrease(const context<device>& ctx, span<const O, device> offsets);
template <index_type I>
std::int64_t find_outside(const context<device>& ctx, span<const I, device> values, std::int64_t first,
                          std::int64_t last);
template <index_type I, index_type O>
std::int64_t find_unordered(const context<device>& ctx, span<const O, device> offsets, span<const I, device> indices);
template <index_type O>
std::int64_t find_uneven_slice(const context<device>& ctx, span<const O, device> slice_offsets, std::int64_t height);
template <index_type I, index_type O>
std::int64_t find_long_slot(const context<device>& ctx, span<const O, device> slice_offsets,
                            span<const I, device> permutation, span<const I, device> lengths, std::int64_t height);
template <index_type I>
void claim_rows(const context<device>& ctx, span<const I, device> permutation, span<std::uint64_t, device> owner);
template <index_type I>
std::int64_t find_repeated(const context<device>& ctx, span<const I, device> permutation,
                           span<const std::uint64_t, device> owner);
std::int64_t find_unclaimed(const context<device>& ctx, span<const std::uint64_t, device> owner);
template <index_type I>
std::int64_t sum_lengths(const context<device>& ctx, span<const I, device> lengths);

}  // namespace spargo::detail::validate

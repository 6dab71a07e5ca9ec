// The device halves of graph/reorder.hpp, whose arguments are checked. For at most `most_rows` rows.
#pragma once

#include <spargo/graph/reorder.hpp>

#include <cstdint>

namespace spargo::detail::reorder {

inline constexpr std::int64_t most_rows = (std::int64_t{1} << 32) - 2;  // positions have 32 bits; one is no position

template <class I, class O>
array<I, device> reverse_cuthill_mckee(const context<device>& ctx, const graph_view<I, O, device>& g);

// All rows by their lengths, ties by number. Asynchronous.
enum class length_order { ascending, descending };
template <class I, class O>
array<std::uint32_t, device> by_length(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                       length_order which);

template <class I>
array<I, device> as_indices(const context<device>& ctx, const array<std::uint32_t, device>& order);

// The first position of `order` whose row is out of range or has an earlier position; -1: none.
template <class I>
std::int64_t first_fault(const context<device>& ctx, span<const I, device> order);

// `order` may be empty.
template <class I, class O>
matrix_envelope envelope(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                         span<const I, device> order);

}  // namespace spargo::detail::reorder

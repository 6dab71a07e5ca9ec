// Checks the invariants of arrays from outside. Throws invalid_data, naming the first wrong row and entry. O(nnz), on
// the host or the device; device checks synchronise the stream.
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/formats/ell.hpp>
#include <spargo/formats/sell.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class column_order { any, ascending_distinct };

template <index_type I, index_type O, class Space>
SPARGO_EXPORT void validate(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& matrix,
                            column_order order = column_order::any);

template <entry_type V, index_type I, index_type O, class Space>
SPARGO_EXPORT void validate(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                            column_order order = column_order::any);

template <entry_type V, index_type I, class Space>
SPARGO_EXPORT void validate(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix);

template <entry_type V, index_type I, class Space>
SPARGO_EXPORT void validate(const context<Space>& ctx, const ell_view<const V, I, Space>& matrix);

template <entry_type V, index_type I, index_type O, class Space>
SPARGO_EXPORT void validate(const context<Space>& ctx, const sell_view<const V, I, O, Space>& matrix);

// For matrices that own their arrays or have mutable values.
template <class Space, detail::viewable Matrix>
void validate(const context<Space>& ctx, const Matrix& matrix) {
  validate(ctx, detail::view_of(matrix));
}
template <class Space, detail::viewable Matrix>
void validate(const context<Space>& ctx, const Matrix& matrix, column_order order) {
  validate(ctx, detail::view_of(matrix), order);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

// What the structure operations do on a device, in *_cuda.cu; what only moves entries is compiled once for all value
// types. The functions that the host has too are overloads of the same name.
#pragma once

#include "core/function_ref.hpp"
#include "sparse/algebra/checks.hpp"

#include <spargo/sparse/algebra.hpp>

#include <cstring>

namespace spargo::detail::algebra {

template <index_type I, index_type O>
[[nodiscard]] bool has_canonical_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix);

// alpha A + beta B of canonical matrices of the same shape.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] csr_matrix<V, I, O, device> device_sum(const context<device>& ctx, V alpha,
                                                     const csr_view<const V, I, O, device>& a, V beta,
                                                     const csr_view<const V, I, O, device>& b);

// Values of 0 (pattern), 4, 8 or 16 bytes.
struct value_moves {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;

  // On the host: to[k .. k + count) = from[first .. first + count)
  void range(std::int64_t k, std::int64_t first, std::int64_t count) const {
    if (bytes == 0 || count == 0) return;
    std::memcpy(static_cast<char*>(to) + static_cast<std::size_t>(k) * bytes,
                static_cast<const char*>(from) + static_cast<std::size_t>(first) * bytes,
                static_cast<std::size_t>(count) * bytes);
  }
  void one(std::int64_t k, std::int64_t source) const {
    if (bytes == 8) return move<8>(k, source);
    if (bytes == 4) return move<4>(k, source);
    if (bytes == 16) return move<16>(k, source);
  }

 private:
  template <std::size_t Bytes>
  void move(std::int64_t k, std::int64_t source) const {
    std::memcpy(static_cast<char*>(to) + static_cast<std::size_t>(k) * Bytes,
                static_cast<const char*>(from) + static_cast<std::size_t>(source) * Bytes, Bytes);
  }
};

// Makes the values' array once the number of entries is known.
using make_values = function_ref<value_moves(std::int64_t)>;

// One of the matrices of a stack.
template <class I, class O, class Space>
struct block {
  csr_pattern_view<I, O, Space> rows;
  const void* values;
};

template <class I, class Space>
[[nodiscard]] std::int64_t size_of(const index_selection<I, Space>& s, I all) {
  using kind = typename index_selection<I, Space>::kind;
  return s.which == kind::all ? all : s.which == kind::range ? s.last - s.first : s.list.size();
}

// --- Device ---------------------------------------------------------------

// The position of the first index outside [0, all), or the first that is outside or has been there before; -1: none.
template <index_type I>
[[nodiscard]] std::int64_t first_outside(const context<device>& ctx, span<const I, device> list, I all);
template <index_type I>
[[nodiscard]] std::int64_t first_misplaced(const context<device>& ctx, span<const I, device> order, I all);

template <index_type I, index_type O>
[[nodiscard]] csr_matrix<pattern, I, O, device> extract_rows(const context<device>& ctx,
                                                             const csr_pattern_view<I, O, device>& m,
                                                             const index_selection<I, device>& rows, make_values make);
template <index_type I, index_type O>
[[nodiscard]] csr_matrix<pattern, I, O, device> extract_columns(const context<device>& ctx,
                                                                const csr_pattern_view<I, O, device>& m,
                                                                const index_selection<I, device>& cols,
                                                                make_values make);
template <index_type I, index_type O>
[[nodiscard]] csr_matrix<pattern, I, O, device> permute_columns(const context<device>& ctx,
                                                                const csr_pattern_view<I, O, device>& m,
                                                                span<const I, device> order, make_values make);

// A bit per entry.
using entry_flags = array<std::uint32_t, device>;
template <index_type I, index_type O>
[[nodiscard]] entry_flags flag_part(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                                    matrix_part part);
template <index_type I, index_type O>
[[nodiscard]] entry_flags flag_diagonal(const context<device>& ctx, const csr_pattern_view<I, O, device>& m);
template <value_type V>
[[nodiscard]] entry_flags flag_from(const context<device>& ctx, const span<const V, device>& values, double threshold);
template <value_type V>
[[nodiscard]] entry_flags flag_nonzero(const context<device>& ctx, const span<const V, device>& values);
// The entries whose flag is set.
template <index_type I, index_type O>
[[nodiscard]] csr_matrix<pattern, I, O, device> filter_pattern(const context<device>& ctx,
                                                               const csr_pattern_view<I, O, device>& m,
                                                               const entry_flags& flags, make_values make);

template <value_type V, index_type O>
void scale_values_of_rows(const context<device>& ctx, span<const V, device> factors, span<const O, device> offsets,
                          span<V, device> values);
template <value_type V, index_type I>
void scale_values_of_columns(const context<device>& ctx, span<const V, device> factors, span<const I, device> indices,
                             span<V, device> values);
template <value_type V>
void conjugate(const context<device>& ctx, span<V, device> values);
// The sums of the first rows, from left to right, as many as there are sums.
template <value_type V, index_type O>
void sum_rows(const context<device>& ctx, span<const V, device> values, span<const O, device> offsets,
              span<V, device> sums);
template <value_type V, index_type I, index_type O>
[[nodiscard]] matrix_norms norms_of(const context<device>& ctx, const csr_view<const V, I, O, device>& m);

// Fill `to`, whose sizes are right, and its values.
template <index_type I, index_type O>
void stack_below(const context<device>& ctx, const std::vector<block<I, O, device>>& blocks, value_moves values,
                 csr_matrix<pattern, I, O, device>& to);
template <index_type I, index_type O>
void stack_beside(const context<device>& ctx, const std::vector<block<I, O, device>>& blocks, value_moves values,
                  csr_matrix<pattern, I, O, device>& to);
template <entry_type V, index_type I, index_type O>
void fill_kronecker(const context<device>& ctx, const csr_view<const V, I, O, device>& a,
                    const csr_view<const V, I, O, device>& b, csr_matrix<V, I, O, device>& to);

}  // namespace spargo::detail::algebra

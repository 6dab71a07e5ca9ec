// Shared by the operations that make matrices from matrices: checks, offsets, and values moved by their size, so that
// what only moves entries is compiled once for all value types.
#pragma once

#include "core/backend.hpp"
#include "core/parallel.hpp"
#include "sparse/algebra/backend.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

namespace spargo::detail::algebra {

template <class V, class I, class O, class Space>
void expect_arrays(std::string_view operation, const csr_view<const V, I, O, Space>& m) {
  expect_csr(operation, {m.rows, m.cols, m.offsets.size(), m.nnz(), is_pattern<V> ? m.nnz() : m.values.size()});
}

// Offsets from count(row) -> std::int64_t, called in parallel.
template <class O, class Count>
[[nodiscard]] array<O, host> offsets_of(const context<host>& ctx, std::string_view operation, std::int64_t rows,
                                        Count&& count) {
  array<std::int64_t, host> counts(ctx, rows);
  parallel_for(ctx.threads(), rows, grain::rows, [&](std::int64_t r) { counts[r] = count(r); });
  array<O, host> offsets(ctx, rows + 1);
  std::int64_t sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    offsets[r] = static_cast<O>(sum);
    sum += counts[r];
  }
  expect_entries_fit(operation, sum, sizeof(O));
  offsets[rows] = static_cast<O>(sum);
  return offsets;
}

template <class V>
inline constexpr std::size_t moved_bytes = is_pattern<V> ? 0 : sizeof(V);

// The pattern that make(make_values) gives, with the values of `from` that it moves.
template <class V, class I, class O, class Space, class Make>
[[nodiscard]] csr_matrix<V, I, O, Space> moved_from(const context<Space>& ctx,
                                                    const csr_view<const V, I, O, Space>& from, Make&& make) {
  array<V, Space> values;
  const auto sized = [&](std::int64_t nnz) {
    values = {ctx, is_pattern<V> ? 0 : nnz};
    return value_moves{from.values.data(), values.data(), moved_bytes<V>};
  };
  csr_matrix<pattern, I, O, Space> made = make(make_values(sized));
  return {made.rows(), made.cols(), std::move(made.offsets()), std::move(made.indices()), std::move(values)};
}

}  // namespace spargo::detail::algebra

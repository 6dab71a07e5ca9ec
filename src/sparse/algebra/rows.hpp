// Shared by the operations that make matrices from matrices: checks, offsets, and values moved by their size, so that
// what only moves entries is compiled once for all value types.
#pragma once

#include "core/parallel.hpp"

#include <spargo/core/error.hpp>
#include <spargo/formats/csr.hpp>

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

namespace spargo::detail::algebra {

template <class V, class I, class O, class Space>
void expect_arrays(std::string_view operation, const csr_view<const V, I, O, Space>& m) {
  SPARGO_EXPECTS(m.rows >= 0 && m.cols >= 0, fmt::format("{}: a CSR matrix of {} x {}", operation, m.rows, m.cols));
  SPARGO_EXPECTS(m.offsets.size() == std::int64_t{m.rows} + 1,
                 fmt::format("{}: {} offsets for {} rows", operation, m.offsets.size(), m.rows));
  SPARGO_EXPECTS(is_pattern<V> || m.values.size() == m.nnz(),
                 fmt::format("{}: {} values for {} entries", operation, m.values.size(), m.nnz()));
}

template <class O>
void expect_entries_fit(std::string_view operation, std::int64_t nnz) {
  if (nnz > std::numeric_limits<O>::max()) {
    throw error(error_code::unsupported, fmt::format("{}: {} entries exceed {}-bit offsets (at most {})", operation,
                                                     nnz, 8 * sizeof(O), std::numeric_limits<O>::max()));
  }
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
    expect_entries_fit<O>(operation, sum);
  }
  offsets[rows] = static_cast<O>(sum);
  return offsets;
}

// Values of 0 (pattern), 4, 8 or 16 bytes.
struct value_moves {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;

  // to[k .. k + count) = from[first .. first + count)
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

template <class V>
inline constexpr std::size_t moved_bytes = is_pattern<V> ? 0 : sizeof(V);

// Makes the values' array, of nnz elements, once the pattern's size is known.
template <class V>
class value_source {
 public:
  value_source(const context<host>& ctx, span<const V, host> from) : ctx_(ctx), from_(from) {}

  [[nodiscard]] value_moves make(std::int64_t nnz) {
    made_ = {ctx_, is_pattern<V> ? 0 : nnz};
    return {from_.data(), made_.data(), moved_bytes<V>};
  }
  [[nodiscard]] array<V, host> take() { return std::move(made_); }

 private:
  const context<host>& ctx_;
  span<const V, host> from_;
  array<V, host> made_;
};

// A pattern with the values that were made for it.
template <class V, class I, class O>
[[nodiscard]] csr_matrix<V, I, O, host> with_values(csr_matrix<pattern, I, O, host> made, array<V, host> values) {
  return {made.rows(), made.cols(), std::move(made.offsets()), std::move(made.indices()), std::move(values)};
}

}  // namespace spargo::detail::algebra

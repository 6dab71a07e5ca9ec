// Reads any input into a matrix, compiled once for all types: run-time types are alternatives of a variant.
//
// `describe_input` determines the types: the narrowest index type for the dimensions, and the kind of the values. Then
// the same stream is read with those types, so pipes work like files:
//
//   Matrix Market, generator, graph as text             ->  COO as listed (a triangle stays one)  ->  canonical CSR
//   snapshot, cache                                     ->  CSR, mapped
#pragma once

#include "input/cache.hpp"
#include "input/input.hpp"
#include "input/parse.hpp"

#include <spargo/formats/convert.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

namespace spargo::apps {

template <entry_type V, index_type I>
struct coo_input {
  coo_matrix<V, I, host> entries;  // as listed
  symmetry_kind triangle =
      symmetry_kind::general;  // symmetry of which the entries are a triangle; general: all entries
  input_facts facts;
};

// A CSR matrix that is owned or borrows a mapped snapshot: the cache's, or the input's (which must outlive it).
template <entry_type V, index_type I, index_type O>
struct csr_input {
  std::optional<snapshot> cached;
  csr_matrix<V, I, O, host> owned;
  array<V, host> converted;  // values for a snapshot's pattern
  csr_view<const V, I, O, host> matrix;
  input_facts facts;
  double load_ms = 0;     // reading and parsing
  double convert_ms = 0;  // to canonical CSR
  // The matrix on the device, if the device parsed and converted the text.
  csr_matrix<V, I, O, device> on_device;
};

// A variant with the alternatives of several variants.
template <class... Variants>
struct joined;
template <class... A>
struct joined<std::variant<A...>> {
  using type = std::variant<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<std::variant<A...>, std::variant<B...>, Rest...> : joined<std::variant<A..., B...>, Rest...> {};

template <entry_type V>
using any_coo = std::variant<coo_input<V, std::int32_t>, coo_input<V, std::int64_t>>;
template <entry_type V>
using any_csr = std::variant<csr_input<V, std::int32_t, std::int32_t>, csr_input<V, std::int32_t, std::int64_t>,
                             csr_input<V, std::int64_t, std::int64_t>>;
// For values of text formats, and for those of snapshots.
using any_entries = typename joined<any_coo<pattern>, any_coo<double>, any_coo<std::complex<double>>>::type;
using any_matrix = typename joined<any_csr<pattern>, any_csr<float>, any_csr<double>, any_csr<std::complex<float>>,
                                   any_csr<std::complex<double>>>::type;

// Text or a generated matrix as listed, with its values or, for a graph, without. Not for a snapshot.
[[nodiscard]] any_entries read_entries(const context<host>& ctx, const input_description& input,
                                       const read_options& options);
[[nodiscard]] any_coo<pattern> read_pattern(const context<host>& ctx, const input_description& input,
                                            const read_options& options);

// Converts entries to canonical CSR, freeing them.
[[nodiscard]] any_matrix to_canonical(const context<host>& ctx, any_entries read);

// The matrix of a snapshot, borrowed.
[[nodiscard]] any_matrix borrow_stored(const context<host>& ctx, const input_description& input);

// Canonical CSR with values V (pattern, float, double, complex<double>), duplicates summed; reads or writes the cache.
template <entry_type V>
[[nodiscard]] any_csr<V> read_csr(const context<host>& ctx, const input_description& input, const read_options& options,
                                  input_cache& cache, const parse_choice& parsing = {});

// The same with the input's own values; a graph as text without weights is a pattern.
struct cached_matrix {
  any_matrix read;
  input_cache cache;
};
[[nodiscard]] cached_matrix read_matrix(const context<host>& ctx, const input_description& input,
                                        const read_options& options, cache_mode mode);

template <class T>
struct type_tag {
  using type = T;
};

// Calls f(type_tag<O>) with the narrowest offset type for I and nnz.
template <index_type I, class F>
decltype(auto) with_offset(std::int64_t nnz, F&& f) {
  if constexpr (sizeof(I) == 4) {
    if (nnz <= std::numeric_limits<std::int32_t>::max()) return f(type_tag<std::int32_t>{});
  }
  return f(type_tag<std::int64_t>{});
}

// Converts values to another type; a pattern's entries become 1.
template <entry_type To, entry_type From>
[[nodiscard]] array<To, host> convert_values(const context<host>& ctx, span<const From, host> from, std::int64_t nnz) {
  if constexpr (is_pattern<To>) {
    return {ctx, 0};
  } else {
    array<To, host> to(ctx, nnz);
    for (std::int64_t k = 0; k < nnz; ++k) {
      if constexpr (is_pattern<From>) {
        to[k] = To(1);
      } else if constexpr (complex_type<From> && complex_type<To>) {
        using part = typename To::value_type;
        to[k] = To(static_cast<part>(from[k].real()), static_cast<part>(from[k].imag()));
      } else if constexpr (complex_type<To>) {
        to[k] = To(static_cast<typename To::value_type>(from[k]));
      } else if constexpr (complex_type<From>) {
        to[k] = static_cast<To>(from[k].real());  // unreachable: describe_input's field determines To
      } else {
        to[k] = static_cast<To>(from[k]);  // real to real
      }
    }
    return to;
  }
}

template <entry_type V>
[[nodiscard]] constexpr value_kind kind_of_values() {
  if constexpr (is_pattern<V>) return value_kind::pattern;
  if constexpr (std::same_as<V, float>) return value_kind::fp32;
  if constexpr (std::same_as<V, double>) return value_kind::fp64;
  if constexpr (std::same_as<V, std::complex<float>>) return value_kind::complex_fp32;
  return value_kind::complex_fp64;
}

}  // namespace spargo::apps

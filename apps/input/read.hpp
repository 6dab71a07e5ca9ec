// Any input read into a matrix, compiled here once for all types: what is known only at run time comes back as a
// variant.
//
// `describe_input` fixes the types: the narrowest index type that holds the dimensions, the kind of the values. Then
// the same stream is read with those types, so that a pipe does as well as a file:
//
//   Matrix Market, generator, edge list, METIS, DIMACS  ->  COO as listed (a triangle stays one)  ->  canonical CSR
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
  coo_matrix<V, I, host> entries;                   // as listed
  symmetry_kind triangle = symmetry_kind::general;  // of the matrix that the entries are a triangle of; general: all
  input_facts facts;
};

// A CSR matrix that is owned, or borrows a mapped snapshot: that of a cache, or the input's (which must outlive it).
template <entry_type V, index_type I, index_type O>
struct csr_input {
  std::optional<snapshot> cached;
  csr_matrix<V, I, O, host> owned;
  array<V, host> converted;  // values beside a snapshot's pattern
  csr_view<const V, I, O, host> matrix;
  input_facts facts;
  double load_ms = 0;     // reading and parsing
  double convert_ms = 0;  // to canonical CSR
  // Where the device parsed the text and converted it: the matrix there, too.
  csr_matrix<V, I, O, device> on_device;
};

// One variant of the alternatives of several.
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
// With the values of a text, and with those that a snapshot may have.
using any_entries = typename joined<any_coo<pattern>, any_coo<double>, any_coo<std::complex<double>>>::type;
using any_matrix = typename joined<any_csr<pattern>, any_csr<float>, any_csr<double>, any_csr<std::complex<float>>,
                                   any_csr<std::complex<double>>>::type;

// Text or a generated matrix, as listed, with the values it has or, for a graph, none. Not for a snapshot.
[[nodiscard]] any_entries read_entries(const context<host>& ctx, const input_description& input,
                                       const read_options& options);
[[nodiscard]] any_coo<pattern> read_pattern(const context<host>& ctx, const input_description& input,
                                            const read_options& options);

// What was read, as canonical CSR in its place.
[[nodiscard]] any_matrix to_canonical(const context<host>& ctx, any_entries read);

// The matrix of a snapshot as it lies there.
[[nodiscard]] any_matrix borrow_stored(const context<host>& ctx, const input_description& input);

// Any input as canonical CSR with values V (pattern, float, double, complex<double>), duplicates summed: from the cache
// if it can be used, which is written if not.
template <entry_type V>
[[nodiscard]] any_csr<V> read_csr(const context<host>& ctx, const input_description& input, const read_options& options,
                                  input_cache& cache, const parse_choice& parsing = {});

// The same with the values that the input has; a graph as text without weights is a pattern.
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

// f(type_tag<O>) with the narrowest offset type that goes with I and holds nnz.
template <index_type I, class F>
decltype(auto) with_offset(std::int64_t nnz, F&& f) {
  if constexpr (sizeof(I) == 4) {
    if (nnz <= std::numeric_limits<std::int32_t>::max()) return f(type_tag<std::int32_t>{});
  }
  return f(type_tag<std::int64_t>{});
}

// Values of another type, entry by entry; a pattern's entries are 1.
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
        to[k] = static_cast<To>(from[k].real());  // never reached: describe_input's field chooses To
      } else {
        to[k] = static_cast<To>(from[k]);  // a real one to a real one
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

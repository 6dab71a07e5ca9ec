// Rows by gathers: first the products of many rows, in full registers, then the rows' sums, eight rows at a time.
//
// A single row wastes part of its last register, and its end is mispredicted. Here products ignore row boundaries: up
// to 1024 go to a buffer in L1. Then eight rows of up to eight (or sixteen) entries are loaded under masks and reduced
// together without a branch. For processors with fast gathers; it pays off if x is in cache, so that its loads do not
// stall. Cost: a gather and a store per register of entries, three instructions per row plus the reduction.
//
// Sums have the bits of picked_rows: lane l adds the entries l, l + 8, ..., and lanes are added in the same order.
#pragma once

#include "sparse/simd/fetch.hpp"
#include "sparse/simd/x86/picked_rows.hpp"

#include <spargo/core/types.hpp>

namespace spargo::detail::spmv {

struct gathered_tuning {
  // Entries per buffer of products: 8 KiB of doubles.
  static constexpr std::int64_t buffered = 1024;
  // For more bytes of values per row on average, single rows are as fast, and faster if x exceeds L1. One Xeon core,
  // fp64, us, picked_rows and these: ani4 14.0, 10.3; JohnsHopkins55 210, 254 (sparse_tuning.txt).
  static constexpr std::int64_t longest_mean = 256;
};

// `Group` reduces eight rows of eight lanes: vector, name, load, load_first, add, store, any_longer, reduce.
template <class Simd, class Group>
struct gathered_rows {
  using V = typename Simd::value;
  using I = typename Simd::index;
  using picked = picked_rows<Simd>;
  using vector = typename Group::vector;
  static constexpr const char* name = Group::name;
  static constexpr std::int64_t collected = 256;  // rows summed before they are written
  static constexpr std::int64_t lanes = 8;        // per sum
  static constexpr std::int64_t rows_at_once = 8;
  static_assert(picked::lanes == lanes);

  // sums[l] = row first + l times x; entries from `limit` on must not be read.
  template <class O>
  [[gnu::always_inline]] static void row_sums(const O* offsets, const I* indices, const V* values, const V* x,
                                              std::int64_t first, std::int64_t count, std::int64_t limit, V* sums) {
    while (count > 0) {
      const std::int64_t begin = offsets[first];
      std::int64_t rows = count - count % rows_at_once;
      while (rows > 0 && offsets[first + rows] - begin > gathered_tuning::buffered) {
        rows = rows / 2 - rows / 2 % rows_at_once;
      }
      constexpr std::int64_t longest_mean = gathered_tuning::longest_mean / static_cast<std::int64_t>(sizeof(V));
      if (rows > 0 && offsets[first + rows] - begin <= rows * longest_mean) {
        buffered_sums<O>(offsets, indices, values, x, first, rows, limit, sums);
      } else {
        if (rows == 0) rows = count < rows_at_once ? count : rows_at_once;
        picked::template row_sums<O>(offsets, indices, values, x, first, rows, limit, sums);
      }
      first += rows;
      sums += rows;
      count -= rows;
    }
  }

 private:
  // Whole groups of rows whose products fit the buffer.
  template <class O>
  [[gnu::always_inline]] static void buffered_sums(const O* offsets, const I* indices, const V* values, const V* x,
                                                   std::int64_t first, std::int64_t rows, std::int64_t limit, V* sums) {
    alignas(64) V products[gathered_tuning::buffered + Simd::lanes + 2 * lanes];
    const std::int64_t begin = offsets[first];
    const std::int64_t end = offsets[first + rows];
    std::int64_t entry = begin;
    for (; entry < end && entry + Simd::lanes <= limit; entry += Simd::lanes) {
      fetch(values + entry, picked_tuning::ahead);
      fetch(indices + entry, picked_tuning::ahead);
      Simd::store(products + (entry - begin),
                  Simd::multiply(Simd::load(values + entry), Simd::gather(x, indices + entry)));
    }
    for (; entry < end; ++entry) products[entry - begin] = values[entry] * x[indices[entry]];
    for (std::int64_t row = first; row < first + rows; row += rows_at_once, sums += rows_at_once) {
      Group::store(sums, group_sums<O>(products, begin, offsets + row));
    }
  }

  // `products` start at entry `begin`; `offsets` are those of the group's first row on.
  template <class O>
  [[gnu::always_inline]] static vector group_sums(const V* products, std::int64_t begin, const O* offsets) {
    const auto lengths = Group::lengths(offsets);
    vector a[rows_at_once];
    alignas(32) std::int32_t length[rows_at_once];
    if (!Group::any_longer(lengths, lanes)) {
      Group::store(length, lengths);
      for (int r = 0; r < rows_at_once; ++r) a[r] = Group::load_first(products + (offsets[r] - begin), length[r]);
    } else if (!Group::any_longer(lengths, 2 * lanes)) {
      alignas(32) std::int32_t more[rows_at_once];
      Group::store(length, Group::at_most(lengths, lanes));
      Group::store(more, Group::beyond(lengths, lanes));
      for (int r = 0; r < rows_at_once; ++r) {
        a[r] = Group::add(Group::load_first(products + (offsets[r] - begin), length[r]),
                          Group::load_first(products + (offsets[r] - begin + lanes), more[r]));
      }
    } else {
      Group::store(length, lengths);
      for (int r = 0; r < rows_at_once; ++r) a[r] = long_row(products + (offsets[r] - begin), length[r]);
    }
    return Group::reduce(a);
  }

  [[gnu::always_inline]] static vector long_row(const V* products, std::int32_t length) {
    if (length <= lanes) return Group::load_first(products, length);
    vector sum = Group::load(products);
    for (length -= lanes, products += lanes; length > lanes; length -= lanes, products += lanes) {
      sum = Group::add(sum, Group::load(products));
    }
    return Group::add(sum, Group::load_first(products, length));
  }
};

}  // namespace spargo::detail::spmv

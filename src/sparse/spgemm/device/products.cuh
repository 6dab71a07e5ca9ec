// The products of a row of C, at most 32 at a time, in the order of A's row and then of B's rows. Products are loaded
// before the ones ahead of them are used.
//
// flattened  A warp loads 32 entries of A, scans the lengths of the rows of B that they select, and each lane finds its
//            product's row by a binary search in registers. So lanes are busy however short B's rows are.
// by_rows    One row of B after the other: no search, and columns are distinct; lanes idle at the ends of rows. Half
// the
//            time where rows have 20 entries or more (H100, stencil of 27 points, band of 21).
#pragma once

#include "core/device/warp.cuh"
#include "core/search.hpp"
#include "sparse/rounded.cuh"

#include <cstdint>
#include <type_traits>

namespace spargo::detail::spgemm {

// Arrays of A's rows that are multiplied, and of B.
template <class I, class O>
struct device_factors {
  const O* a_offsets;
  const I* a_columns;
  const O* b_offsets;
  const I* b_columns;
  bool b_ascends;  // columns of B's rows are ascending and distinct
};

// What a product has besides its column: a value, nothing, or, where a column is a word of 32, its bits.
template <class D>
struct factor_values {
  using value = D;
  const D* a;
  const D* b;
};
struct no_value {};
struct no_values {
  using value = no_value;
};
struct word_bits {
  using value = unsigned;
  const unsigned* b;
};
template <class Values>
inline constexpr bool has_factors = !std::is_same_v<Values, no_values> && !std::is_same_v<Values, word_bits>;

enum class product_walk { flattened, by_rows };

// One lane's product. `distinct`, the same in all lanes: the warp's columns are.
template <class I, class D>
struct lane_product {
  bool active;
  bool distinct;
  I column;
  D value;
};

template <class I>
struct column_range {
  I low = 0;
  I high = 0;  // inclusive
};

// The part of a row of B that an entry of A selects.
template <class O, class D>
struct selected_row {
  O first = 0;
  std::int64_t length = 0;
  D factor{};
};

template <bool Ranged, class Values, class I, class O>
__device__ __forceinline__ auto select_row(const device_factors<I, O>& f, const Values& values, O k,
                                           const column_range<I>& range) {
  selected_row<O, typename Values::value> row;
  const I j = f.a_columns[k];
  row.first = f.b_offsets[j];
  O last = f.b_offsets[j + 1];
  if (Ranged && f.b_ascends) {
    row.first = first_where(row.first, last, [&](O q) { return f.b_columns[q] >= range.low; });
    // Few entries lie in the range: steps that double, then a search within the last one.
    O step = 1;
    O from = row.first;
    while (last - from >= step && f.b_columns[from + step - 1] <= range.high) {
      from += step;
      step *= 2;
    }
    last = first_where(from, last - from < step ? last : static_cast<O>(from + step),
                       [&](O q) { return f.b_columns[q] > range.high; });
  }
  row.length = static_cast<std::int64_t>(last) - row.first;
  if constexpr (has_factors<Values>) row.factor = values.a[k];
  return row;
}

// use(lane_product) for the products of each lane's row; their number fits 32 bits.
template <bool Ranged, class I, class O, class Values, class Use>
__device__ __forceinline__ void for_each_product_of(const device_factors<I, O>& f, const Values& values,
                                                    const selected_row<O, typename Values::value>& row,
                                                    const column_range<I>& range, Use& use) {
  using D = typename Values::value;
  const int lane = lane_id();
  const auto length = static_cast<unsigned>(row.length);
  const unsigned upto = warp_inclusive_sum(length, lane);
  const unsigned total = shuffle(upto, warp_size - 1);
  const O shift = row.first - static_cast<O>(upto - length);
  const auto load = [&](unsigned base) {
    const unsigned q = base + static_cast<unsigned>(lane);
    int owner = 0;
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) {
      if (shuffle(upto, owner + step - 1) <= q) owner += step;
    }
    lane_product<I, D> product{};
    product.active = q < total;
    const O at = shuffle(shift, owner) + static_cast<O>(q);
    if (product.active) product.column = f.b_columns[at];
    if constexpr (std::is_same_v<Values, word_bits>) {
      if (product.active) product.value = values.b[at];
    }
    if constexpr (has_factors<Values>) {
      const D factor = shuffle(row.factor, owner);
      if (product.active) product.value = rounded_product(factor, values.b[at]);
      product.distinct = f.b_ascends && __all_sync(full_mask, owner == shuffle(owner, 0)) != 0;
    }
    if (Ranged && !f.b_ascends) {
      product.active = product.active && product.column >= range.low && product.column <= range.high;
    }
    return product;
  };
  if (total == 0) return;
  lane_product<I, D> next = load(0);
  for (unsigned base = 0; base < total; base += warp_size) {
    const lane_product<I, D> now = next;
    if (base + warp_size < total) next = load(base + warp_size);
    use(now);
  }
}

// use(lane_product) for the products of A's entries [k, end), by all lanes of a warp. B's columns ascend, so that the
// lengths of rows fit I.
template <class I, class O, class Values, class Use>
__device__ __forceinline__ void for_each_product_by_rows(const device_factors<I, O>& f, const Values& values,
                                                         std::int64_t k, std::int64_t end, Use use) {
  using D = typename Values::value;
  const int lane = lane_id();
  for (; k < end; k += warp_size) {
    selected_row<O, D> row;
    if (k + lane < end) row = select_row<false>(f, values, static_cast<O>(k + lane), column_range<I>{});
    const int rows = static_cast<int>(min(end - k, std::int64_t{warp_size}));
    const auto load = [&](int from, std::int64_t q) {
      lane_product<I, D> product{};
      product.distinct = true;
      const O first = shuffle(row.first, from);
      product.active = q + lane < shuffle(static_cast<I>(row.length), from);
      const O at = first + static_cast<O>(q + lane);
      if (product.active) product.column = f.b_columns[at];
      if constexpr (has_factors<Values>) {
        const D factor = shuffle(row.factor, from);
        if (product.active) product.value = rounded_product(factor, values.b[at]);
      }
      return product;
    };
    lane_product<I, D> next = load(0, 0);
    lane_product<I, D> second = load(min(1, rows - 1), 0);
    for (int from = 0; from < rows; ++from) {
      const lane_product<I, D> now = next;
      next = second;
      if (from + 2 < rows) second = load(from + 2, 0);
      use(now);
      const std::int64_t length = shuffle(static_cast<I>(row.length), from);
      for (std::int64_t q = warp_size; q < length; q += warp_size) use(load(from, q));
    }
  }
}

// use(lane_product) for the products of A's entries [k, end), by all lanes of a warp. Ranged: those in the range.
template <bool Ranged, product_walk Walk, class I, class O, class Values, class Use>
__device__ __forceinline__ void for_each_product(const device_factors<I, O>& f, const Values& values, std::int64_t k,
                                                 std::int64_t end, const column_range<I>& range, Use use) {
  if constexpr (!Ranged && Walk == product_walk::by_rows) {
    for_each_product_by_rows(f, values, k, end, use);
    return;
  }
  constexpr std::int64_t longest_at_once = std::int64_t{1} << 26;
  const int lane = lane_id();
  for (; k < end; k += warp_size) {
    selected_row<O, typename Values::value> row;
    if (k + lane < end) row = select_row<Ranged>(f, values, static_cast<O>(k + lane), range);
    const bool has_long_rows = __any_sync(full_mask, row.length > longest_at_once) != 0;
    int turn = 0;           // of the lanes, where there are long rows
    std::int64_t done = 0;  // of the row whose turn it is
    do {
      auto segment = row;
      if (has_long_rows) {
        const std::int64_t left = shuffle(row.length, turn) - done;
        segment.first = row.first + static_cast<O>(done);
        segment.length = lane == turn ? min(left, longest_at_once) : 0;
        done = left > longest_at_once ? done + longest_at_once : 0;
        if (done == 0) ++turn;
      }
      for_each_product_of<Ranged>(f, values, segment, range, use);
    } while (has_long_rows && turn < warp_size);
  }
}

}  // namespace spargo::detail::spgemm

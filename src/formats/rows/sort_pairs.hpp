// Parallel stable sort of pairs by key: a radix sort of chunks, which are then merged pairwise.
//
// O(n log threads) besides the radix sort; memory: the pairs once more.
#pragma once

#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "formats/rows/row_sort.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::pair_sort {

struct sorting {
  // Minimum keys per thread: 0.2 ms, compared with some 10 us for a parallel region.
  static constexpr std::int64_t chunk = std::int64_t{1} << 14;
};

// Nonnegative keys, each with a value.
template <class Number>
struct sorted_pairs {
  array<std::int64_t, host> keys;
  array<Number, host> values;
};

template <class Number>
void merge(const sorted_pairs<Number>& from, std::int64_t first, std::int64_t middle, std::int64_t last,
           sorted_pairs<Number>& to) {
  std::int64_t left = first;
  std::int64_t right = middle;
  for (std::int64_t k = first; k < last; ++k) {
    const bool take_left = right == last || (left < middle && from.keys[left] <= from.keys[right]);
    const std::int64_t taken = take_left ? left++ : right++;
    to.keys[k] = from.keys[taken];
    to.values[k] = from.values[taken];
  }
}

// Radix-sorts chunks, then merges neighbours until one is left.
template <class Number>
void sort_pairs(const context<host>& ctx, sorted_pairs<Number>& pairs) {
  const std::int64_t size = pairs.keys.size();
  sorted_pairs<Number> spare{{ctx, size}, {ctx, size}};
  const parts chunks = split(size, ctx.threads(), sorting::chunk);
  parallel_parts(ctx.threads(), chunks.count, [&](std::int64_t p) {
    const std::int64_t first = chunks.first(p);
    radix_sort(pairs.keys.data() + first, pairs.values.data() + first, spare.keys.data() + first,
               spare.values.data() + first, chunks.last(p) - first);
  });
  for (std::int64_t step = 1; step < chunks.count; step *= 2) {
    parallel_parts(ctx.threads(), div_up(chunks.count, 2 * step), [&](std::int64_t pair) {
      const std::int64_t p = pair * 2 * step;
      const std::int64_t middle = std::min(p + step, chunks.count);
      const std::int64_t last = std::min(p + 2 * step, chunks.count);
      merge(pairs, chunks.first(p), chunks.first(middle), chunks.first(last), spare);
    });
    std::swap(pairs, spare);
  }
}

}  // namespace spargo::detail::pair_sort

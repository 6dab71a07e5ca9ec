// Reductions on the host over blocks of fixed size, combined pairwise: the result depends on the number of
// elements only, never on the threads.
//
// A sum adds 16 lanes of at most 16 elements each, then the lanes, then the chunks, each pairwise: the error is
// at most about (log2(n) + 16) * eps * sum |x|. Pairwise summation: Higham, SIAM J. Sci. Comput. 14(4), 1993.
#include "primitives/backend.hpp"
#include "primitives/parts.hpp"

#include <algorithm>
#include <cmath>

namespace spargo::detail {

namespace {

constexpr std::int64_t lanes = 16;       // independent accumulators: two AVX-512 vectors of float, four of double
constexpr std::int64_t chunk = 256;      // elements: 16 a lane
constexpr std::int64_t block = 1 << 14;  // elements a unit of parallel work; a power of two times `chunk`

// Signed integers wrap, floats are what they are.
template <class T>
T plus(T a, T b) {
  if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
  } else {
    return a + b;
  }
}

// NaN, once met, stays: it is never less than b.
template <class T>
T larger(T a, T b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(b)) return b;
  }
  return a < b ? b : a;
}

template <class T>
T sum_chunk(const T* x, std::int64_t n) {
  T lane[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::int64_t l = 0; l < lanes; ++l) lane[l] = plus(lane[l], x[i + l]);
  }
  for (std::int64_t l = 0; i + l < n; ++l) lane[l] = plus(lane[l], x[i + l]);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l) lane[l] = plus(lane[l], lane[l + half]);
  }
  return lane[0];
}

// Pairwise over chunks; depth log2(n / chunk).
template <class T>
T sum_pairwise(const T* x, std::int64_t n) {
  if (n <= chunk) return sum_chunk(x, n);
  const std::int64_t left = div_up(div_up(n, chunk), 2) * chunk;
  return plus(sum_pairwise(x, left), sum_pairwise(x + left, n - left));
}

template <class T>
T max_block(const T* x, std::int64_t n) {
  T largest = x[0];
  for (std::int64_t i = 1; i < n; ++i) largest = larger(largest, x[i]);
  return largest;
}

// One result a block, in parallel.
template <class T, class F>
array<T, host> each_block(const context<host>& ctx, span<const T, host> values, F&& reduce_block) {
  array<T, host> results(ctx, div_up(values.size(), block));
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t b = 0; b < results.size(); ++b) {
    results[b] = reduce_block(values.data() + b * block, std::min(block, values.size() - b * block));
  }
  return results;
}

}  // namespace

template <class T>
T reduce_sum(const context<host>& ctx, span<const T, host> values) {
  if (values.size() <= block) return sum_pairwise(values.data(), values.size());
  const auto sums = each_block(ctx, values, sum_pairwise<T>);
  return sum_pairwise(sums.data(), sums.size());
}

template <class T>
T reduce_max(const context<host>& ctx, span<const T, host> values) {
  if (values.size() <= block) return max_block(values.data(), values.size());
  const auto largest = each_block(ctx, values, max_block<T>);
  return max_block(largest.data(), largest.size());
}

#define INSTANTIATE(T)                                              \
  template T reduce_sum(const context<host>&, span<const T, host>); \
  template T reduce_max(const context<host>&, span<const T, host>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace spargo::detail

// Reductions on the host over blocks of fixed size, combined pairwise: the result depends on the number of elements
// only, never on the threads.
//
// A chunk is reduced in independent lanes, which the compiler turns into vectors, then the lanes and then the chunks
// are combined, each pairwise: the error of a sum is at most about (log2(n) + 32) * eps / 2 * sum |x|. Pairwise
// summation: Higham, SIAM J. Sci. Comput. 14(4), 1993. Cost: n reads; one element a block of scratch.
#include "primitives/reduce.hpp"

#include "primitives/parts.hpp"

#include <algorithm>

namespace spargo::detail {

namespace {

constexpr std::int64_t lanes = 32;       // independent accumulators: eight SSE vectors of float
constexpr std::int64_t chunk = 1024;     // elements: 32 a lane
constexpr std::int64_t block = 1 << 14;  // elements a unit of parallel work; a power of two times `chunk`

template <class Op, reduce_source Source, class T>
T item_at(const reduce_input<T>& in, std::int64_t i) {
  if constexpr (Source == reduce_source::values) {
    return in.a[i];
  } else {
    return reduce_item<Source>(in.a[i], in.b[i]);
  }
}

template <class Op, reduce_source Source, class T>
T reduce_chunk(const reduce_input<T>& in, std::int64_t first, std::int64_t n) {
  T lane[lanes];
  std::fill(lane, lane + lanes, Op::identity);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::int64_t l = 0; l < lanes; ++l) lane[l] = Op::apply(lane[l], item_at<Op, Source>(in, first + i + l));
  }
  for (std::int64_t l = 0; i + l < n; ++l) lane[l] = Op::apply(lane[l], item_at<Op, Source>(in, first + i + l));
  for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l) lane[l] = Op::apply(lane[l], lane[l + half]);
  }
  return lane[0];
}

// Pairwise over chunks; depth log2(n / chunk).
template <class Op, reduce_source Source, class T>
T reduce_pairwise(const reduce_input<T>& in, std::int64_t first, std::int64_t n) {
  if (n <= chunk) return reduce_chunk<Op, Source>(in, first, n);
  const std::int64_t left = div_up(div_up(n, chunk), 2) * chunk;
  return Op::apply(reduce_pairwise<Op, Source>(in, first, left),
                   reduce_pairwise<Op, Source>(in, first + left, n - left));
}

template <class Op, reduce_source Source, class T>
T reduce_all(const context<host>& ctx, const reduce_input<T>& in) {
  if (in.size <= block) return reduce_pairwise<Op, Source>(in, 0, in.size);
  array<T, host> results(ctx, div_up(in.size, block));
  const std::int64_t blocks = results.size();
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t b = 0; b < blocks; ++b) {
    results[b] = reduce_pairwise<Op, Source>(in, b * block, std::min(block, in.size - b * block));
  }
  return reduce_pairwise<Op, reduce_source::values>(reduce_input<T>{results.data(), nullptr, blocks}, 0, blocks);
}

}  // namespace

template <class T>
void reduce_host(const context<host>& ctx, reduce_source source, operation op, reduce_input<T> in, T* result) {
  with_reduction<T>("reduce", source, op, [&](auto apply, auto which) {
    *result = reduce_all<decltype(apply), decltype(which)::value>(ctx, in);
  });
}

#define INSTANTIATE(T) template void reduce_host(const context<host>&, reduce_source, operation, reduce_input<T>, T*);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace spargo::detail

#include "core/parallel.hpp"
#include "sparse/pattern_fingerprint.hpp"

#include "core/instantiate.hpp"

namespace spargo::detail {

namespace {

template <class T>
std::uint64_t sum_of(const context<host>& ctx, std::uint64_t array, const span<const T, host>& items) {
  const std::int64_t count = items.size();
  return parallel_reduce(
      ctx.threads(), count, grain::elements, std::uint64_t{0},
      [&](std::int64_t first, std::int64_t last) {
        std::uint64_t sum = 0;
        for (std::int64_t k = first; k < last; ++k) {
          sum += fingerprint_of(array, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(items[k]));
        }
        return sum;
      },
      std::plus<>{});
}

}  // namespace

template <class I, class O>
std::uint64_t pattern_fingerprint(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix) {
  return sum_of<O>(ctx, 0, matrix.offsets) + sum_of<I>(ctx, 1, matrix.indices);
}

#define INSTANTIATE(I, O) \
  template std::uint64_t pattern_fingerprint(const context<host>&, const csr_pattern_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail

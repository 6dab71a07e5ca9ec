// SpMM's inner loops for any processor, with 16-byte vectors.
#include "core/instantiate.hpp"
#include "sparse/simd/spmm_panels.hpp"

namespace spargo::detail::spmm {

namespace {

template <class V, class I>
void sum(const V* values, const I* indices, std::int64_t count, const V* x, std::int64_t x_stride, std::int64_t columns,
         V* sums) {
  row_sums<V, 16>(values, indices, count, x, x_stride, columns, sums);
}

template <class V, class I, class O>
void rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  all_rows<V, 16>(job, first, last, [](const product_job<V, I, O>& wide, std::int64_t begin, std::int64_t end) {
    wide_rows(wide, begin, end, sum<V, I>);
  });
}

}  // namespace

template <class V, class I, class O>
std::vector<row_loops<V, I, O>> usable_loops() {
  return {{rows<V, I, O>, sum<V, I>, "16-byte vectors"}};
}

#define INSTANTIATE(V, I, O) template std::vector<row_loops<V, I, O>> usable_loops<V, I, O>();
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmm

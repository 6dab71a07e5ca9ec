// SpMM's inner loops for x86, compiled for three instruction sets and chosen at run time.
#include "core/instantiate.hpp"
#include "sparse/simd/spmm_panels.hpp"

namespace spargo::detail::spmm {

namespace {

template <class V, class I>
[[gnu::noinline, gnu::target("avx512f,avx512vl,fma")]] void avx512_sum(const V* values, const I* indices,
                                                                       std::int64_t count, const V* x,
                                                                       std::int64_t x_stride, std::int64_t columns,
                                                                       V* sums) {
  row_sums<V, 64>(values, indices, count, x, x_stride, columns, sums);
}
template <class V, class I, class O>
[[gnu::noinline, gnu::target("avx512f,avx512vl,fma")]] void avx512_wide_rows(const product_job<V, I, O>& job,
                                                                             std::int64_t first, std::int64_t last) {
  wide_rows(job, first, last, avx512_sum<V, I>);
}
template <class V, class I, class O>
[[gnu::target("avx512f,avx512vl,fma")]] void avx512_rows(const product_job<V, I, O>& job, std::int64_t first,
                                                         std::int64_t last) {
  all_rows<V, 64>(job, first, last, avx512_wide_rows<V, I, O>);
}

template <class V, class I>
[[gnu::noinline, gnu::target("avx2,fma")]] void avx2_sum(const V* values, const I* indices, std::int64_t count,
                                                         const V* x, std::int64_t x_stride, std::int64_t columns,
                                                         V* sums) {
  row_sums<V, 32>(values, indices, count, x, x_stride, columns, sums);
}
template <class V, class I, class O>
[[gnu::noinline, gnu::target("avx2,fma")]] void avx2_wide_rows(const product_job<V, I, O>& job, std::int64_t first,
                                                               std::int64_t last) {
  wide_rows(job, first, last, avx2_sum<V, I>);
}
template <class V, class I, class O>
[[gnu::target("avx2,fma")]] void avx2_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  all_rows<V, 32>(job, first, last, avx2_wide_rows<V, I, O>);
}

template <class V, class I>
[[gnu::noinline]] void sse2_sum(const V* values, const I* indices, std::int64_t count, const V* x,
                                std::int64_t x_stride, std::int64_t columns, V* sums) {
  row_sums<V, 16>(values, indices, count, x, x_stride, columns, sums);
}
template <class V, class I, class O>
[[gnu::noinline]] void sse2_wide_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  wide_rows(job, first, last, sse2_sum<V, I>);
}
template <class V, class I, class O>
void sse2_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  all_rows<V, 16>(job, first, last, sse2_wide_rows<V, I, O>);
}

}  // namespace

template <class V, class I, class O>
std::vector<row_loops<V, I, O>> usable_loops() {
  __builtin_cpu_init();
  std::vector<row_loops<V, I, O>> all{{sse2_rows<V, I, O>, sse2_sum<V, I>, "16-byte vectors"}};
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    all.push_back({avx2_rows<V, I, O>, avx2_sum<V, I>, "AVX2"});
  }
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
    all.push_back({avx512_rows<V, I, O>, avx512_sum<V, I>, "AVX-512"});
  }
  return all;
}

#define INSTANTIATE(V, I, O) template std::vector<row_loops<V, I, O>> usable_loops<V, I, O>();
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmm

// The inner loops over tiles for x86: segments by AVX-512 gathers if these are fast.
#include "core/instantiate.hpp"
#include "sparse/simd/tile_rows.hpp"
#include "sparse/simd/x86/fast_gathers.hpp"

#include <immintrin.h>

#pragma GCC diagnostic push  // false warnings in GCC 12's immintrin.h (PR105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace spargo::detail::spmv {

namespace {

template <class V>
struct gathered_segment;

template <>
struct gathered_segment<double> {
  [[gnu::target("avx512f,avx512vl,fma")]] static __m256i indices(const std::uint16_t* columns) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(columns)));
  }
  [[gnu::target("avx512f,avx512vl,fma")]] static double sum(const double* values, const std::uint16_t* columns,
                                                            std::int64_t count, const double* x) {
    __m512d a = _mm512_setzero_pd();
    __m512d b = _mm512_setzero_pd();
    std::int64_t k = 0;
    for (; k + 16 <= count; k += 16) {
      a = _mm512_fmadd_pd(_mm512_loadu_pd(values + k), _mm512_i32gather_pd(indices(columns + k), x, 8), a);
      b = _mm512_fmadd_pd(_mm512_loadu_pd(values + k + 8), _mm512_i32gather_pd(indices(columns + k + 8), x, 8), b);
    }
    if (k + 8 <= count) {
      a = _mm512_fmadd_pd(_mm512_loadu_pd(values + k), _mm512_i32gather_pd(indices(columns + k), x, 8), a);
      k += 8;
    }
    double rest = 0;
    for (; k < count; ++k) rest += values[k] * x[columns[k]];
    return _mm512_reduce_add_pd(_mm512_add_pd(a, b)) + rest;
  }
};

template <>
struct gathered_segment<float> {
  [[gnu::target("avx512f,avx512vl,fma")]] static __m256 gather(const std::uint16_t* columns, const float* x) {
    const __m128i narrow = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns));
    return _mm256_i32gather_ps(x, _mm256_cvtepu16_epi32(narrow), 4);
  }
  [[gnu::target("avx512f,avx512vl,fma")]] static float sum(const float* values, const std::uint16_t* columns,
                                                           std::int64_t count, const float* x) {
    __m256 a = _mm256_setzero_ps();
    __m256 b = _mm256_setzero_ps();
    std::int64_t k = 0;
    for (; k + 16 <= count; k += 16) {
      a = _mm256_fmadd_ps(_mm256_loadu_ps(values + k), gather(columns + k, x), a);
      b = _mm256_fmadd_ps(_mm256_loadu_ps(values + k + 8), gather(columns + k + 8, x), b);
    }
    if (k + 8 <= count) {
      a = _mm256_fmadd_ps(_mm256_loadu_ps(values + k), gather(columns + k, x), a);
      k += 8;
    }
    a = _mm256_add_ps(a, b);
    float rest = 0;
    for (; k < count; ++k) rest += values[k] * x[columns[k]];
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair))) + rest;
  }
};

template <class V>
[[gnu::target("avx512f,avx512vl,fma")]] void add_gathered(const tile_job<V>& job) {
  add_tile<gathered_segment<V>>(job);
}

template <class V>
void add_plain(const tile_job<V>& job) {
  add_tile<plain_segment<V>>(job);
}

}  // namespace

template <class V>
std::vector<tile_loops<V>> usable_tile_loops() {
  std::vector<tile_loops<V>> all{{add_plain<V>, "portable"}};
  if constexpr (real_type<V>) {
    // Slow gathers are usable too, but go first, so that the last is the fastest.
    if (has_avx512()) all.insert(has_fast_gathers() ? all.end() : all.begin(), {add_gathered<V>, "AVX-512 gathers"});
  }
  return all;
}

#define INSTANTIATE(V) template std::vector<tile_loops<V>> usable_tile_loops<V>();
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::spmv

#pragma GCC diagnostic pop

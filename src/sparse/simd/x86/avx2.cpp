// AVX2 and FMA vectors for the inner loops. Compiled with -mavx2 -mfma: see vector_kernels.hpp.
#include "core/instantiate.hpp"
#include "sparse/simd/x86/vector_kernels.hpp"

#include <immintrin.h>

namespace spargo::detail::spmv {

namespace {

template <class V, class I>
struct avx2;

// Widens comparison masks from 32 to 64 bits, and narrows them.
inline __m256i widen(__m128i mask) { return _mm256_cvtepi32_epi64(mask); }
inline __m128i narrow(__m256i mask) {
  const __m256i even = _mm256_permutevar8x32_epi32(mask, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  return _mm256_castsi256_si128(even);
}

struct avx2_lines {
  static constexpr const char* name = "AVX2";
  static void stream_line(void* to, const void* from) {
    for (int half = 0; half < 2; ++half) {
      _mm256_stream_si256(static_cast<__m256i*>(to) + half,
                          _mm256_load_si256(static_cast<const __m256i*>(from) + half));
    }
  }
  static void fence() { _mm_sfence(); }
};

struct avx2_double : avx2_lines {
  using value = double;
  using reg = __m256d;
  static constexpr std::int64_t lanes = 4;
  static reg zero() { return _mm256_setzero_pd(); }
  static reg load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, reg a) { _mm256_storeu_pd(p, a); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm256_fmadd_pd(a, b, c); }
};

template <>
struct avx2<double, std::int32_t> : avx2_double {
  using index = std::int32_t;
  static __m128i load_index(const index* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static reg gather(const double* x, const index* p) { return _mm256_i32gather_pd(x, load_index(p), 8); }
  static reg multiply_add_below(index k, const index* lengths, const double* v, const double* x, const index* p,
                                reg c) {
    const __m256i live = widen(_mm_cmpgt_epi32(load_index(lengths), _mm_set1_epi32(k)));
    const reg b = _mm256_mask_i32gather_pd(zero(), x, load_index(p), _mm256_castsi256_pd(live), 8);
    return multiply_add(_mm256_maskload_pd(v, live), b, c);
  }
};

template <>
struct avx2<double, std::int64_t> : avx2_double {
  using index = std::int64_t;
  static __m256i load_index(const index* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static reg gather(const double* x, const index* p) { return _mm256_i64gather_pd(x, load_index(p), 8); }
  static reg multiply_add_below(index k, const index* lengths, const double* v, const double* x, const index* p,
                                reg c) {
    const __m256i live = _mm256_cmpgt_epi64(load_index(lengths), _mm256_set1_epi64x(k));
    const reg b = _mm256_mask_i64gather_pd(zero(), x, load_index(p), _mm256_castsi256_pd(live), 8);
    return multiply_add(_mm256_maskload_pd(v, live), b, c);
  }
};

template <>
struct avx2<float, std::int32_t> : avx2_lines {
  using value = float;
  using index = std::int32_t;
  using reg = __m256;
  static constexpr std::int64_t lanes = 8;
  static reg zero() { return _mm256_setzero_ps(); }
  static reg load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, reg a) { _mm256_storeu_ps(p, a); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm256_fmadd_ps(a, b, c); }
  static __m256i load_index(const index* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static reg gather(const float* x, const index* p) { return _mm256_i32gather_ps(x, load_index(p), 4); }
  static reg multiply_add_below(index k, const index* lengths, const float* v, const float* x, const index* p, reg c) {
    const __m256i live = _mm256_cmpgt_epi32(load_index(lengths), _mm256_set1_epi32(k));
    const reg b = _mm256_mask_i32gather_ps(zero(), x, load_index(p), _mm256_castsi256_ps(live), 4);
    return multiply_add(_mm256_maskload_ps(v, live), b, c);
  }
};

// Four lanes, since a register holds four 64-bit indices.
template <>
struct avx2<float, std::int64_t> : avx2_lines {
  using value = float;
  using index = std::int64_t;
  using reg = __m128;
  static constexpr std::int64_t lanes = 4;
  static reg zero() { return _mm_setzero_ps(); }
  static reg load(const float* p) { return _mm_loadu_ps(p); }
  static void store(float* p, reg a) { _mm_storeu_ps(p, a); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm_fmadd_ps(a, b, c); }
  static __m256i load_index(const index* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static reg gather(const float* x, const index* p) { return _mm256_i64gather_ps(x, load_index(p), 4); }
  static reg multiply_add_below(index k, const index* lengths, const float* v, const float* x, const index* p, reg c) {
    const __m128i live = narrow(_mm256_cmpgt_epi64(load_index(lengths), _mm256_set1_epi64x(k)));
    const reg b = _mm256_mask_i64gather_ps(zero(), x, load_index(p), _mm_castsi128_ps(live), 4);
    return multiply_add(_mm_maskload_ps(v, live), b, c);
  }
};

}  // namespace

template <class V, class I, class O>
const host_kernels<V, I, O>* avx2_kernels() {
  return &vector_table<avx2<V, I>, picked_rows<avx2<V, I>>, O>;
}

#define INSTANTIATE(I, O)                                                \
  template const host_kernels<float, I, O>* avx2_kernels<float, I, O>(); \
  template const host_kernels<double, I, O>* avx2_kernels<double, I, O>();
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv

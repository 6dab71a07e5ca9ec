// AVX-512 (F and VL) registers for the inner loops. Compiled with -mavx512f -mavx512vl -mfma: see vector_kernels.hpp.
#include "core/instantiate.hpp"
#include "sparse/simd/x86/vector_kernels.hpp"

#include <immintrin.h>

namespace spargo::detail {

namespace {

template <class V, class I>
struct avx512;

// What all of them share.
struct avx512_lines {
  static constexpr const char* name = "AVX-512";
  static void stream_line(void* to, const void* from) {
    _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_load_si512(from));
  }
  static void fence() { _mm_sfence(); }
};

struct avx512_double : avx512_lines {
  using value = double;
  using reg = __m512d;
  static constexpr std::int64_t lanes = 8;
  static reg zero() { return _mm512_setzero_pd(); }
  static reg load(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, reg a) { _mm512_storeu_pd(p, a); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm512_fmadd_pd(a, b, c); }
};

template <>
struct avx512<double, std::int32_t> : avx512_double {
  using index = std::int32_t;
  static __m256i load_index(const index* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static reg gather(const double* x, const index* p) { return _mm512_i32gather_pd(load_index(p), x, 8); }
  static reg multiply_add_below(index k, const index* lengths, const double* v, const double* x, const index* p,
                                reg c) {
    const __mmask8 live = _mm256_cmpgt_epi32_mask(load_index(lengths), _mm256_set1_epi32(k));
    const reg b = _mm512_mask_i32gather_pd(zero(), live, load_index(p), x, 8);
    return _mm512_mask3_fmadd_pd(_mm512_maskz_loadu_pd(live, v), b, c, live);
  }
};

template <>
struct avx512<double, std::int64_t> : avx512_double {
  using index = std::int64_t;
  static __m512i load_index(const index* p) { return _mm512_loadu_si512(p); }
  static reg gather(const double* x, const index* p) { return _mm512_i64gather_pd(load_index(p), x, 8); }
  static reg multiply_add_below(index k, const index* lengths, const double* v, const double* x, const index* p,
                                reg c) {
    const __mmask8 live = _mm512_cmpgt_epi64_mask(load_index(lengths), _mm512_set1_epi64(k));
    const reg b = _mm512_mask_i64gather_pd(zero(), live, load_index(p), x, 8);
    return _mm512_mask3_fmadd_pd(_mm512_maskz_loadu_pd(live, v), b, c, live);
  }
};

template <>
struct avx512<float, std::int32_t> : avx512_lines {
  using value = float;
  using index = std::int32_t;
  using reg = __m512;
  static constexpr std::int64_t lanes = 16;
  static reg zero() { return _mm512_setzero_ps(); }
  static reg load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, reg a) { _mm512_storeu_ps(p, a); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm512_fmadd_ps(a, b, c); }
  static __m512i load_index(const index* p) { return _mm512_loadu_si512(p); }
  static reg gather(const float* x, const index* p) { return _mm512_i32gather_ps(load_index(p), x, 4); }
  static reg multiply_add_below(index k, const index* lengths, const float* v, const float* x, const index* p, reg c) {
    const __mmask16 live = _mm512_cmpgt_epi32_mask(load_index(lengths), _mm512_set1_epi32(k));
    const reg b = _mm512_mask_i32gather_ps(zero(), live, load_index(p), x, 4);
    return _mm512_mask3_fmadd_ps(_mm512_maskz_loadu_ps(live, v), b, c, live);
  }
};

// Eight lanes: as many 64-bit indices as a register holds.
template <>
struct avx512<float, std::int64_t> : avx512_lines {
  using value = float;
  using index = std::int64_t;
  using reg = __m256;
  static constexpr std::int64_t lanes = 8;
  static reg zero() { return _mm256_setzero_ps(); }
  static reg load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, reg a) { _mm256_storeu_ps(p, a); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm256_fmadd_ps(a, b, c); }
  static __m512i load_index(const index* p) { return _mm512_loadu_si512(p); }
  static reg gather(const float* x, const index* p) { return _mm512_i64gather_ps(load_index(p), x, 4); }
  static reg multiply_add_below(index k, const index* lengths, const float* v, const float* x, const index* p, reg c) {
    const __mmask8 live = _mm512_cmpgt_epi64_mask(load_index(lengths), _mm512_set1_epi64(k));
    const reg b = _mm512_mask_i64gather_ps(zero(), live, load_index(p), x, 4);
    return _mm256_mask3_fmadd_ps(_mm256_maskz_loadu_ps(live, v), b, c, live);
  }
};

}  // namespace

template <class V, class I, class O>
const host_kernels<V, I, O>* avx512_kernels() {
  return &vector_table<avx512<V, I>, O>;
}

#define INSTANTIATE(I, O)                                                  \
  template const host_kernels<float, I, O>* avx512_kernels<float, I, O>(); \
  template const host_kernels<double, I, O>* avx512_kernels<double, I, O>();
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail

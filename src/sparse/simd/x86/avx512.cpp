// AVX-512 (F and VL) vectors for the inner loops. Compiled with -mavx512f -mavx512vl -mfma: see vector_kernels.hpp.
#include "core/instantiate.hpp"
#include "sparse/simd/x86/gathered_rows.hpp"
#include "sparse/simd/x86/vector_kernels.hpp"

#include <immintrin.h>

namespace spargo::detail::spmv {

namespace {

template <class V, class I>
struct avx512;

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
  static reg multiply(reg a, reg b) { return _mm512_mul_pd(a, b); }
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
  static reg multiply(reg a, reg b) { return _mm512_mul_ps(a, b); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm512_fmadd_ps(a, b, c); }
  static __m512i load_index(const index* p) { return _mm512_loadu_si512(p); }
  static reg gather(const float* x, const index* p) { return _mm512_i32gather_ps(load_index(p), x, 4); }
  static reg multiply_add_below(index k, const index* lengths, const float* v, const float* x, const index* p, reg c) {
    const __mmask16 live = _mm512_cmpgt_epi32_mask(load_index(lengths), _mm512_set1_epi32(k));
    const reg b = _mm512_mask_i32gather_ps(zero(), live, load_index(p), x, 4);
    return _mm512_mask3_fmadd_ps(_mm512_maskz_loadu_ps(live, v), b, c, live);
  }
};

// Eight lanes, since a register holds eight 64-bit indices.
template <>
struct avx512<float, std::int64_t> : avx512_lines {
  using value = float;
  using index = std::int64_t;
  using reg = __m256;
  static constexpr std::int64_t lanes = 8;
  static reg zero() { return _mm256_setzero_ps(); }
  static reg load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, reg a) { _mm256_storeu_ps(p, a); }
  static reg multiply(reg a, reg b) { return _mm256_mul_ps(a, b); }
  static reg multiply_add(reg a, reg b, reg c) { return _mm256_fmadd_ps(a, b, c); }
  static __m512i load_index(const index* p) { return _mm512_loadu_si512(p); }
  static reg gather(const float* x, const index* p) { return _mm512_i64gather_ps(load_index(p), x, 4); }
  static reg multiply_add_below(index k, const index* lengths, const float* v, const float* x, const index* p, reg c) {
    const __mmask8 live = _mm512_cmpgt_epi64_mask(load_index(lengths), _mm512_set1_epi64(k));
    const reg b = _mm512_mask_i64gather_ps(zero(), live, load_index(p), x, 4);
    return _mm256_mask3_fmadd_ps(_mm256_maskz_loadu_ps(live, v), b, c, live);
  }
};

// Eight rows of products side by side. A row's lanes are added as in picked_rows: those four apart, then two apart,
// then neighbours. A sum of negative zeros becomes positive, as if started from zero.
struct row_group {
  static constexpr const char* name = "AVX-512 gathers";
  static __m256i lengths(const std::int32_t* offsets) {
    const auto* at = reinterpret_cast<const __m256i*>(offsets);
    return _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets + 1)), _mm256_loadu_si256(at));
  }
  static __m256i lengths(const std::int64_t* offsets) {
    return _mm512_cvtepi64_epi32(_mm512_sub_epi64(_mm512_loadu_si512(offsets + 1), _mm512_loadu_si512(offsets)));
  }
  static bool any_longer(__m256i lengths, std::int32_t than) {
    return _mm256_cmpgt_epi32_mask(lengths, _mm256_set1_epi32(than)) != 0;
  }
  static __m256i at_most(__m256i lengths, std::int32_t most) {
    return _mm256_min_epi32(lengths, _mm256_set1_epi32(most));
  }
  static __m256i beyond(__m256i lengths, std::int32_t less) {
    return _mm256_max_epi32(_mm256_sub_epi32(lengths, _mm256_set1_epi32(less)), _mm256_setzero_si256());
  }
  static void store(std::int32_t* p, __m256i a) { _mm256_store_si256(reinterpret_cast<__m256i*>(p), a); }
};

// A mask for the first `count` lanes, loaded and ANDed: compares into mask registers need the reductions' port.
template <class Number>
struct first_lanes {
  alignas(64) Number ones[9][8] = {};
  constexpr first_lanes() {
    for (int count = 0; count < 9; ++count) {
      for (int l = 0; l < count; ++l) ones[count][l] = -1;
    }
  }
};
template <class Number>
inline constexpr first_lanes<Number> first_lanes_of;

template <class V>
struct group_of;

template <>
struct group_of<double> : row_group {
  using vector = __m512d;
  static vector load(const double* p) { return _mm512_loadu_pd(p); }
  static vector load_first(const double* p, std::int64_t count) {
    const __m512i mask = _mm512_load_si512(first_lanes_of<std::int64_t>.ones[count]);
    return _mm512_castsi512_pd(_mm512_and_si512(_mm512_loadu_si512(p), mask));
  }
  static vector add(vector a, vector b) { return _mm512_add_pd(a, b); }
  using row_group::store;
  static void store(double* p, vector a) { _mm512_storeu_pd(p, a); }
  static vector reduce(const vector* a) {
    const auto fours = [](vector p, vector q) {
      return add(_mm512_shuffle_f64x2(p, q, 0x44), _mm512_shuffle_f64x2(p, q, 0xee));
    };
    const auto twos = [](vector p, vector q) {
      return add(_mm512_shuffle_f64x2(p, q, 0x88), _mm512_shuffle_f64x2(p, q, 0xdd));
    };
    const vector even = twos(fours(a[0], a[2]), fours(a[4], a[6]));
    const vector odd = twos(fours(a[1], a[3]), fours(a[5], a[7]));
    return add(add(_mm512_unpacklo_pd(even, odd), _mm512_unpackhi_pd(even, odd)), _mm512_setzero_pd());
  }
};

template <>
struct group_of<float> : row_group {
  using vector = __m256;
  static vector load(const float* p) { return _mm256_loadu_ps(p); }
  static vector load_first(const float* p, std::int64_t count) {
    const auto* mask = reinterpret_cast<const __m256i*>(first_lanes_of<std::int32_t>.ones[count]);
    return _mm256_and_ps(_mm256_loadu_ps(p), _mm256_castsi256_ps(_mm256_load_si256(mask)));
  }
  static vector add(vector a, vector b) { return _mm256_add_ps(a, b); }
  using row_group::store;
  static void store(float* p, vector a) { _mm256_storeu_ps(p, a); }
  static vector reduce(const vector* a) {
    const auto fours = [](vector p, vector q) {
      return add(_mm256_permute2f128_ps(p, q, 0x20), _mm256_permute2f128_ps(p, q, 0x31));
    };
    const auto twos = [](vector p, vector q) {
      return add(_mm256_shuffle_ps(p, q, 0x44), _mm256_shuffle_ps(p, q, 0xee));
    };
    const vector first = twos(fours(a[0], a[4]), fours(a[1], a[5]));
    const vector second = twos(fours(a[2], a[6]), fours(a[3], a[7]));
    return add(add(_mm256_shuffle_ps(first, second, 0x88), _mm256_shuffle_ps(first, second, 0xdd)),
               _mm256_setzero_ps());
  }
};

}  // namespace

template <class V, class I, class O>
const host_kernels<V, I, O>* avx512_kernels() {
  return &vector_table<avx512<V, I>, picked_rows<avx512<V, I>>, O>;
}

template <class V, class I, class O>
const host_kernels<V, I, O>* avx512_gather_kernels() {
  return &vector_table<avx512<V, I>, gathered_rows<avx512<V, I>, group_of<V>>, O>;
}

#define INSTANTIATE(I, O)                                                         \
  template const host_kernels<float, I, O>* avx512_kernels<float, I, O>();        \
  template const host_kernels<double, I, O>* avx512_kernels<double, I, O>();      \
  template const host_kernels<float, I, O>* avx512_gather_kernels<float, I, O>(); \
  template const host_kernels<double, I, O>* avx512_gather_kernels<double, I, O>();
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv

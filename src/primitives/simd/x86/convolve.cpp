// Convolution's inner loops for x86, compiled for three instruction sets and chosen at run time.
#include "core/instantiate.hpp"
#include "primitives/simd/convolve_rows.hpp"

namespace spargo::detail::convolve {

namespace {

template <class T>
[[gnu::target("avx512f,avx512vl,fma,prefer-vector-width=512")]] void avx512_tile(const tile_job<T>& job,
                                                                                 std::int64_t row, std::int64_t row_end,
                                                                                 std::int64_t col, std::int64_t col_end,
                                                                                 T* out, std::int64_t out_pitch) {
  convolve_rows<T, 64>(job, row, row_end, col, col_end, out, out_pitch);
}

template <class T>
[[gnu::target("avx2,fma")]] void avx2_tile(const tile_job<T>& job, std::int64_t row, std::int64_t row_end,
                                           std::int64_t col, std::int64_t col_end, T* out, std::int64_t out_pitch) {
  convolve_rows<T, 32>(job, row, row_end, col, col_end, out, out_pitch);
}

template <class T>
void sse2_tile(const tile_job<T>& job, std::int64_t row, std::int64_t row_end, std::int64_t col, std::int64_t col_end,
               T* out, std::int64_t out_pitch) {
  convolve_rows<T, 16>(job, row, row_end, col, col_end, out, out_pitch);
}

}  // namespace

template <class T>
tile_function<T> best_tile_function() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return avx512_tile<T>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_tile<T>;
  return sse2_tile<T>;
}

#define INSTANTIATE(T) template tile_function<T> best_tile_function();
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::convolve

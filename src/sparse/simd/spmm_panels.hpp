// A sparse row times a multi-vector, by panels of columns: the sums of up to 32 real columns stay in registers while
// the row's entries go by; each entry's value meets consecutive elements of X, whole vectors of them. Further columns
// are further passes over the row's entries, which the first cache then holds.
//
// A complex row of X is taken as twice as many reals: one set of sums for the real parts of A's values and one for the
// imaginary parts, recombined at the end of the row. Written once with the compiler's vector types and inlined into one
// function an instruction set. Cost: columns multiply-adds an entry.
#pragma once

#include "sparse/arithmetic.hpp"
#include "sparse/simd/spmm.hpp"

namespace spargo::detail {

template <class R, int Bytes>
struct spmm_vector {
  using type [[gnu::vector_size(Bytes)]] = R;
};
template <>
struct spmm_vector<float, 4> {
  using type = float;
};
template <>
struct spmm_vector<double, 8> {
  using type = double;
};

// The real numbers that a value is made of.
template <class V>
struct real_parts {
  using type = V;
  static constexpr int count = 1;
};
template <class R>
struct real_parts<std::complex<R>> {
  using type = R;
  static constexpr int count = 2;
};

// Sums of one row over Columns columns. Bytes: the widest vector.
template <class V, int Columns, int Bytes>
struct spmm_panel {
  using real = typename real_parts<V>::type;
  static constexpr int parts = real_parts<V>::count;
  static constexpr int reals = Columns * parts;
  static constexpr int row_bytes = reals * static_cast<int>(sizeof(real));
  static constexpr int vector_bytes = row_bytes < Bytes ? row_bytes : Bytes;
  static constexpr int vectors = row_bytes / vector_bytes;
  static constexpr int lanes = reals / vectors;
  using vector = typename spmm_vector<real, vector_bytes>::type;

  template <class I>
  [[gnu::always_inline]] static inline void sum(const V* values, const I* indices, std::int64_t count, const V* x,
                                                std::int64_t x_stride, V* to) {
    vector sums[parts][vectors] = {};
    for (std::int64_t e = 0; e < count; ++e) {
      real value[parts];
      __builtin_memcpy(value, values + e, sizeof(V));
      const V* from = x + static_cast<std::int64_t>(indices[e]) * x_stride;
      for (int v = 0; v < vectors; ++v) {
        vector piece;
        __builtin_memcpy(&piece, reinterpret_cast<const real*>(from) + v * lanes, sizeof(piece));
        for (int p = 0; p < parts; ++p) sums[p][v] += piece * value[p];
      }
    }
    if constexpr (parts == 1) {
      __builtin_memcpy(to, sums[0], sizeof(sums[0]));
    } else {
      real by_re[reals];
      real by_im[reals];
      __builtin_memcpy(by_re, sums[0], sizeof(by_re));
      __builtin_memcpy(by_im, sums[1], sizeof(by_im));
      for (int j = 0; j < Columns; ++j) to[j] = V(by_re[2 * j] - by_im[2 * j + 1], by_re[2 * j + 1] + by_im[2 * j]);
    }
  }
};

// sums[0 .. columns-1] over `count` entries of a row, by panels of Columns and less.
template <class V, int Columns, int Bytes, class I>
[[gnu::always_inline]] inline void spmm_sums(const V* values, const I* indices, std::int64_t count, const V* x,
                                             std::int64_t x_stride, std::int64_t columns, V* sums) {
  std::int64_t at = 0;
  for (; at + Columns <= columns; at += Columns) {
    spmm_panel<V, Columns, Bytes>::sum(values, indices, count, x + at, x_stride, sums + at);
  }
  if constexpr (Columns > 1) {
    if (at < columns) {
      spmm_sums<V, Columns / 2, Bytes>(values, indices, count, x + at, x_stride, columns - at, sums + at);
    }
  }
}

// Columns a panel: 32 reals, or 16 twice for complex values.
template <class V>
inline constexpr int widest_panel = 32 / (real_parts<V>::count * real_parts<V>::count);

// Rows of a number of columns that is known when this is compiled: one panel, and nothing to ask a row.
template <class V, int Columns, int Bytes, class I, class O>
[[gnu::always_inline]] inline void spmm_rows_of(const spmm_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  V sums[Columns];
  for (std::int64_t row = first; row < last; ++row) {
    const O begin = job.offsets[row];
    spmm_panel<V, Columns, Bytes>::sum(job.values + begin, job.indices + begin, job.offsets[row + 1] - begin, job.x,
                                       job.x_stride, sums);
    V* const y = job.y + row * job.y_stride;
    if (job.beta == V{}) {
      for (int j = 0; j < Columns; ++j) y[j] = multiply(job.alpha, sums[j]);
    } else {
      for (int j = 0; j < Columns; ++j) y[j] = multiply(job.alpha, sums[j]) + multiply(job.beta, y[j]);
    }
  }
}

// Any number of columns: a block of them at a time, so that the sums have a place of fixed size.
template <class V, int Bytes, class I, class O>
[[gnu::always_inline]] inline void spmm_rows_any(const spmm_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t block = 128;
  V sums[block];
  for (std::int64_t row = first; row < last; ++row) {
    const O begin = job.offsets[row];
    for (std::int64_t at = 0; at < job.columns; at += block) {
      const std::int64_t columns = job.columns - at < block ? job.columns - at : block;
      spmm_sums<V, widest_panel<V>, Bytes>(job.values + begin, job.indices + begin, job.offsets[row + 1] - begin,
                                           job.x + at, job.x_stride, columns, sums);
      V* const y = job.y + row * job.y_stride + at;
      for (std::int64_t j = 0; j < columns; ++j) update(y[j], job.alpha, sums[j], job.beta);
    }
  }
}

template <class V, int Bytes, class I, class O>
[[gnu::always_inline]] inline void spmm_rows(const spmm_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  constexpr int widest = widest_panel<V>;
  if (job.columns == widest) return spmm_rows_of<V, widest, Bytes>(job, first, last);
  if (job.columns == 8) return spmm_rows_of<V, 8, Bytes>(job, first, last);
  if (job.columns == 4) return spmm_rows_of<V, 4, Bytes>(job, first, last);
  if (job.columns == 2) return spmm_rows_of<V, 2, Bytes>(job, first, last);
  if (real_type<V> && job.columns == 16) return spmm_rows_of<V, 16, Bytes>(job, first, last);
  spmm_rows_any<V, Bytes>(job, first, last);
}

template <class V, int Bytes, class I, class O>
[[gnu::always_inline]] inline void spmm_part(const spmm_job<V, I, O>& job, std::int64_t begin, std::int64_t end,
                                             V* sums) {
  spmm_sums<V, widest_panel<V>, Bytes>(job.values + begin, job.indices + begin, end - begin, job.x, job.x_stride,
                                       job.columns, sums);
}

}  // namespace spargo::detail

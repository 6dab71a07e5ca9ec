// A sparse row times a multi-vector, by panels of columns: the sums of up to eight vectors of real columns stay in
// registers over the row's entries; each value is multiplied by consecutive elements of X.
//
// Any number of columns uses whole vectors: the last vector of a panel ends at its last column and recomputes what it
// shares with the previous one, with the same bits. Fewer columns than a vector use narrower vectors. More columns than
// a panel take further passes over the row, which is then in L1. A complex row of X is treated as twice as many reals,
// with one set of sums for the real parts of A's values and one for the imaginary parts, recombined at the end of the
// row. Written once with the compiler's vector types and inlined into two functions per instruction set. Cost: columns
// multiply-adds per entry, rounded up to whole vectors.
#pragma once

#include "sparse/arithmetic.hpp"
#include "sparse/simd/spmm.hpp"

namespace spargo::detail::spmm {

template <class R, int Bytes>
struct panel_vector {
  using type [[gnu::vector_size(Bytes)]] = R;
};
template <>
struct panel_vector<float, 4> {
  using type = float;
};
template <>
struct panel_vector<double, 8> {
  using type = double;
};

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

// Maximum of vectors per panel: the oldest processors have registers for this many sums, the value and an element of X.
template <class V>
inline constexpr int most_vectors = 8 / real_parts<V>::count;

template <class V, int Bytes>
inline constexpr int lanes_of = Bytes / static_cast<int>(sizeof(typename real_parts<V>::type));

// The sums of one row over a panel of `reals` real columns: more than Vectors - 1 vectors, at most Vectors.
template <class V, int Bytes, int Vectors>
struct row_panel {
  using real = typename real_parts<V>::type;
  using vector = typename panel_vector<real, Bytes>::type;
  static constexpr int parts = real_parts<V>::count;
  static constexpr int lanes = lanes_of<V, Bytes>;

  vector sums[parts][Vectors];

  // First column of vector v.
  [[gnu::always_inline]] static inline std::int64_t place(int v, std::int64_t reals) {
    return v < Vectors - 1 ? std::int64_t{v} * lanes : reals - lanes;
  }

  template <class I>
  [[gnu::always_inline]] inline void add(const V* values, const I* indices, std::int64_t count, const real* x,
                                         std::int64_t x_stride, std::int64_t reals) {
    for (auto& part : sums) {
      for (vector& sum : part) sum = vector{};
    }
    for (std::int64_t e = 0; e < count; ++e) {
      real value[parts];
      __builtin_memcpy(value, values + e, sizeof(V));
      const real* from = x + static_cast<std::int64_t>(indices[e]) * x_stride;
      for (int v = 0; v < Vectors; ++v) {
        vector loaded;
        __builtin_memcpy(&loaded, from + place(v, reals), sizeof(loaded));
        for (int p = 0; p < parts; ++p) sums[p][v] += loaded * value[p];
      }
    }
  }

  [[gnu::always_inline]] inline void write(V* to, std::int64_t reals) const {
    if constexpr (parts == 1) {
      for (int v = 0; v < Vectors; ++v) __builtin_memcpy(to + place(v, reals), &sums[0][v], sizeof(vector));
    } else {
      real by_re[Vectors * lanes];
      real by_im[Vectors * lanes];
      for (int v = 0; v < Vectors; ++v) {
        __builtin_memcpy(by_re + place(v, reals), &sums[0][v], sizeof(vector));
        __builtin_memcpy(by_im + place(v, reals), &sums[1][v], sizeof(vector));
      }
      for (std::int64_t j = 0; 2 * j < reals; ++j) {
        to[j] = V(by_re[2 * j] - by_im[2 * j + 1], by_re[2 * j + 1] + by_im[2 * j]);
      }
    }
  }

  // y = alpha * sums + beta * y for real values; beta = 0 does not read y. Reads y before writing: vectors may overlap.
  [[gnu::always_inline]] inline void update(V* y, V alpha, V beta, std::int64_t reals) requires real_type<V> {
    if (beta == V{}) {
      for (vector& sum : sums[0]) sum = sum * alpha;
    } else {
      for (int v = 0; v < Vectors; ++v) {
        vector old;
        __builtin_memcpy(&old, y + place(v, reals), sizeof(old));
        sums[0][v] = sums[0][v] * alpha + old * beta;
      }
    }
    write(y, reals);
  }
};

// --- One row, any number of columns ------------------------------------------

template <class V, int Bytes, int Vectors, class I>
[[gnu::always_inline]] inline void panel_sums(const V* values, const I* indices, std::int64_t count, const V* x,
                                              std::int64_t x_stride, std::int64_t columns, V* sums) {
  using panel = row_panel<V, Bytes, Vectors>;
  panel p;
  p.add(values, indices, count, reinterpret_cast<const typename panel::real*>(x), x_stride * panel::parts,
        columns * panel::parts);
  p.write(sums, columns * panel::parts);
}

// For at least one vector, at most `Vectors`.
template <class V, int Bytes, int Vectors, class I>
[[gnu::always_inline]] inline void fit_sums(const V* values, const I* indices, std::int64_t count, const V* x,
                                            std::int64_t x_stride, std::int64_t columns, V* sums) {
  if constexpr (Vectors > 1) {
    if (columns * real_parts<V>::count <= std::int64_t{Vectors - 1} * lanes_of<V, Bytes>) {
      return fit_sums<V, Bytes, Vectors - 1>(values, indices, count, x, x_stride, columns, sums);
    }
  }
  panel_sums<V, Bytes, Vectors>(values, indices, count, x, x_stride, columns, sums);
}

// For at most `Vectors` vectors.
template <class V, int Bytes, int Vectors, class I>
[[gnu::always_inline]] inline void few_sums(const V* values, const I* indices, std::int64_t count, const V* x,
                                            std::int64_t x_stride, std::int64_t columns, V* sums) {
  constexpr int lanes = lanes_of<V, Bytes>;
  constexpr int parts = real_parts<V>::count;
  if constexpr (lanes > parts) {
    if (columns * parts < lanes) {
      return few_sums<V, Bytes / 2, 2>(values, indices, count, x, x_stride, columns, sums);
    }
  }
  fit_sums<V, Bytes, Vectors>(values, indices, count, x, x_stride, columns, sums);
}

// sums[0 .. columns-1] over `count` entries of a row.
template <class V, int Bytes, class I>
[[gnu::always_inline]] inline void row_sums(const V* values, const I* indices, std::int64_t count, const V* x,
                                            std::int64_t x_stride, std::int64_t columns, V* sums) {
  constexpr std::int64_t vector = lanes_of<V, Bytes> / real_parts<V>::count;
  constexpr std::int64_t widest = most_vectors<V> * vector;
  std::int64_t at = 0;
  for (; columns - at > widest; at += widest) {
    panel_sums<V, Bytes, most_vectors<V>>(values, indices, count, x + at, x_stride, widest, sums + at);
  }
  if (at > 0 && columns - at < vector) at = columns - vector;  // overlap instead of narrower vectors
  few_sums<V, Bytes, most_vectors<V>>(values, indices, count, x + at, x_stride, columns - at, sums + at);
}

// --- Rows --------------------------------------------------------------------

// Any number of columns, one block at a time, so that the sums have fixed size.
template <class V, int Bytes, class I, class O>
[[gnu::always_inline]] inline void any_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t block = 128;
  V sums[block];
  for (std::int64_t row = first; row < last; ++row) {
    const O begin = job.offsets[row];
    for (std::int64_t at = 0; at < job.columns; at += block) {
      const std::int64_t columns = job.columns - at < block ? job.columns - at : block;
      row_sums<V, Bytes>(job.values + begin, job.indices + begin, job.offsets[row + 1] - begin, job.x + at,
                         job.x_stride, columns, sums);
      V* const y = job.y + row * job.y_stride + at;
      for (std::int64_t j = 0; j < columns; ++j) update(y[j], job.alpha, sums[j], job.beta);
    }
  }
}

// Real columns beyond one panel: calls row_sums, compiled separately; such rows are worth a call.
template <class V, class I, class O>
[[gnu::always_inline]] inline void wide_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last,
                                             sum_row<V, I> sum) {
  constexpr std::int64_t block = 128;
  V sums[block];
  for (std::int64_t row = first; row < last; ++row) {
    const O begin = job.offsets[row];
    for (std::int64_t at = 0; at < job.columns; at += block) {
      const std::int64_t columns = job.columns - at < block ? job.columns - at : block;
      sum(job.values + begin, job.indices + begin, job.offsets[row + 1] - begin, job.x + at, job.x_stride, columns,
          sums);
      V* const y = job.y + row * job.y_stride + at;
      for (std::int64_t j = 0; j < columns; ++j) update(y[j], job.alpha, sums[j], job.beta);
    }
  }
}

// Rows of real columns that form one panel: no decisions per row.
template <class V, int Bytes, int Vectors, class I, class O>
[[gnu::always_inline]] inline void panel_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  for (std::int64_t row = first; row < last; ++row) {
    const O begin = job.offsets[row];
    row_panel<V, Bytes, Vectors> p;
    p.add(job.values + begin, job.indices + begin, job.offsets[row + 1] - begin, job.x, job.x_stride, job.columns);
    p.update(job.y + row * job.y_stride, job.alpha, job.beta, job.columns);
  }
}

template <class V, int Bytes, int Vectors, class I, class O>
[[gnu::always_inline]] inline void fit_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  if constexpr (Vectors > 1) {
    if (job.columns <= std::int64_t{Vectors - 1} * lanes_of<V, Bytes>) {
      return fit_rows<V, Bytes, Vectors - 1>(job, first, last);
    }
  }
  panel_rows<V, Bytes, Vectors>(job, first, last);
}

template <class V, int Bytes, int Vectors, class I, class O>
[[gnu::always_inline]] inline void few_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last) {
  if constexpr (lanes_of < V, Bytes >> 1) {
    if (job.columns < lanes_of<V, Bytes>) return few_rows<V, Bytes / 2, 2>(job, first, last);
  }
  fit_rows<V, Bytes, Vectors>(job, first, last);
}

// wide: wide_rows.
template <class V, int Bytes, class I, class O, class Wide>
[[gnu::always_inline]] inline void all_rows(const product_job<V, I, O>& job, std::int64_t first, std::int64_t last,
                                            const Wide& wide) {
  if constexpr (real_type<V>) {
    if (job.columns <= std::int64_t{most_vectors<V>} * lanes_of<V, Bytes>) {
      return few_rows<V, Bytes, most_vectors<V>>(job, first, last);
    }
    wide(job, first, last);
  } else {
    any_rows<V, Bytes>(job, first, last);
  }
}

}  // namespace spargo::detail::spmm

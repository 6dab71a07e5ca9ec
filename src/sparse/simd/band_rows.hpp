// Rows of a band, written once with the compiler's vector types and inlined into one function per instruction set. Sums
// of Registers vectors of rows stay in registers over the band's entries. Cost: one multiply-add and one load of x per
// entry, and one load of the value if values differ between rows.
#pragma once

#include "sparse/arithmetic.hpp"
#include "sparse/simd/bands.hpp"

namespace spargo::detail::spmv {

template <class V, int Bytes>
struct band_vector {
  using type [[gnu::vector_size(Bytes)]] = V;
};

// As many of the job's rows from `row` on as fill Registers vectors.
template <class V, int Bytes, int Registers>
[[gnu::always_inline]] inline void band_group(const band_job<V>& job, std::int64_t row) {
  using vector = typename band_vector<V, Bytes>::type;
  constexpr std::int64_t lanes = Bytes / static_cast<int>(sizeof(V));
  constexpr std::int64_t block = band_block<V>;
  const V* const values = job.values == nullptr ? nullptr : job.values + row / block * block * job.width + row % block;
  vector sums[Registers] = {};
  for (std::int64_t k = 0; k < job.width; ++k) {
    const V* const from = job.x + (job.first + row + job.shifts[k]);
    for (int g = 0; g < Registers; ++g) {
      vector in;
      __builtin_memcpy(&in, from + g * lanes, Bytes);
      if (values == nullptr) {
        sums[g] += job.repeated[k] * in;
      } else {
        vector value;
        __builtin_memcpy(&value, values + k * block + g * lanes, Bytes);
        sums[g] += value * in;
      }
    }
  }
  for (int g = 0; g < Registers; ++g) {
    V* const to = job.y + row + g * lanes;
    vector out = job.alpha * sums[g];
    if (job.beta != V{}) {
      vector old;
      __builtin_memcpy(&old, to, Bytes);
      out += job.beta * old;
    }
    __builtin_memcpy(to, &out, Bytes);
  }
}

template <class V>
[[gnu::always_inline]] inline void band_row(const band_job<V>& job, std::int64_t row) {
  constexpr std::int64_t block = band_block<V>;
  V sum{};
  for (std::int64_t k = 0; k < job.width; ++k) {
    const V value =
        job.values == nullptr ? job.repeated[k] : job.values[(row / block * job.width + k) * block + row % block];
    sum += multiply(value, job.x[job.first + row + job.shifts[k]]);
  }
  update(job.y[row], job.alpha, sum, job.beta);
}

template <class V, int Bytes>
[[gnu::always_inline]] inline void band_rows(const band_job<V>& job) {
  std::int64_t row = 0;
  if constexpr (real_type<V>) {
    constexpr std::int64_t lanes = Bytes / static_cast<int>(sizeof(V));
    for (; row + 4 * lanes <= job.rows; row += 4 * lanes) band_group<V, Bytes, 4>(job, row);
    for (; row + lanes <= job.rows; row += lanes) band_group<V, Bytes, 1>(job, row);
  }
  for (; row < job.rows; ++row) band_row(job, row);
}

}  // namespace spargo::detail::spmv

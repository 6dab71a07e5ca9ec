// The inner loops over vector registers, written once for every instruction set.
//
// A `Simd` type names the instruction set and is in the unnamed namespace of the one file compiled for it, so that
// every instantiation has internal linkage; for the same reason the standard library is not used here. It has: value,
// index, reg, lanes, zero, load, store, gather, multiply_add, stream_line, fence, and `multiply_add_below(k, lengths,
// ...)`, which reads and multiplies only lanes whose length exceeds k.
#pragma once

#include "sparse/simd/kernels.hpp"
#include "sparse/simd/x86/picked_rows.hpp"

namespace spargo::detail::spmv {

template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>* avx2_kernels();
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>* avx512_kernels();
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>* avx512_gather_kernels();

// Loops over rows. Sums are collected before they are written: if y and x start at the same offset in a page, a load of
// x[r] otherwise waits for the store of y[r] just before it (processors first compare the last 12 bits). `Rows` is
// picked_rows or gathered_rows.
template <class Simd, class Rows>
struct row_loops {
  using V = typename Simd::value;
  using I = typename Simd::index;
  static constexpr std::int64_t collected = Rows::collected;

  template <class O>
  static void csr_rows(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                       std::int64_t first, std::int64_t last) {
    if (first >= last) return;
    const std::int64_t limit = offsets[last];
    V sums[collected];
    for (std::int64_t row = first; row < last; row += collected) {
      const std::int64_t count = last - row < collected ? last - row : collected;
      Rows::template row_sums<O>(offsets, indices, values, x, row, count, limit, sums);
      for (std::int64_t l = 0; l < count; ++l) {
        y[row + l] = beta == V{} ? alpha * sums[l] : alpha * sums[l] + beta * y[row + l];
      }
    }
  }

  // Writes whole cache lines of y with non-temporal stores; the partial lines at both ends as in csr_rows.
  template <class O>
  static void stream_rows(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                          std::int64_t first, std::int64_t last) {
    if (first >= last) return;
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(V));
    const auto place = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(y + first) / sizeof(V)) % line;
    const std::int64_t before = place == 0 ? 0 : line - place;
    const std::int64_t limit = offsets[last];
    std::int64_t row = before < last - first ? first + before : last;
    csr_rows<O>(offsets, indices, values, x, alpha, beta, y, first, row);
    static_assert(collected % line == 0);
    alignas(64) V sums[collected];
    while (row + line <= last) {
      const std::int64_t count = last - row < collected ? (last - row) / line * line : collected;
      Rows::template row_sums<O>(offsets, indices, values, x, row, count, limit, sums);
      for (std::int64_t l = 0; l < count; ++l) sums[l] *= alpha;
      for (std::int64_t l = 0; l < count; l += line) Simd::stream_line(y + row + l, sums + l);
      row += count;
    }
    Simd::fence();
    csr_rows<O>(offsets, indices, values, x, alpha, beta, y, row, last);
  }
};

// Sums per lane, for ELL and SELL.
template <class Simd>
struct lane_loops {
  using V = typename Simd::value;
  using I = typename Simd::index;
  using reg = typename Simd::reg;
  static constexpr std::int64_t lanes = Simd::lanes;

  // `Registers` neighbouring groups of lanes at once, for independent gathers in flight.
  template <int Registers>
  static void lane_groups(const V* values, const I* indices, std::int64_t stride, const I* lengths, const V* x,
                          V* sums) {
    constexpr std::int64_t width = Registers * lanes;
    I shortest = lengths[0];
    I longest = lengths[0];
    for (std::int64_t l = 1; l < width; ++l) {
      shortest = lengths[l] < shortest ? lengths[l] : shortest;
      longest = lengths[l] > longest ? lengths[l] : longest;
    }
    reg partial[Registers];
    for (int g = 0; g < Registers; ++g) partial[g] = Simd::zero();
    I k = 0;
    for (; k < shortest; ++k, values += stride, indices += stride) {
      for (int g = 0; g < Registers; ++g) {
        fetch(values + g * lanes, picked_tuning::ahead);
        fetch(indices + g * lanes, picked_tuning::ahead);
        partial[g] =
            Simd::multiply_add(Simd::load(values + g * lanes), Simd::gather(x, indices + g * lanes), partial[g]);
      }
    }
    for (; k < longest; ++k, values += stride, indices += stride) {
      for (int g = 0; g < Registers; ++g) {
        partial[g] =
            Simd::multiply_add_below(k, lengths + g * lanes, values + g * lanes, x, indices + g * lanes, partial[g]);
      }
    }
    for (int g = 0; g < Registers; ++g) Simd::store(sums + g * lanes, partial[g]);
  }

  static void lane_sums(const V* values, const I* indices, std::int64_t stride, const I* lengths, std::int64_t count,
                        const V* x, V* sums) {
    std::int64_t l = 0;
    for (; l + 4 * lanes <= count; l += 4 * lanes) {
      lane_groups<4>(values + l, indices + l, stride, lengths + l, x, sums + l);
    }
    for (; l + lanes <= count; l += lanes) {
      lane_groups<1>(values + l, indices + l, stride, lengths + l, x, sums + l);
    }
    for (; l < count; ++l) {
      V sum = 0;
      for (I k = 0; k < lengths[l]; ++k) {
        const std::int64_t at = static_cast<std::int64_t>(k) * stride + l;
        sum += values[at] * x[indices[at]];
      }
      sums[l] = sum;
    }
  }
};

template <class Simd, class Rows, class O>
inline constexpr host_kernels<typename Simd::value, typename Simd::index, O> vector_table{
    row_loops<Simd, Rows>::template csr_rows<O>, row_loops<Simd, Rows>::template stream_rows<O>, picked_rows<Simd>::dot,
    lane_loops<Simd>::lane_sums, Rows::name};

}  // namespace spargo::detail::spmv

// The inner loops over vector registers, written once for every instruction set.
//
// A `Simd` type names the instruction set and must live in the unnamed namespace of the one file that is compiled
// for it: it gives every instantiation internal linkage. For the same reason nothing of the standard library is
// called here. It has: value, index, reg, lanes, zero, load, gather, multiply_add, add, sum, stream_line, fence, and
// `multiply_add_below(k, lengths, ...)`, which reads and multiplies only the lanes whose length exceeds k and leaves
// the others as they are. With fast gathers also `multiply_add_first(count, ...)`, the same for the first lanes.
#pragma once

#include "sparse/simd/kernels.hpp"

namespace spargo::detail {

template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>* avx2_kernels();
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>* avx512_kernels();
// The same instructions; rows of a few entries are gathered, too.
template <class V, class I, class O>
[[nodiscard]] const host_kernels<V, I, O>* avx512_gather_kernels();

// Rows shorter than this many registers are faster one entry at a time: a gather costs about as much as its lanes'
// scalar loads, and only long rows repay the horizontal sum (Zen 5, 27 entries a row: 2.8 ms against 4.3 with 2).
inline constexpr std::int64_t vector_row_registers = 8;
// Where gathers are fast, rows of this many entries already, their last ones under a mask (a Xeon with AVX-512 FP16,
// two threads, fp64, ms: R-MAT 20 symmetric 27.7, by loads 40.5; uniform 1M x 20 20.9, by loads 23.0).
// Prefetching x 32 to 128 entries ahead only costs: 27.9 to 37.6 (R-MAT 20 in fp32), 26.4 to 32.4 (uniform in fp64).
inline constexpr std::int64_t gathered_row = 12;

enum class gathers { slow, fast };

template <class Simd, gathers Gathers = gathers::slow>
struct vector_kernels {
  using V = typename Simd::value;
  using I = typename Simd::index;
  using reg = typename Simd::reg;
  static constexpr std::int64_t lanes = Simd::lanes;

  static V long_dot(const V* values, const I* indices, std::int64_t count, const V* x) {
    reg a = Simd::zero();
    reg b = Simd::zero();
    std::int64_t k = 0;
    for (; k + 2 * lanes <= count; k += 2 * lanes) {
      a = Simd::multiply_add(Simd::load(values + k), Simd::gather(x, indices + k), a);
      b = Simd::multiply_add(Simd::load(values + k + lanes), Simd::gather(x, indices + k + lanes), b);
    }
    if (k + lanes <= count) {
      a = Simd::multiply_add(Simd::load(values + k), Simd::gather(x, indices + k), a);
      k += lanes;
    }
    if constexpr (Gathers == gathers::fast) {
      if (k < count) b = Simd::multiply_add_first(count - k, values + k, x, indices + k, b);
      return Simd::sum(Simd::add(a, b));
    }
    V sum = Simd::sum(Simd::add(a, b));
    for (; k < count; ++k) sum += values[k] * x[indices[k]];
    return sum;
  }

  static V dot(const V* values, const I* indices, std::int64_t count, const V* x) {
    constexpr std::int64_t vector_row = Gathers == gathers::fast ? gathered_row : vector_row_registers * lanes;
    if (count >= vector_row) return long_dot(values, indices, count, x);
    V a = 0;
    V b = 0;
    std::int64_t k = 0;
    for (; k + 2 <= count; k += 2) {
      a += values[k] * x[indices[k]];
      b += values[k + 1] * x[indices[k + 1]];
    }
    if (k < count) a += values[k] * x[indices[k]];
    return a + b;
  }

  template <class O>
  static void csr_rows(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                       std::int64_t first, std::int64_t last) {
    if (first >= last) return;
    O begin = offsets[first];
    for (std::int64_t row = first; row < last; ++row) {
      const O end = offsets[row + 1];
      const V product = alpha * dot(values + begin, indices + begin, end - begin, x);
      y[row] = beta == V{} ? product : product + beta * y[row];
      begin = end;
    }
  }

  // Whole cache lines of y by stores that do not read them first; the lines at both ends as csr_rows does.
  template <class O>
  static void stream_rows(const O* offsets, const I* indices, const V* values, const V* x, V alpha, V beta, V* y,
                          std::int64_t first, std::int64_t last) {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(V));
    const auto place = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(y + first) / sizeof(V)) % line;
    const std::int64_t before = place == 0 ? 0 : line - place;
    std::int64_t row = before < last - first ? first + before : last;
    csr_rows<O>(offsets, indices, values, x, alpha, beta, y, first, row);
    for (; row + line <= last; row += line) {
      alignas(64) V sums[line];
      for (std::int64_t l = 0; l < line; ++l) {
        const O begin = offsets[row + l];
        sums[l] = alpha * dot(values + begin, indices + begin, offsets[row + l + 1] - begin, x);
      }
      Simd::stream_line(y + row, sums);
    }
    Simd::fence();
    csr_rows<O>(offsets, indices, values, x, alpha, beta, y, row, last);
  }

  // `registers` neighbouring groups of lanes at once: independent gathers in flight.
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

template <class Simd, class O>
inline constexpr host_kernels<typename Simd::value, typename Simd::index, O> vector_table{
    vector_kernels<Simd>::template csr_rows<O>, vector_kernels<Simd>::template stream_rows<O>,
    vector_kernels<Simd>::dot, vector_kernels<Simd>::lane_sums, Simd::name};

template <class Simd, class O>
inline constexpr host_kernels<typename Simd::value, typename Simd::index, O> gather_table{
    vector_kernels<Simd, gathers::fast>::template csr_rows<O>,
    vector_kernels<Simd, gathers::fast>::template stream_rows<O>, vector_kernels<Simd, gathers::fast>::dot,
    vector_kernels<Simd>::lane_sums, Simd::gather_name};

}  // namespace spargo::detail

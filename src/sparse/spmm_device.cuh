// What the kernels for multi-vectors share: how lanes divide a row of X, and the inner loop.
//
// A row of X is cut into pieces of L values (16 bytes where alignment and the number of columns allow), and each lane
// keeps the sums of one piece: a group of `lanes` neighbouring lanes (a power of two) reads whole rows of X, one entry
// of A after the other. Where a row's pieces do not fill the group, the spare lanes repeat its last piece and write
// nothing. Loads come in batches that are all in flight before the first is used; batches of the full size need no
// bounds, since what is left of a row goes by smaller ones. Every index costs one multiply-add of an address, one load
// of X and L multiply-adds: at 32 columns the kernel is as close to the limit of instructions as to that of memory.
#pragma once

#include "sparse/spmm_executor.hpp"
#include "sparse/spmv_device.cuh"

#include <limits>

namespace spargo::detail {

inline constexpr int spmm_threads = 256;
// Registers for a batch of loads in flight: with fewer the compiler uses each load before it issues the next.
inline constexpr int spmm_blocks = 4;
// Entries a batch: on an H200 4 is ahead of 2 and 8 (see tuning notes in the kernels' files).
inline constexpr int spmm_batch = 4;

template <class D, class I, class O>
struct spmm_arguments {
  const O* offsets;
  const I* indices;
  const D* values;
  std::int64_t rows;
  const D* x;             // of the panel's first column
  std::int64_t x_stride;  // bytes
  D* y;                   // of the panel's first column
  std::int64_t y_stride;  // elements
  int pieces;             // of a row of this panel, 1..32
  int lanes_log2;         // lanes a group: the power of two that holds the pieces
  D alpha;
  D beta;
};

template <class D, int L>
struct piece {
  D v[L];
};

// In this order, and not put off until the value is used.
template <class D, int L>
__device__ piece<D, L> load_piece(const char* from) {
  piece<D, L> p;
  if constexpr (sizeof(p) == 16) {
    int4 w;
    asm volatile("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
                 : "l"(from));
    __builtin_memcpy(&p, &w, 16);
  } else if constexpr (sizeof(p) == 8) {
    int2 w;
    asm volatile("ld.global.nc.v2.s32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(from));
    __builtin_memcpy(&p, &w, 8);
  } else {
    static_assert(sizeof(p) == 4);
    int w;
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(w) : "l"(from));
    __builtin_memcpy(&p, &w, 4);
  }
  return p;
}

// The address of row `c` of X. Strides of kernels with 32-bit indices and pieces of several values fit 32 bits, which
// makes it one instruction.
template <int L, class I>
__device__ const char* row_of_x(const char* x, I c, std::int64_t stride) {
  if constexpr (sizeof(I) == 4 && L > 1) {
    return x + static_cast<std::uint64_t>(static_cast<std::uint32_t>(c)) * static_cast<std::uint32_t>(stride);
  } else {
    return x + static_cast<std::int64_t>(c) * stride;
  }
}

// sums += the products of `Count` entries, of which none is missing.
template <int Count, int L, class D, class I>
__device__ void add_batch(const I* indices, const D* values, const char* x, std::int64_t stride, piece<D, L>& sums) {
  I c[Count];
  D a[Count];
  piece<D, L> p[Count];
#pragma unroll
  for (int u = 0; u < Count; ++u) c[u] = __ldg(indices + u);
#pragma unroll
  for (int u = 0; u < Count; ++u) a[u] = read(values + u);
#pragma unroll
  for (int u = 0; u < Count; ++u) p[u] = load_piece<D, L>(row_of_x<L>(x, c[u], stride));
#pragma unroll
  for (int u = 0; u < Count; ++u) {
#pragma unroll
    for (int l = 0; l < L; ++l) sums.v[l] = multiply_add(a[u], p[u].v[l], sums.v[l]);
  }
}

// sums += the products of `count` entries in a row.
template <int L, class D, class I, class Count>
__device__ void add_entries(const I* indices, const D* values, Count count, const char* x, std::int64_t stride,
                            piece<D, L>& sums) {
  for (; count >= spmm_batch; count -= spmm_batch) {
    add_batch<spmm_batch>(indices, values, x, stride, sums);
    indices += spmm_batch;
    values += spmm_batch;
  }
  if (count & 2) {
    add_batch<2>(indices, values, x, stride, sums);
    indices += 2;
    values += 2;
  }
  if (count & 1) add_batch<1>(indices, values, x, stride, sums);
}

// The share of slot `slot` of `slots` of a row of `count` entries: batches in turn, the last one maybe short.
template <int L, class D, class I, class Count>
__device__ void add_share(const I* indices, const D* values, Count count, int slot, int slots, const char* x,
                          std::int64_t stride, piece<D, L>& sums) {
  std::int64_t k = slot * spmm_batch;
  for (; k + spmm_batch <= count; k += slots * spmm_batch) {
    add_batch<spmm_batch>(indices + k, values + k, x, stride, sums);
  }
  if (k < count) add_entries(indices + k, values + k, count - k, x, stride, sums);
}

// The sums of the groups of lanes from `step` up to `width` lanes wide, added up; the whole warp must call it.
template <class D, int L>
__device__ void add_groups(piece<D, L>& sums, int step, int width) {
  for (; step < width; step *= 2) {
#pragma unroll
    for (int l = 0; l < L; ++l) sums.v[l] = sums.v[l] + shuffle_xor(sums.v[l], step);
  }
}

template <class D, int L>
__device__ void store_piece(D* to, const piece<D, L>& p) {
  if constexpr (sizeof(p) == 16) {
    int4 w;
    __builtin_memcpy(&w, &p, 16);
    __stcs(reinterpret_cast<int4*>(to), w);
  } else if constexpr (sizeof(p) == 8) {
    int2 w;
    __builtin_memcpy(&w, &p, 8);
    __stcs(reinterpret_cast<int2*>(to), w);
  } else {
    *to = p.v[0];
  }
}

// y = alpha * sums + beta * y, where beta = 0 leaves y unread.
template <class D, int L>
__device__ void update_piece(D* y, D alpha, piece<D, L> sums, D beta) {
  if (beta == D{}) {
#pragma unroll
    for (int l = 0; l < L; ++l) sums.v[l] = alpha * sums.v[l];
  } else {
#pragma unroll
    for (int l = 0; l < L; ++l) sums.v[l] = multiply_add(beta, y[l], alpha * sums.v[l]);
  }
  store_piece(y, sums);
}

// --- On the host: one launch a panel of columns ------------------------------

// Values a piece for X and Y as they lie: 16 bytes, 8 or one value.
template <class D>
[[nodiscard]] int piece_values(const void* x, std::int64_t x_stride, const void* y, std::int64_t y_stride,
                               std::int64_t columns) {
  const auto size = static_cast<std::int64_t>(sizeof(D));
  const auto fits = [&](std::int64_t values) {
    const std::int64_t bytes = values * size;
    return columns % values == 0 && x_stride % values == 0 && y_stride % values == 0 &&
           reinterpret_cast<std::uintptr_t>(x) % static_cast<std::uintptr_t>(bytes) == 0 &&
           reinterpret_cast<std::uintptr_t>(y) % static_cast<std::uintptr_t>(bytes) == 0 &&
           x_stride <= std::numeric_limits<std::uint32_t>::max() / size;
  };
  for (std::int64_t values = 16 / size; values > 1; values /= 2) {
    if (fits(values)) return static_cast<int>(values);
  }
  return 1;
}

// launch(std::integral_constant<int, L>, arguments, first column) for each panel.
template <class D, class I, class O, class Launch>
void for_each_panel(spmm_arguments<D, I, O> a, std::int64_t columns, int values, Launch&& launch) {
  const std::int64_t widest = 32 * static_cast<std::int64_t>(values);
  for (std::int64_t at = 0; at < columns; at += widest) {
    auto panel = a;
    panel.x += at;
    panel.y += at;
    panel.pieces = static_cast<int>((columns - at < widest ? columns - at : widest) / values);
    panel.lanes_log2 = 0;
    while ((1 << panel.lanes_log2) < panel.pieces) ++panel.lanes_log2;
    if constexpr (sizeof(D) <= 4) {
      if (values == 4) launch(std::integral_constant<int, 4>{}, panel, at);
    }
    if constexpr (sizeof(D) <= 8) {
      if (values == 2) launch(std::integral_constant<int, 2>{}, panel, at);
    }
    if (values == 1) launch(std::integral_constant<int, 1>{}, panel, at);
  }
}

template <class V, class I, class O>
[[nodiscard]] spmm_executor_ptr<V, device> make_spmm_rows(const context<device>& ctx,
                                                          const csr_view<const V, I, O, device>& matrix);
template <class V, class I, class O>
[[nodiscard]] spmm_executor_ptr<V, device> make_spmm_merge(const context<device>& ctx,
                                                           const csr_view<const V, I, O, device>& matrix,
                                                           std::int64_t max_columns);

}  // namespace spargo::detail

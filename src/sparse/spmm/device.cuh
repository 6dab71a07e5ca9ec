// Shared by the SpMM kernels: how lanes divide a row of X, and the inner loop.
//
// A row of X is cut into segments of L values (16 bytes if alignment and the number of columns allow), and each lane
// keeps the sums of N segments: a group of neighbouring lanes (a power of two) reads whole rows of X, one per entry of
// A. If a row's segments do not fill the group, the spare lanes repeat the last segment and write nothing. Loads are
// issued in batches, all in flight before the first is used; full batches need no bounds checks, and the rest of a row
// uses smaller ones. Per entry a lane has two loads of A and N times one address multiply-add, one load of X and L
// multiply-adds. With many columns the rate of L1 loads is the limit, so a lane then takes two segments.
#pragma once

#include "sparse/spmm/executor.hpp"
#include "sparse/spmv/device.cuh"

#include <limits>

namespace spargo::detail::spmm {

inline constexpr int threads_per_block = 256;
// Keeps registers for a batch of loads in flight; with fewer the compiler uses each load before it issues the next.
inline constexpr int blocks_per_sm = 4;
// Entries per batch for N segments per lane: 8 loads of X. H200, k = 32, ms: with one segment 8 entries beat 4
// (27-point Laplacian 160^3, fp32: 1.04 and 1.18; fp64: 2.24 and 2.43), with two segments 4 beat 2 (1.88 and 1.99).
template <int N>
inline constexpr int entries_per_batch = 8 / N;

template <class D, class I, class O>
struct kernel_arguments {
  const O* offsets;
  const I* indices;
  const D* values;
  std::int64_t rows;
  const D* x;             // at the panel's first column
  std::int64_t x_stride;  // bytes
  D* y;                   // at the panel's first column
  std::int64_t y_stride;  // elements
  int segments;           // segments per row of this panel, 1 .. 32 * N
  int lanes_log2;         // log2 of lanes per group: N times the lanes hold the segments
  D alpha;
  D beta;
};

// Of y = alpha A x + beta y, without panels.
template <class V, class I, class O>
[[nodiscard]] kernel_arguments<device_value_t<V>, I, O> arguments_of(const csr_view<const V, I, O, device>& a,
                                                                     std::type_identity_t<V> alpha,
                                                                     const dense_view<const V, device>& x,
                                                                     std::type_identity_t<V> beta,
                                                                     const dense_view<V, device>& y) {
  return {a.offsets.data(),
          a.indices.data(),
          device_cast(a.values.data()),
          a.rows,
          device_cast(x.data.data()),
          x.stride * static_cast<std::int64_t>(sizeof(V)),
          device_cast(y.data.data()),
          y.stride,
          0,
          0,
          to_device_value(alpha),
          to_device_value(beta)};
}

template <class D, int L>
struct segment {
  D v[L];
};

// A lane's segments: number n is `lane + n * lanes` of the row, or the last one if that does not exist.
template <class D, int L, int N>
struct lane_sums {
  segment<D, L> of[N]{};
};
template <int N>
struct lane_share {
  int lane;          // in its group
  int segments[N];   // their numbers in the row
  const char* x[N];  // their addresses in row 0 of X

  template <int L, class D, class I, class O>
  static __device__ lane_share of(const kernel_arguments<D, I, O>& a) {
    lane_share s;
    s.lane = static_cast<int>(threadIdx.x) & ((1 << a.lanes_log2) - 1);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const int segment = s.lane + (n << a.lanes_log2);
      s.segments[n] = segment < a.segments ? segment : a.segments - 1;
      s.x[n] = reinterpret_cast<const char*>(a.x + s.segments[n] * L);
    }
    return s;
  }
  // Whether segment n exists and is this lane's.
  __device__ bool owns(int n, int lanes_log2) const { return segments[n] == lane + (n << lanes_log2); }
};

// Issued in program order, not deferred until the value is used.
template <class D, int L>
__device__ segment<D, L> load_segment(const char* from) {
  segment<D, L> p;
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

// The address of row `c` of X. With 32-bit indices and multi-value segments strides fit 32 bits: one instruction.
template <int L, class I>
__device__ const char* row_of_x(const char* x, I c, std::int64_t stride) {
  if constexpr (sizeof(I) == 4 && L > 1) {
    return x + static_cast<std::uint64_t>(static_cast<std::uint32_t>(c)) * static_cast<std::uint32_t>(stride);
  } else {
    return x + static_cast<std::int64_t>(c) * stride;
  }
}

// sums += the products of exactly `Count` entries.
template <int Count, int L, int N, class D, class I>
__device__ void add_batch(const I* indices, const D* values, const lane_share<N>& share, std::int64_t stride,
                          lane_sums<D, L, N>& sums) {
  I c[Count];
  D a[Count];
  segment<D, L> p[Count][N];
#pragma unroll
  for (int u = 0; u < Count; ++u) c[u] = __ldg(indices + u);
#pragma unroll
  for (int u = 0; u < Count; ++u) a[u] = read(values + u);
#pragma unroll
  for (int u = 0; u < Count; ++u) {
#pragma unroll
    for (int n = 0; n < N; ++n) p[u][n] = load_segment<D, L>(row_of_x<L>(share.x[n], c[u], stride));
  }
#pragma unroll
  for (int u = 0; u < Count; ++u) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int l = 0; l < L; ++l) sums.of[n].v[l] = multiply_add(a[u], p[u][n].v[l], sums.of[n].v[l]);
    }
  }
}

// sums += the products of fewer than twice `Count` entries.
template <int Count, int L, int N, class D, class I>
__device__ void add_rest(const I* indices, const D* values, int count, const lane_share<N>& share, std::int64_t stride,
                         lane_sums<D, L, N>& sums) {
  const bool whole = (count & Count) != 0;
  if (whole) add_batch<Count>(indices, values, share, stride, sums);
  if constexpr (Count > 1) {
    const int done = whole ? Count : 0;
    add_rest<Count / 2>(indices + done, values + done, count, share, stride, sums);
  }
}

// sums += the products of `count` consecutive entries.
template <int L, int N, class D, class I, class Count>
__device__ void add_entries(const I* indices, const D* values, Count count, const lane_share<N>& share,
                            std::int64_t stride, lane_sums<D, L, N>& sums) {
  constexpr int batch = entries_per_batch<N>;
  for (; count >= batch; count -= batch) {
    add_batch<batch>(indices, values, share, stride, sums);
    indices += batch;
    values += batch;
  }
  add_rest<batch / 2>(indices, values, static_cast<int>(count), share, stride, sums);
}

// The part of slot `slot` of `slots` in a row of `count` entries: batches round-robin, the last maybe partial.
template <int L, int N, class D, class I, class Count>
__device__ void add_slot(const I* indices, const D* values, Count count, int slot, int slots,
                         const lane_share<N>& share, std::int64_t stride, lane_sums<D, L, N>& sums) {
  constexpr int batch = entries_per_batch<N>;
  std::int64_t k = slot * batch;
  for (; k + batch <= count; k += slots * batch) add_batch<batch>(indices + k, values + k, share, stride, sums);
  if (k < count) add_rest<batch / 2>(indices + k, values + k, static_cast<int>(count - k), share, stride, sums);
}

// Adds the sums of lane groups, from groups of `step` lanes up to `width`; the whole warp must call it.
template <class D, int L, int N>
__device__ void add_groups(lane_sums<D, L, N>& sums, int step, int width) {
  for (; step < width; step *= 2) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int l = 0; l < L; ++l) sums.of[n].v[l] = sums.of[n].v[l] + shuffle_xor(sums.of[n].v[l], step);
    }
  }
}

template <class D, int L>
__device__ void store_segment(D* to, const segment<D, L>& p) {
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

// y = alpha * sums + beta * y; beta = 0 does not read y.
template <class D, int L>
__device__ void update_segment(D* y, D alpha, segment<D, L> sums, D beta) {
  if (beta == D{}) {
#pragma unroll
    for (int l = 0; l < L; ++l) sums.v[l] = alpha * sums.v[l];
  } else {
#pragma unroll
    for (int l = 0; l < L; ++l) sums.v[l] = multiply_add(beta, y[l], alpha * sums.v[l]);
  }
  store_segment(y, sums);
}

// --- On the host: one launch per panel of columns ------------------------------

// Values per segment allowed by the alignment of X and Y: 16 bytes, 8 bytes or one value.
template <class D>
[[nodiscard]] int segment_values(const void* x, std::int64_t x_stride, const void* y, std::int64_t y_stride,
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

// Template parameters of a kernel: L values per segment, N segments per lane.
template <int Values, int Segments>
struct kernel_shape {
  static constexpr int values = Values;
  static constexpr int segments = Segments;
};

// launch(kernel_shape, arguments, first column) for each panel of columns. Lanes take two segments if these have 16
// bytes and a row has at least two_from of them.
template <class D, class I, class O, class Launch>
void for_each_panel(kernel_arguments<D, I, O> a, std::int64_t columns, int values, std::int64_t two_from,
                    Launch&& launch) {
  constexpr int full = static_cast<int>(16 / sizeof(D));
  const int segments_per_lane = values == full && columns / values >= two_from ? 2 : 1;
  const std::int64_t widest = static_cast<std::int64_t>(warp_size) * segments_per_lane * values;
  for (std::int64_t at = 0; at < columns; at += widest) {
    auto panel = a;
    panel.x += at;
    panel.y += at;
    panel.segments = static_cast<int>((columns - at < widest ? columns - at : widest) / values);
    panel.lanes_log2 = 0;
    while ((segments_per_lane << panel.lanes_log2) < panel.segments) ++panel.lanes_log2;
    if (segments_per_lane == 2) {
      launch(kernel_shape<full, 2>{}, panel, at);
    } else if (values == full) {
      launch(kernel_shape<full, 1>{}, panel, at);
    } else if (values == 1) {
      launch(kernel_shape<1, 1>{}, panel, at);
    } else {
      if constexpr (full == 4) launch(kernel_shape<2, 1>{}, panel, at);
    }
  }
}

template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, device> make_rows(const context<device>& ctx,
                                                const csr_view<const V, I, O, device>& matrix);
template <class V, class I, class O>
[[nodiscard]] executor_ptr<V, device> make_merge(const context<device>& ctx,
                                                 const csr_view<const V, I, O, device>& matrix,
                                                 std::int64_t max_columns);

}  // namespace spargo::detail::spmm

// Textbook scans of one block's section of the input, extended to any length.
//
// Each block scans its section in shared memory and writes the section's total. The totals are scanned recursively by
// the same algorithm, and a last pass adds each section's prefix. Every section is read completely before it is
// written, so the output may be the input. The order of operations depends on the position only.
//
// Cost: 2n elements read and 2n written. Operations per section of b: kogge_stone b log2(b), brent_kung 2b. Kogge and
// Stone, IEEE Trans. Computers C-22(8), 1973; Brent and Kung, IEEE Trans. Computers C-31(3), 1982.
#pragma once

#include "core/device/launch.cuh"
#include "primitives/function_objects.hpp"
#include "primitives/scan/backend.hpp"

namespace spargo::detail::scan {

struct block_tuning {
  static constexpr int threads = 512;  // four blocks per SM hide each other's barriers
};

// In place, one element per thread: read, barrier, write, barrier.
struct kogge_stone_section {
  static constexpr int size = block_tuning::threads;

  template <class T>
  struct storage {
    T values[size];
  };

  // Scans (inclusive) the section that starts at `in`; returns where the result is.
  template <class Op, class T>
  static __device__ const T* scan(storage<T>& shared, const T* in, int count) {
    const int i = static_cast<int>(threadIdx.x);
    shared.values[i] = i < count ? in[i] : Op::identity;
    __syncthreads();
    for (int stride = 1; stride < size; stride *= 2) {
      const T before = i >= stride ? shared.values[i - stride] : Op::identity;
      __syncthreads();  // all have read
      if (i >= stride) shared.values[i] = Op::apply(before, shared.values[i]);
      __syncthreads();  // all have written
    }
    return shared.values;
  }
  static __device__ int place(int i) { return i; }
};

// Alternates between two buffers, so that a step needs only one barrier; elements without predecessor are copied.
struct double_buffered_section {
  static constexpr int size = block_tuning::threads;

  template <class T>
  struct storage {
    T values[2][size];
  };

  template <class Op, class T>
  static __device__ const T* scan(storage<T>& shared, const T* in, int count) {
    const int i = static_cast<int>(threadIdx.x);
    T* from = shared.values[0];
    T* to = shared.values[1];
    from[i] = i < count ? in[i] : Op::identity;
    __syncthreads();
    for (int stride = 1; stride < size; stride *= 2) {
      to[i] = i >= stride ? Op::apply(from[i - stride], from[i]) : from[i];
      __syncthreads();
      T* const scanned = to;
      to = from;
      from = scanned;
    }
    return from;
  }
  static __device__ int place(int i) { return i; }
};

// Two elements per thread: an up-sweep that builds a tree of partial results, and a down-sweep. Strides are powers of
// two, so the layout skips one word in 32 to avoid bank conflicts.
struct brent_kung_section {
  static constexpr int threads = block_tuning::threads;
  static constexpr int size = 2 * threads;

  template <class T>
  struct storage {
    T values[size + size / 32];
  };

  template <class Op, class T>
  static __device__ const T* scan(storage<T>& shared, const T* in, int count) {
    const int t = static_cast<int>(threadIdx.x);
    T* x = shared.values;
    for (int i = t; i < size; i += threads) x[place(i)] = i < count ? in[i] : Op::identity;
    for (int stride = 1; stride < size; stride *= 2) {
      __syncthreads();
      const int i = (t + 1) * 2 * stride - 1;
      if (i < size) x[place(i)] = Op::apply(x[place(i - stride)], x[place(i)]);
    }
    for (int stride = size / 4; stride > 0; stride /= 2) {
      __syncthreads();
      const int i = (t + 1) * 2 * stride - 1 + stride;
      if (i < size) x[place(i)] = Op::apply(x[place(i - stride)], x[place(i)]);
    }
    __syncthreads();
    return x;
  }
  static __device__ int place(int i) { return i + i / 32; }
};

template <scan_kind Kind, class Section, class Op, class T>
__global__ void __launch_bounds__(block_tuning::threads)
    scan_sections_kernel(const T* in, T* out, std::int64_t size, std::int64_t sections, T* totals) {
  __shared__ typename Section::template storage<T> shared;
  for (std::int64_t s = blockIdx.x; s < sections; s += gridDim.x) {
    const std::int64_t first = s * Section::size;
    const int count = static_cast<int>(size - first < Section::size ? size - first : Section::size);
    const T* scanned = Section::template scan<Op>(shared, in + first, count);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_tuning::threads) {
      if constexpr (Kind == scan_kind::inclusive) {
        out[first + i] = scanned[Section::place(i)];
      } else {
        out[first + i] = i == 0 ? Op::identity : scanned[Section::place(i - 1)];
      }
    }
    if (threadIdx.x == 0 && sections > 1) totals[s] = scanned[Section::place(Section::size - 1)];
    __syncthreads();  // before the next section overwrites what others still read
  }
}

template <class Op, class T>
__global__ void __launch_bounds__(block_tuning::threads)
    propagate_kernel(T* out, std::int64_t size, int section, std::int64_t sections, const T* before) {
  for (std::int64_t s = blockIdx.x; s < sections; s += gridDim.x) {
    const T prefix = before[s];
    const std::int64_t first = s * section;
    const int count = static_cast<int>(size - first < section ? size - first : section);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_tuning::threads) {
      out[first + i] = Op::apply(prefix, out[first + i]);
    }
  }
}

template <scan_kind Kind, class Section, class Op, class T>
void scan_sections(const context<device>& ctx, span<const T, device> in, span<T, device> out) {
  const std::int64_t sections = div_up(in.size(), std::int64_t{Section::size});
  const launch_shape shape{std::min<std::int64_t>(sections, INT32_MAX), block_tuning::threads};
  array<T, device> totals(ctx, sections > 1 ? sections : 0);
  launch_kernel(ctx, shape, scan_sections_kernel<Kind, Section, Op, T>, in.data(), out.data(), in.size(), sections,
                totals.data());
  if (sections == 1) return;
  scan_sections<scan_kind::exclusive, Section, Op>(ctx, std::as_const(totals).view(), totals.view());
  launch_kernel(ctx, shape, propagate_kernel<Op, T>, out.data(), in.size(), Section::size, sections, totals.data());
}

}  // namespace spargo::detail::scan

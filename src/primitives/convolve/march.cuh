// Convolution of an image by warps that move down it.
//
// A warp owns a strip 512 bytes wide, one 16-byte vector per lane, and the K output rows that the current input row
// contributes to. It stages each input row once in its ring of shared memory by asynchronous copies, some rows ahead; a
// lane reads its window once (2 to 5 loads) and adds K * K products per column to the K pending rows in registers. Taps
// are kernel parameters at constant indices, so each product is one instruction with an operand in the constant bank:
// no load, no register, no state shared between streams.
// Invariant: before input row r, pending[j] holds the sum for output row r - K/2 - 1 + j over the rows above r. Adding
// row r shifts: new pending[j] = old pending[j + 1] + ..., at no cost, as a sum's first product writes another register
// than it reads.
// Outside the image zeros are stored instead of copied. Only warp barriers are needed.
// Cost: each input is read (1 + 2 * halo / width) * (1 + (K - 1) / rows per strip) times, each output written once.
#pragma once

#include "core/device/async_copy.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace spargo::detail::convolve {

// Memory accesses: 16 bytes per lane where rows are aligned to that, else one element per lane.
enum class row_access { vectors, elements };

// K x K taps, added row by row and left to right: the order of the plain sum.
template <class T, int K>
struct full_filter {
  static constexpr int width = K;
  T tap[K][K];

  // Adds a row to the pending rows of V columns, from a window of V + K - 1 inputs.
  template <int V>
  __device__ __forceinline__ void add_row(const T* window, T (&pending)[K][V]) const {
#pragma unroll
    for (int j = 0; j < K; ++j) {
#pragma unroll
      for (int c = 0; c < V; ++c) {
        T sum = j + 1 < K ? pending[j + 1 < K ? j + 1 : j][c] : T{0};
#pragma unroll
        for (int t = 0; t < K; ++t) sum = fma(window[c + t], tap[K - 1 - j][t], sum);
        pending[j][c] = sum;
      }
    }
  }
};

// The filter down[i] * across[j]: a pass along the row, then one down the columns, in registers.
template <class T, int K>
struct outer_filter {
  static constexpr int width = K;
  T down[K];
  T across[K];

  template <int V>
  __device__ __forceinline__ void add_row(const T* window, T (&pending)[K][V]) const {
    T along[V];
#pragma unroll
    for (int c = 0; c < V; ++c) {
      along[c] = T{0};
#pragma unroll
      for (int t = 0; t < K; ++t) along[c] = fma(window[c + t], across[t], along[c]);
    }
#pragma unroll
    for (int j = 0; j < K; ++j) {
#pragma unroll
      for (int c = 0; c < V; ++c) {
        pending[j][c] = fma(along[c], down[K - 1 - j], j + 1 < K ? pending[j + 1 < K ? j + 1 : j][c] : T{0});
      }
    }
  }
};

// Rows and columns of one launch; pitches in elements.
template <class T>
struct march_image {
  const T* in;
  std::int64_t in_pitch;
  T* out;
  std::int64_t out_pitch;
  std::int64_t rows;
  std::int64_t cols;
};

// Launch shape: vectors per lane, 512 bytes apart; rows per step; steps in the ring (all but one in flight).
template <int Vectors, int Rows, int Stages, int Blocks>
struct march_shape {
  static constexpr int vectors = Vectors;
  static constexpr int rows = Rows;
  static constexpr int stages = Stages;
  static constexpr int blocks = Blocks;  // one-warp blocks resident on an SM
};

// Makes the compiler keep a value in a register instead of recomputing it in every step.
template <class T>
__device__ __forceinline__ T keep(T value) {
  if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
  return value;
}

template <class T, int K, class Shape, row_access Access>
struct march {
  static constexpr int size = static_cast<int>(sizeof(T));
  static constexpr int vec = 16 / size;
  static constexpr int half = K / 2;
  static constexpr int halo = (half + vec - 1) / vec * vec;  // columns staged on each side: whole vectors
  static constexpr int group = 32 * vec;                     // columns of one vector per lane
  static constexpr int groups = Shape::vectors;
  static constexpr int width = groups * group;  // columns of the warp
  static constexpr int staged = width + 2 * halo;
  static constexpr int rows = Shape::rows;
  static constexpr int stages = Shape::stages;
  static constexpr unsigned row_bytes = staged * sizeof(T);
  static constexpr unsigned slot_bytes = rows * row_bytes;

  struct alignas(16) warp_memory {
    T ring[stages][rows][staged];
    T result[Access == row_access::elements ? rows : 1][Access == row_access::elements ? width : groups];
  };

  // A lane's part of copying a row. Of the 16-byte copies the last covers both halos, the others the warp's columns.
  // Copies outside the image's columns are disabled: the ring is zeroed at the start.
  static constexpr int copies = Access == row_access::vectors ? groups + (halo > 0 ? 1 : 0) : (staged + 31) / 32;
  static constexpr int copy_size = Access == row_access::vectors ? vec : 1;
  static constexpr int pointers = Access == row_access::vectors && halo > 0 ? 2 : 1;  // columns and halos
  static constexpr int apart = Access == row_access::vectors ? group : 32;            // between copies of one pointer

  struct lane_copies {
    const T* from[pointers];  // in the next row
    int at[copies];           // index in the staged row
    unsigned on;              // bit k: the lane has copy k, entirely inside the image
    int end;                  // end of the image as an index in the staged row
    int rows_left;            // rows of the image from the next row on
    int whole_left;           // the same; 0 if the image ends within a vector of the strip
  };

  __device__ static lane_copies plan(const march_image<T>& image, std::int64_t first_col, std::int64_t first_row,
                                     int lane) {
    lane_copies p;
    p.rows_left = static_cast<int>(min(image.rows - first_row, std::int64_t{1} << 30));
    p.end = static_cast<int>(min(image.cols - (first_col - halo), std::int64_t{staged}));
    p.whole_left = p.end % copy_size != 0 ? 0 : p.rows_left;
    p.on = 0;
    const T* row = image.in + first_row * image.in_pitch + first_col - halo;
    const int begin = first_col == 0 ? halo : 0;
#pragma unroll
    for (int k = 0; k < copies; ++k) {
      bool held = true;
      if constexpr (Access == row_access::vectors) {
        const int beside = lane * vec;
        p.at[k] = k < groups ? halo + k * group + beside : beside < halo ? beside : width + beside;
        held = k < groups || beside < 2 * halo;
        if (k == groups) p.from[pointers - 1] = keep(row + p.at[k]);
      } else {
        p.at[k] = lane + 32 * k;
        held = p.at[k] < staged;
      }
      if (held && p.at[k] >= begin && p.at[k] + copy_size <= p.end) p.on |= 1U << k;
      if (!held) p.at[k] = staged;
    }
    p.from[0] = keep(row + p.at[0]);
    p.on = keep(p.on);
    p.end = keep(p.end);
    return p;
  }

  __device__ static const T* element(const lane_copies& p, int k) {
    return Access == row_access::vectors && k == groups ? p.from[pointers - 1] : p.from[0] + k * apart;
  }

  __device__ static void stage_row(unsigned to, lane_copies& p, std::int64_t pitch) {
#pragma unroll
    for (int k = 0; k < copies; ++k) {
      // Through L1: bypassing it, as 16-byte copies could, K = 3 takes 0.160 ms instead of 0.148.
      if ((p.on >> k & 1U) != 0) copy_bytes_async<copy_size * size>(to + p.at[k] * size, element(p, k));
    }
#pragma unroll
    for (int k = 0; k < pointers; ++k) p.from[k] += pitch;
  }

  __device__ static void stage(unsigned to, lane_copies& p, std::int64_t pitch) {
    if (p.whole_left >= rows) {
#pragma unroll
      for (int v = 0; v < rows; ++v) stage_row(to + v * row_bytes, p, pitch);
    } else {
#pragma unroll
      for (int v = 0; v < rows; ++v) {
        if (v < p.rows_left) {
          stage_last(to + v * row_bytes, p);
          stage_row(to + v * row_bytes, p, pitch);
        } else {
          stage_zero(to + v * row_bytes, p);
        }
      }
    }
    p.rows_left -= rows;
    p.whole_left -= rows;
    commit_copies();
  }

  // The part of the image's last, incomplete vector, one element per lane.
  __device__ static void stage_last(unsigned to, const lane_copies& p) {
    const int at = p.end / copy_size * copy_size + static_cast<int>(threadIdx.x);
    if (at < p.end) copy_bytes_async<size>(to + at * size, p.from[0] + (at - p.at[0]));
  }

  __device__ static void stage_zero(unsigned to, const lane_copies& p) {
    T* row = static_cast<T*>(__cvta_shared_to_generic(to));
#pragma unroll
    for (int k = 0; k < copies; ++k) {
#pragma unroll
      for (int c = 0; c < copy_size; ++c) {
        if (p.at[k] < staged) row[p.at[k] + c] = T{0};
      }
    }
  }

  // The lane's vector and the halo that the filter needs on both sides.
  __device__ static void read_window(const T* from, int lane, T* window) {
    T all[vec + 2 * halo];
#pragma unroll
    for (int k = 0; k < vec + 2 * halo; k += vec) {
      *reinterpret_cast<int4*>(all + k) = *reinterpret_cast<const int4*>(from + lane * vec + k);
    }
#pragma unroll
    for (int k = 0; k < vec + K - 1; ++k) window[k] = all[halo - half + k];
  }

  // Stores a complete row. `to` is at the lane's first column, `left` is the number of columns from there.
  __device__ static void store(T* to, int left, int lane, const T (&done)[vec], T* result) {
    if constexpr (Access == row_access::vectors) {
      if (left >= vec) {
        __stcs(reinterpret_cast<int4*>(to), *reinterpret_cast<const int4*>(done));
      } else {
#pragma unroll
        for (int c = 0; c + 1 < vec; ++c) {
          if (c < left) to[c] = done[c];
        }
      }
    } else {
      *reinterpret_cast<int4*>(result + lane * vec) = *reinterpret_cast<const int4*>(done);
      __syncwarp();
#pragma unroll
      for (int c = 0; c < vec; ++c) {
        if (32 * c < left) __stcs(to + 32 * c, result[lane + 32 * c]);
      }
    }
  }
};

// Single-warp blocks make all control flow uniform per block, so that the compiler keeps taps in uniform registers.
// Grid: x over strips of Shape::vectors * 512 bytes, y over groups of `share` output rows (below 2^30).
template <class T, class Filter, class Shape, row_access Access>
__global__ void __launch_bounds__(32, Shape::blocks)
    march_kernel(const __grid_constant__ march_image<T> image, int share, const __grid_constant__ Filter filter) {
  constexpr int K = Filter::width;
  using m = march<T, K, Shape, Access>;
  __shared__ typename m::warp_memory own;
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t first_col = std::int64_t{blockIdx.x} * m::width;
  const std::int64_t first = std::int64_t{blockIdx.y} * share;
  const int count = static_cast<int>(min(std::int64_t{share}, image.rows - first));
  const int above = static_cast<int>(min(first, std::int64_t{m::half}));  // input rows above the first output's
  const int lane_col = Access == row_access::vectors ? lane * m::vec : lane;
  const int left = keep(static_cast<int>(min(image.cols - first_col, std::int64_t{m::width})) - lane_col);

  if (first_col == 0 || image.cols - first_col < m::width + m::halo) {
    T* all = &own.ring[0][0][0];
    constexpr int count_all = m::stages * m::rows * m::staged;
    for (int i = 0; i < count_all; i += 32) {
      if (i + lane < count_all) all[i + lane] = T{0};
    }
    __syncwarp();
  }
  const unsigned ring = keep(static_cast<unsigned>(__cvta_generic_to_shared(&own.ring[0][0][0])));
  auto copies = m::plan(image, first_col, first - above, lane);
#pragma unroll
  for (int s = 0; s + 1 < m::stages; ++s) m::stage(ring + s * m::slot_bytes, copies, image.in_pitch);

  T pending[m::groups][K][m::vec] = {};
  T* out = keep(image.out + (first - above - m::half) * image.out_pitch + first_col + lane_col);
  int slot = 0;
  for (int row = -above; row < count + m::half; row += m::rows) {
    wait_for_groups<m::stages - 2>();
    __syncwarp();  // this step's slot is written, the previous one's has been read
    m::stage(ring + (slot == 0 ? m::stages - 1 : slot - 1) * m::slot_bytes, copies, image.in_pitch);
#pragma unroll
    for (int v = 0; v < m::rows; ++v) {
      const bool complete = static_cast<unsigned>(row + v - m::half) < static_cast<unsigned>(count);
#pragma unroll
      for (int g = 0; g < m::groups; ++g) {
        T window[m::vec + K - 1];
        m::read_window(own.ring[slot][v] + g * m::group, lane, window);
        filter.add_row(window, pending[g]);
        if (complete) {
          m::store(
              out + g * m::group, left - g * m::group, lane, pending[g][0],
              own.result[Access == row_access::elements ? v : 0] + (Access == row_access::elements ? g * m::group : 0));
        }
      }
      out += image.out_pitch;
    }
    slot = slot + 1 == m::stages ? 0 : slot + 1;
  }
  wait_for_groups<0>();
}

}  // namespace spargo::detail::convolve

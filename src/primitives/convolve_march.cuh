// Convolution of an image by warps that march down it.
//
// Idea: a warp owns a strip of 512 bytes of columns, one 16-byte vector a lane, and the K output rows that the current
// input row reaches. Each input row is staged once in the warp's own ring of shared memory by asynchronous copies, some
// rows ahead; a lane reads its window of it once (2 to 5 loads) and adds K * K products a column to the K pending rows,
// which stay in registers. Filter taps are kernel parameters at constant indices, so that each product is one
// instruction with an operand in the constant bank: no load, no register, and no state shared between streams.
// Invariant: before input row r, pending[j] holds what the rows above r add to output row r - K/2 - 1 + j. Adding row r
// shifts: new pending[j] = old pending[j + 1] + ..., which costs nothing, as the first product of a sum writes another
// register than it adds to.
// Outside the image the copies write zeros instead of reading. No barrier of the block: only of the warp.
// Cost: every input is read (1 + 2 * halo / width) * (1 + (K - 1) / rows a strip) times, every output written once.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace spargo::detail {

// How a warp reaches memory: 16 bytes a lane where rows are aligned to that, else one element a lane.
enum class row_access { vectors, elements };

// K x K taps, added row by row and left to right: the order of the plain sum.
template <class T, int K>
struct full_filter {
  static constexpr int width = K;
  T tap[K][K];

  // pending rows of V columns, from a window of V + K - 1 inputs.
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

// The filter down[i] * across[j]: a pass along the row, then one down the columns, both in registers.
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

// The shape of a launch: rows taken a step, and steps in the ring (all but one are in flight).
template <int Rows, int Stages, int Blocks>
struct march_shape {
  static constexpr int rows = Rows;
  static constexpr int stages = Stages;
  static constexpr int blocks = Blocks;  // of one warp, resident on a multiprocessor
};

template <int Bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, int bytes) {
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(Bytes), "r"(bytes)
                 : "memory");
  }
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

template <class T, int K, class Shape, row_access Access>
struct march {
  static constexpr int vec = 16 / static_cast<int>(sizeof(T));
  static constexpr int half = K / 2;
  static constexpr int halo = (half + vec - 1) / vec * vec;  // staged on each side: whole vectors
  static constexpr int width = 32 * vec;                     // columns of a warp
  static constexpr int staged = width + 2 * halo;
  static constexpr int rows = Shape::rows;
  static constexpr int stages = Shape::stages;

  struct alignas(16) warp_memory {
    T ring[stages][rows][staged];
    T result[Access == row_access::elements ? rows : 1][Access == row_access::elements ? width : vec];
  };

  // One lane's part of copying a row. Of 16-byte copies the first covers the warp's columns, the second both halos.
  // Copies outside the image's columns are off: the ring holds zeros there from the start.
  static constexpr int copies = Access == row_access::vectors ? (halo > 0 ? 2 : 1) : (staged + 31) / 32;
  static constexpr int copy_size = Access == row_access::vectors ? vec : 1;

  struct lane_copies {
    const T* from;      // column `first_col - halo` of the next row
    int at[copies];     // element of the staged row
    int bytes[copies];  // of the copy, what is in the image; the rest of it becomes zero
    bool held[copies];  // whether the lane has this copy
    int rows_left;      // rows of the image from the next one on
  };

  __device__ static lane_copies plan(const march_image<T>& image, std::int64_t first_col, std::int64_t first_row,
                                     int lane) {
    lane_copies p;
    p.from = image.in + first_row * image.in_pitch + first_col - halo;
    p.rows_left = static_cast<int>(min(image.rows - first_row, std::int64_t{1} << 30));
    const std::int64_t end = image.cols - (first_col - halo);  // of the image, as a staged column
    const int begin = first_col == 0 ? halo : 0;
#pragma unroll
    for (int k = 0; k < copies; ++k) {
      if constexpr (Access == row_access::vectors) {
        const int beside = lane * vec;
        p.at[k] = k == 0 ? halo + beside : beside < halo ? beside : width + beside;
        p.held[k] = k == 0 || beside < 2 * halo;
      } else {
        p.at[k] = lane + 32 * k;
        p.held[k] = p.at[k] < staged;
      }
      const std::int64_t left = p.at[k] < begin ? 0 : min(max(end - p.at[k], std::int64_t{0}), std::int64_t{copy_size});
      p.bytes[k] = static_cast<int>(left) * static_cast<int>(sizeof(T));
    }
    return p;
  }

  // Stages the next `rows` input rows; those below the image become zero.
  __device__ static void stage(T (&to)[rows][staged], lane_copies& p, std::int64_t pitch) {
#pragma unroll
    for (int v = 0; v < rows; ++v) {
      if (v < p.rows_left) {
#pragma unroll
        for (int k = 0; k < copies; ++k) {
          if (p.held[k] && p.bytes[k] > 0) {
            copy_async<copy_size* static_cast<int>(sizeof(T))>(&to[v][p.at[k]], p.from + p.at[k], p.bytes[k]);
          }
        }
      } else {
#pragma unroll
        for (int k = 0; k < copies; ++k) {
#pragma unroll
          for (int c = 0; c < copy_size; ++c) {
            if (p.held[k]) to[v][p.at[k] + c] = T{0};
          }
        }
      }
      p.from += pitch;
    }
    p.rows_left -= rows;
    commit_copies();
  }

  // The lane's vector of the warp's columns and what the filter reaches beside it.
  __device__ static void read_window(const T (&from)[staged], int lane, T* window) {
    T all[vec + 2 * halo];
#pragma unroll
    for (int k = 0; k < vec + 2 * halo; k += vec) {
      *reinterpret_cast<int4*>(all + k) = *reinterpret_cast<const int4*>(from + lane * vec + k);
    }
#pragma unroll
    for (int k = 0; k < vec + K - 1; ++k) window[k] = all[halo - half + k];
  }

  // Stores a complete row, `to` being its element of the warp's first column; `left` columns of the image from there.
  __device__ static void store(T* to, int left, int lane, const T (&done)[vec], T* result) {
    if constexpr (Access == row_access::vectors) {
      to += lane * vec;
      if ((lane + 1) * vec <= left) {
        __stcs(reinterpret_cast<int4*>(to), *reinterpret_cast<const int4*>(done));
      } else {
#pragma unroll
        for (int c = 0; c < vec; ++c) {
          if (lane * vec + c < left) to[c] = done[c];
        }
      }
    } else {
      *reinterpret_cast<int4*>(result + lane * vec) = *reinterpret_cast<const int4*>(done);
      __syncwarp();
#pragma unroll
      for (int c = 0; c < vec; ++c) {
        if (lane + 32 * c < left) to[lane + 32 * c] = result[lane + 32 * c];
      }
    }
  }
};

// Blocks are single warps, so that all control flow is uniform in a block: the compiler then keeps taps in uniform
// registers. Grid: x over strips of 512 bytes of columns, y over shares of `share` output rows (below 2^30).
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
  const int above = static_cast<int>(min(first, std::int64_t{m::half}));  // input rows read above the first output's
  const int left = static_cast<int>(min(image.cols - first_col, std::int64_t{m::width}));

  if (first_col == 0 || image.cols - first_col < m::width + m::halo) {
    T* ring = &own.ring[0][0][0];
    constexpr int size = m::stages * m::rows * m::staged;
    for (int i = 0; i < size; i += 32) {
      if (i + lane < size) ring[i + lane] = T{0};
    }
    __syncwarp();
  }
  auto copies = m::plan(image, first_col, first - above, lane);
#pragma unroll
  for (int s = 0; s + 1 < m::stages; ++s) m::stage(own.ring[s], copies, image.in_pitch);

  T pending[K][m::vec] = {};
  T* out = image.out + first * image.out_pitch + first_col;
  int slot = 0;
  for (int row = -above; row < count + m::half; row += m::rows) {
    wait_for_copies<m::stages - 2>();
    __syncwarp();  // the slot of this step is written, that of the step before is read
    m::stage(own.ring[slot == 0 ? m::stages - 1 : slot - 1], copies, image.in_pitch);
#pragma unroll
    for (int v = 0; v < m::rows; ++v) {
      T window[m::vec + K - 1];
      m::read_window(own.ring[slot][v], lane, window);
      filter.add_row(window, pending);
      if (static_cast<unsigned>(row + v - m::half) < static_cast<unsigned>(count)) {
        m::store(out, left, lane, pending[0], own.result[Access == row_access::elements ? v : 0]);
        out += image.out_pitch;
      }
    }
    slot = slot + 1 == m::stages ? 0 : slot + 1;
  }
  wait_for_copies<0>();
}

}  // namespace spargo::detail

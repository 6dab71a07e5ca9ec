// C = alpha * A * B + beta * C on Hopper's tensor cores: a persistent, warp-specialised kernel.
//
// One warp keeps a ring of tiles of A and B in shared memory filled by the copy engine; two warpgroups multiply them
// with `wgmma`, each 64 rows x 256 columns of the block's tile. The blocks of a cluster are neighbours in m, use the
// same tile of B, and each load a part of it for all. Clusters process the tiles of C in bands of a few rows, so that
// concurrent tiles share operands in L2.
// Invariant: a slot of the ring is written only after both warpgroups of every block of the cluster have released it
// (barrier `empty`), and read only after its bytes have arrived (barrier `full`); both change parity once per lap. The
// copy engine fills boxes past an edge with zeros, so only stores test the matrix's size.
// Cost: 2 m n k operations; a tile of C reads (128 + 256 / cluster) * k elements through L2.
// Source: PTX ISA; the structure follows CUTLASS 3's warp-specialised persistent kernels (Thakkar et al., 2023).
#pragma once

#include "primitives/matmul/tensor/async.cuh"
#include "primitives/matmul/tensor/wgmma.cuh"

namespace spargo::detail::matmul::tensor {

// Precision, operand orders and tile shape; matmul_tensor_sm90a.cu chooses them.
template <precision Precision, major A, major B, int Cluster, int Stages, int Band>
struct shape {
  static_assert(Precision == precision::bf16 || (A == major::k && B == major::k), "TF32 operands are K-major");
  static constexpr int element_bytes = Precision == precision::bf16 ? 2 : 4;
  static constexpr int rows = 2 * wgmma_rows;  // rows of a block's tile of C
  static constexpr int columns = wgmma_columns;
  static constexpr int depth = 128 / element_bytes;  // k extent of a slot: one swizzled row
  static constexpr int a_bytes = rows * 128;
  static constexpr int b_bytes = columns * 128;
  static constexpr int slot_bytes = a_bytes + b_bytes;
  static constexpr int share = columns / Cluster;  // columns of B loaded by each block
  static constexpr int chunk = 64;                 // elements of m (n) per row of an MN-major tile
  static constexpr int chunk_bytes = chunk * 128;
  static constexpr int threads = 3 * 128;
  static constexpr int shared_bytes = 1024 + Stages * slot_bytes + 2 * Stages * 8;

  // Boxes of the tensor maps: {contiguous, strided}.
  static constexpr int a_box_x = A == major::k ? depth : chunk;
  static constexpr int a_box_y = A == major::k ? rows : depth;
  static constexpr int b_box_x = B == major::k ? depth : chunk;
  static constexpr int b_box_y = B == major::k ? share : depth;

  static constexpr precision inputs = Precision;
  static constexpr major a_major = A;
  static constexpr major b_major = B;
  static constexpr int cluster = Cluster;
  static constexpr int stages = Stages;
  static constexpr int band = Band;
};

// Addresses in shared memory; slots are aligned to 1024 bytes, as the swizzle requires.
template <class Shape>
struct ring {
  std::uint32_t base;

  __device__ std::uint32_t a(int slot) const { return base + slot * Shape::slot_bytes; }
  __device__ std::uint32_t b(int slot) const { return a(slot) + Shape::a_bytes; }
  __device__ std::uint32_t full(int slot) const { return base + Shape::stages * Shape::slot_bytes + slot * 8; }
  __device__ std::uint32_t empty(int slot) const { return full(slot) + Shape::stages * 8; }
};

// The current slot and the parity of its lap.
template <class Shape>
struct ring_slot {
  int slot = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void next() {
    if (++slot == Shape::stages) {
      slot = 0;
      parity ^= 1;
    }
  }
};

// A cluster's tiles, in bands of Shape::band rows, column by column within a band.
template <class Shape>
struct tiling {
  int tile_rows;
  int tile_columns;

  __device__ explicit tiling(const product& p)
      : tile_rows((p.m - 1) / (Shape::rows * Shape::cluster) + 1), tile_columns((p.n - 1) / Shape::columns + 1) {}
  __device__ std::int64_t size() const { return std::int64_t{tile_rows} * tile_columns; }

  __device__ void locate(std::int64_t tile, int& row, int& column) const {
    const std::int64_t band_tiles = std::int64_t{Shape::band} * tile_columns;
    const int first = static_cast<int>(tile / band_tiles) * Shape::band;
    const int height = min(Shape::band, tile_rows - first);
    const auto within = static_cast<std::int64_t>(tile % band_tiles);
    row = first + static_cast<int>(within % height);
    column = static_cast<int>(within / height);
  }
};

// Fills slots for every tile of this cluster. Run by one thread.
template <class Shape>
__device__ __forceinline__ void produce(const CUtensorMap& a_map, const CUtensorMap& b_map, const product& p,
                                        ring<Shape> slots, std::uint32_t rank) {
  constexpr auto everyone = static_cast<std::uint16_t>((1 << Shape::cluster) - 1);
  const tiling<Shape> tiles(p);
  ring_slot<Shape> at{.slot = 0, .parity = 1};  // the first lap does not wait
  for (std::int64_t tile = blockIdx.x / Shape::cluster; tile < tiles.size(); tile += gridDim.x / Shape::cluster) {
    int row = 0;
    int column = 0;
    tiles.locate(tile, row, column);
    const int i = (row * Shape::cluster + static_cast<int>(rank)) * Shape::rows;
    const int first = static_cast<int>(rank) * Shape::share;  // of this block's part of B
    const int j = column * Shape::columns + first;
    for (int k = 0; k < p.k; k += Shape::depth, at.next()) {
      mbarrier_wait(slots.empty(at.slot), at.parity);
      const std::uint32_t full = slots.full(at.slot);
      mbarrier_expect_tx(full, Shape::slot_bytes);
      if constexpr (Shape::a_major == major::k) {
        load_box(slots.a(at.slot), a_map, full, k, i);
      } else {
#pragma unroll
        for (int part = 0; part < Shape::rows; part += Shape::chunk) {
          load_box(slots.a(at.slot) + part * 128, a_map, full, i + part, k);
        }
      }
#pragma unroll
      for (int part = 0; part < Shape::share; part += Shape::b_major == major::k ? Shape::share : Shape::chunk) {
        const std::uint32_t to = slots.b(at.slot) + (first + part) * 128;
        const int x = Shape::b_major == major::k ? k : j + part;
        const int y = Shape::b_major == major::k ? j + part : k;
        if constexpr (Shape::cluster == 1) {
          load_box(to, b_map, full, x, y);
        } else {
          load_box(to, b_map, full, x, y, everyone);
        }
      }
    }
  }
}

// One slot's contribution: 64 rows from `a` on.
template <class Shape>
__device__ __forceinline__ void multiply(float (&d)[accumulators], std::uint32_t a, std::uint32_t b, int accumulate) {
  constexpr std::uint32_t a_step = Shape::a_major == major::k ? wgmma_depth_bytes : 16 * 128;
  constexpr std::uint32_t b_step = Shape::b_major == major::k ? wgmma_depth_bytes : 16 * 128;
  const std::uint64_t a_tile = descriptor<Shape::a_major>(a, Shape::chunk_bytes);
  const std::uint64_t b_tile = descriptor<Shape::b_major>(b, Shape::chunk_bytes);
#pragma unroll
  for (int step = 0; step < 128 / wgmma_depth_bytes; ++step) {
    const std::uint64_t a_at = a_tile + (step * a_step >> 4);
    const std::uint64_t b_at = b_tile + (step * b_step >> 4);
    if constexpr (Shape::inputs == precision::bf16) {
      wgmma_bf16<Shape::a_major, Shape::b_major>(d, a_at, b_at, step == 0 ? accumulate : 1);
    } else {
      wgmma_tf32(d, a_at, b_at, step == 0 ? accumulate : 1);
    }
  }
}

// alpha * sum + beta * c; `Reads`: beta is not 0.
template <bool Reads>
__device__ __forceinline__ float combined(const product& p, float sum, const float* c) {
  return Reads ? fmaf(p.alpha, sum, p.beta * *c) : p.alpha * sum;
}

// Columns j and j + 1 of row i, where they exist.
template <bool Reads>
__device__ __forceinline__ void store_guarded(const product& p, std::int64_t i, int j, float left, float right) {
  if (i >= p.m) return;
  float* c = p.c + i * p.c_stride + j;
  if (j < p.n) c[0] = combined<Reads>(p, left, c);
  if (j + 1 < p.n) c[1] = combined<Reads>(p, right, c + 1);
}

// The same inside of C, 8-byte aligned.
template <bool Reads>
__device__ __forceinline__ void store_pair(const product& p, float* c, float left, float right) {
  float2 before{};
  if (Reads) before = *reinterpret_cast<const float2*>(c);
  *reinterpret_cast<float2*>(c) = {combined<Reads>(p, left, &before.x), combined<Reads>(p, right, &before.y)};
}

// A warpgroup's 64 x 256 sums, the first for C(i, j): 4 lanes hold 8 neighbours of a row, 32 bytes of one sector.
template <bool Reads>
__device__ __forceinline__ void store(const product& p, const float (&d)[accumulators], std::int64_t i, int j) {
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const std::int64_t row = i + thread / 32 * 16 + thread % 32 / 4;
  const int column = j + thread % 4 * 2;
  const bool aligned = p.c_stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(p.c) % sizeof(float2) == 0;
  if (aligned && i + wgmma_rows <= p.m && j + wgmma_columns <= p.n) {
    float* upper = p.c + row * p.c_stride + column;
    float* lower = upper + 8 * p.c_stride;
#pragma unroll
    for (int part = 0; part < wgmma_columns / 8; ++part) {
      store_pair<Reads>(p, upper + part * 8, d[part * 4], d[part * 4 + 1]);
      store_pair<Reads>(p, lower + part * 8, d[part * 4 + 2], d[part * 4 + 3]);
    }
  } else {
#pragma unroll
    for (int part = 0; part < wgmma_columns / 8; ++part) {
      store_guarded<Reads>(p, row, column + part * 8, d[part * 4], d[part * 4 + 1]);
      store_guarded<Reads>(p, row + 8, column + part * 8, d[part * 4 + 2], d[part * 4 + 3]);
    }
  }
}

// One warpgroup: rows `group * 64` to `group * 64 + 63` of every tile of this block.
template <class Shape>
__device__ __forceinline__ void consume(const product& p, ring<Shape> slots, std::uint32_t rank, int group) {
  const tiling<Shape> tiles(p);
  const int steps = (p.k - 1) / Shape::depth + 1;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const auto release = [&](int slot) {
    if (thread < Shape::cluster) mbarrier_arrive_at(slots.empty(slot), static_cast<std::uint32_t>(thread));
  };
  ring_slot<Shape> at;
  for (std::int64_t tile = blockIdx.x / Shape::cluster; tile < tiles.size(); tile += gridDim.x / Shape::cluster) {
    float d[accumulators];
    int previous = 0;
    for (int step = 0; step < steps; ++step, at.next()) {
      mbarrier_wait(slots.full(at.slot), at.parity);
      warpgroup_arrive();
      multiply<Shape>(d, slots.a(at.slot) + group * wgmma_rows * 128, slots.b(at.slot), step != 0);
      warpgroup_commit();
      warpgroup_wait<1>();
      if (step != 0) release(previous);
      previous = at.slot;
    }
    warpgroup_wait<0>();
    release(previous);
    int row = 0;
    int column = 0;
    tiles.locate(tile, row, column);
    const std::int64_t i = (std::int64_t{row} * Shape::cluster + rank) * Shape::rows + group * wgmma_rows;
    if (p.beta == 0) {
      store<false>(p, d, i, column * Shape::columns);
    } else {
      store<true>(p, d, i, column * Shape::columns);
    }
  }
}

// m, n, k > 0. Grid: a multiple of the cluster size, at most what is resident at once.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    multiply_kernel(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                    const __grid_constant__ product p) {
  extern __shared__ std::uint8_t memory[];
  const ring<Shape> slots{(shared_address(memory) + 1023U) & ~1023U};
  const std::uint32_t rank = Shape::cluster == 1 ? 0 : cluster_rank();
  const int warpgroup = __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 128, 0);
  if (threadIdx.x == 0) {
    prefetch_map(a_map);
    prefetch_map(b_map);
    for (int slot = 0; slot < Shape::stages; ++slot) {
      mbarrier_init(slots.full(slot), 1);
      mbarrier_init(slots.empty(slot), 2 * Shape::cluster);
    }
    mbarrier_init_fence();
  }
  cluster_synchronize();
  if (warpgroup == 0) {
    give_registers<40>();
    if (threadIdx.x == 0) produce<Shape>(a_map, b_map, p, slots, rank);
  } else {
    take_registers<232>();
    consume<Shape>(p, slots, rank, warpgroup - 1);
  }
  __syncwarp();
  cluster_synchronize();  // no block ends while another may still write into it or arrive at its barriers
}

}  // namespace spargo::detail::matmul::tensor

// Block Jacobi on a device: the inverses of the diagonal blocks, dense, by columns.
//
// Built there: a thread block inverts one diagonal block after the other as the host does (block_jacobi.cpp), in fp64,
// in shared memory or, where a block is too large for it, in scratch memory. Applied with a thread per row:
// neighbouring threads read neighbouring elements of a column of their block, so that all inverses are read once,
// coalesced, and n * block_size values are the traffic.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "primitives/element.hpp"
#include "solvers/krylov/passes.cuh"
#include "solvers/krylov/sums.cuh"
#include "solvers/preconditioners/preconditioner.hpp"
#include "sparse/algebra/magnitude.hpp"
#include "sparse/device.cuh"

#include <memory>

namespace spargo::detail::krylov {

namespace {

struct inversion_tuning {
  static constexpr int threads = 256;
  static constexpr std::int64_t shared_bytes = std::int64_t{40} << 10;  // of a block; the rest of 48 KiB is a column's
};

__device__ inline bool is_positive(double a) { return a > 0; }
__device__ inline bool is_positive(device_complex<double> a) { return a.re > 0 && fabs(a.im) <= 1e-8 * a.re; }
template <class D>
__device__ sum_on_device<D> in_double(D a) {
  if constexpr (std::is_floating_point_v<D>) {
    return static_cast<double>(a);
  } else {
    return {static_cast<double>(a.re), static_cast<double>(a.im)};
  }
}

// What the threads of a block share while they invert.
template <class S>
struct inversion_memory {
  S column[most_block_size];  // of the pivot
  S pivot;
  int from[most_block_size];  // the row that came to row k
};

// The row of the largest element in column k from row k on, of equal ones the first. By a warp.
template <class S>
__device__ int largest_row(const S* a, int size, int k) {
  double best = -1;
  int row = k;
  for (int i = k + lane_id(); i < size; i += warp_size) {
    const double here = algebra::magnitude(a[i * size + k]);
    if (here > best) {
      best = here;
      row = i;
    }
  }
#pragma unroll
  for (int step = warp_size / 2; step > 0; step /= 2) {
    const double other = shuffle_xor(best, step);
    const int other_row = shuffle_xor(row, step);
    if (other > best || (other == best && other_row < row)) {
      best = other;
      row = other_row;
    }
  }
  return row;
}

// As the host's: Gauss-Jordan elimination of a, stored by rows. By a block, whose writes to a it has synchronised; all
// threads get the answer.
template <class S>
__device__ bool invert_by_block(S* a, int size, bool needs_definite, inversion_memory<S>& shared) {
  const auto thread = static_cast<int>(threadIdx.x);
  constexpr int threads = inversion_tuning::threads;
  for (int k = thread; k < size; k += threads) shared.from[k] = k;
  __syncthreads();
  for (int k = 0; k < size; ++k) {
    if (thread < warp_size) {
      const int row = needs_definite ? k : largest_row(a, size, k);
      if (thread == 0) {
        shared.from[k] = row;
        shared.pivot = a[row * size + k];
      }
    }
    __syncthreads();
    const S pivot = shared.pivot;
    const int row = shared.from[k];
    if (pivot == S{} || !isfinite(algebra::magnitude(pivot)) || (needs_definite && !is_positive(pivot))) return false;
    for (int j = thread; j < size; j += threads) {
      const S upper = a[row * size + j];
      if (row != k) a[row * size + j] = a[k * size + j];
      a[k * size + j] = (j == k ? S{1} : upper) / pivot;
    }
    __syncthreads();
    for (int i = thread; i < size; i += threads) shared.column[i] = a[i * size + k];
    __syncthreads();
    for (int e = thread; e < size * size; e += threads) {
      const int i = e / size;
      const int j = e % size;
      if (i != k) a[e] = (j == k ? S{} : a[e]) - shared.column[i] * a[k * size + j];
    }
    __syncthreads();
  }
  // The swaps of rows, as swaps of the inverse's columns.
  for (int i = thread; i < size; i += threads) {
    for (int k = size - 1; k >= 0; --k) {
      const int other = shared.from[k];
      const S kept = a[i * size + k];
      a[i * size + k] = a[i * size + other];
      a[i * size + other] = kept;
    }
  }
  __syncthreads();
  return true;
}

// The block's rows of a matrix, by a warp each; duplicates are added in the order of the row.
template <class S, class D, class I, class O>
__device__ void gather_block(const O* offsets, const I* indices, const D* values, const power<real_part_t<D>>& factor,
                             std::int64_t first, int size, S* a) {
  constexpr int warps = inversion_tuning::threads / warp_size;
  for (int i = static_cast<int>(threadIdx.x) / warp_size; i < size; i += warps) {
    const std::int64_t last = offsets[first + i + 1];
    for (std::int64_t base = offsets[first + i]; base < last; base += warp_size) {
      const std::int64_t e = base + lane_id();
      const std::int64_t col = e < last ? static_cast<std::int64_t>(indices[e]) - first : -1;
      const bool is_inside = col >= 0 && col < size;
      const S mine = is_inside ? in_double(factor(values[e])) : S{};
      for (unsigned left = __ballot_sync(full_mask, is_inside); left != 0; left &= left - 1) {
        if (lane_id() == __ffs(static_cast<int>(left)) - 1) a[i * size + col] = a[i * size + col] + mine;
        __syncwarp();
      }
    }
  }
}

// scratch: for each thread block of the grid; null: in shared memory.
template <class D, class I, class O>
__global__ void __launch_bounds__(inversion_tuning::threads)
    invert_blocks_kernel(const O* offsets, const I* indices, const D* values, std::int64_t n, std::int64_t most,
                         power<real_part_t<D>> factor, bool needs_definite, sum_on_device<D>* scratch, D* inverses,
                         count64* bad) {
  using S = sum_on_device<D>;
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  __shared__ inversion_memory<S> shared;
  S* const a = scratch != nullptr ? scratch + blockIdx.x * most * most : reinterpret_cast<S*>(dynamic_memory);
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t blocks = (n + most - 1) / most;
  for (std::int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const std::int64_t first = block * most;
    const auto size = static_cast<int>(n - first < most ? n - first : most);
    __syncthreads();  // the block before is written
    for (int e = thread; e < size * size; e += inversion_tuning::threads) a[e] = S{};
    __syncthreads();
    gather_block(offsets, indices, values, factor, first, size, a);
    __syncthreads();
    if (!invert_by_block(a, size, needs_definite, shared)) {
      if (thread == 0) atomicMin(bad, static_cast<count64>(block));
      continue;
    }
    for (int e = thread; e < size * size; e += inversion_tuning::threads) {
      inverses[first * most + e] = narrowed<D>(a[e % size * size + e / size]);
    }
  }
}

template <class D>
__global__ void __launch_bounds__(block_threads)
    apply_blocks_kernel(const D* inverses, std::int64_t n, std::int64_t most, const D* r, D* z, const int* active) {
  if (*active == 0) return;
  for (std::int64_t row = global_thread(); row < n; row += grid_threads()) {
    const std::int64_t first = row / most * most;
    const auto size = static_cast<int>(n - first < most ? n - first : most);
    const D* const own = inverses + first * most + (row - first);
    D sum{};
#pragma unroll 8
    for (int j = 0; j < size; ++j) sum = multiply_add(read_once(own + j * size), r[first + j], sum);
    z[row] = sum;
  }
}

}  // namespace

template <class V, class I, class O>
built_preconditioner<V, device> block_jacobi(const context<device>& ctx, const csr_view<const V, I, O, device>& m,
                                             const preconditioner_request& wanted, const int* active) {
  using D = device_value_t<V>;
  using S = sum_on_device<D>;
  const std::int64_t n = m.rows;
  const std::int64_t most = std::max<std::int64_t>(1, std::min(wanted.block_size, n));
  auto inverses = std::make_shared<array<V, device>>(ctx, static_cast<std::int64_t>(checked_bytes(n, 1)) * most);
  if (n > 0) {
    const device_guard guard(ctx);
    const std::int64_t bytes = most * most * static_cast<std::int64_t>(sizeof(S));
    const bool is_shared = bytes <= inversion_tuning::shared_bytes;
    const std::int64_t room = is_shared ? std::int64_t{8} * ctx.properties().multiprocessors
                                        : std::max<std::int64_t>(1, inversion_scratch_bytes / bytes);
    const std::int64_t blocks = std::min(div_up(n, most), room);
    array<S, device> scratch(ctx, is_shared ? 0 : blocks * most * most);
    array<count64, device> bad(ctx, 1);
    fill_bytes(ctx, bad.data(), 0xff, sizeof(count64));
    launch_kernel(ctx, {blocks, inversion_tuning::threads, static_cast<std::size_t>(is_shared ? bytes : 0)},
                  invert_blocks_kernel<D, I, O>, m.offsets.data(), m.indices.data(), device_cast(m.values.data()), n,
                  most, power<real_of<V>>(-wanted.exponent), wanted.needs_definite,
                  is_shared ? nullptr : scratch.data(), device_cast(inverses->data()), bad.data());
    const count64 first = element<count64>(ctx, std::as_const(bad).view(), 0);
    if (first != ~count64{0}) {
      const std::int64_t row = static_cast<std::int64_t>(first) * most;
      refuse_block(row, std::min(row + most, n), wanted.needs_definite);
    }
  }
  const std::int64_t bytes_kept = inverses->size() * static_cast<std::int64_t>(sizeof(V));
  return {{n,
           [ctx, inverses, n, most, active](span<const V, device> r, span<V, device> z) {
             if (n == 0) return;
             launch_kernel(ctx, grid_stride(ctx, n), apply_blocks_kernel<D>,
                           device_cast(std::as_const(*inverses).data()), n, most, device_cast(r.data()),
                           device_cast(z.data()), active);
           }},
          bytes_kept};
}

#define INSTANTIATE(V, I, O)                             \
  template built_preconditioner<V, device> block_jacobi( \
      const context<device>&, const csr_view<const V, I, O, device>&, const preconditioner_request&, const int*);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov

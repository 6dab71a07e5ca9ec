// Conjugate gradients in one kernel, for systems that fit the shared memory of a cluster (compute capability 9.0).
//
// Idea: each block of one cluster keeps its rows of the matrix and its part of x, r, q and p in shared memory. An
// iteration has three barriers of the cluster: p is in global memory for the other blocks' products; p'q and r'z are
// sums of one number per block, which each block writes to all others. Every thread computes alpha and beta itself,
// from the same numbers in the same order. Cost of an iteration: the barriers' latency.
#include "core/bytes_of.hpp"
#include "core/device/cluster.cuh"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "solvers/krylov/passes.cuh"
#include "solvers/krylov/small_system.hpp"

#include <spargo/core/device_features.cuh>

#include <algorithm>

namespace spargo::detail::krylov {

namespace {

struct small_tuning {
  static constexpr int threads = 1024;
  static constexpr std::int64_t most_rows = std::int64_t{1} << 16;
  static constexpr std::int64_t longest_row = 128;  // one thread sums it
  static constexpr int in_flight = 4;               // gathers of p per thread
};

template <class D>
struct small_arguments {
  const std::int32_t* offsets;
  const std::int32_t* indices;
  const D* values;
  D* x;
  D* r;
  D* p;
  const D* inverse;
  device_state* state;
  int first_rows[small_system<float>::most_blocks + 1];
};

// Of one block.
[[nodiscard]] std::size_t shared_bytes_of(std::int64_t rows, std::int64_t entries, std::size_t value_bytes) {
  const auto r = static_cast<std::size_t>(rows);
  const auto e = static_cast<std::size_t>(entries);
  return (e + 5 * r) * value_bytes + e * sizeof(std::int32_t) + (r + 1) * sizeof(std::int32_t);
}

template <class D>
__device__ D load_shared_vector(const D* p) {
  if constexpr (std::is_floating_point_v<D>) {
    return __ldcg(p);
  } else {
    return {__ldcg(&p->re), __ldcg(&p->im)};
  }
}

// A block's rows in shared memory.
template <class D>
struct block_rows {
  D* values;
  D* x;
  D* r;
  D* p;
  D* q;
  D* inverse;
  std::int32_t* indices;
  std::int32_t* offsets;  // from 0
  int rows;

  __device__ block_rows(unsigned char* raw, int row_count, int entries) : rows(row_count) {
    values = reinterpret_cast<D*>(raw);
    x = values + entries;
    r = x + rows;
    p = r + rows;
    q = p + rows;
    inverse = q + rows;
    indices = reinterpret_cast<std::int32_t*>(inverse + rows);
    offsets = indices + entries;
  }

  __device__ D row_sum(int row, const D* all_p) const {
    D sum{};
    const std::int32_t last = offsets[row + 1];
    for (std::int32_t e = offsets[row]; e < last; e += small_tuning::in_flight) {
      D of_p[small_tuning::in_flight];
#pragma unroll
      for (int u = 0; u < small_tuning::in_flight; ++u) {
        of_p[u] = e + u < last ? load_shared_vector(all_p + indices[e + u]) : D{};
      }
#pragma unroll
      for (int u = 0; u < small_tuning::in_flight; ++u) {
        if (e + u < last) sum = multiply_add(values[e + u], of_p[u], sum);
      }
    }
    return sum;
  }
};

struct cluster_memory {
  sums<2> of_warps[small_tuning::threads / warp_size];
  sums<2> of_blocks[2][small_system<float>::most_blocks];  // calls alternate
};

// The sum over the cluster, in every thread; a barrier of the cluster.
__device__ inline sums<2> cluster_sum(const block_cluster& cluster, sums<2> mine, cluster_memory& memory, int call) {
  mine = block_reduce_tree(mine, memory.of_warps, add_sums{}, sums<2>{});
  const int blocks = cluster.blocks();
  if (threadIdx.x < warp_size) {
    mine = shuffle(mine, 0);
    sums<2>* const here = &memory.of_blocks[call & 1][cluster.rank()];
    if (static_cast<int>(threadIdx.x) < blocks) *cluster.at(here, static_cast<int>(threadIdx.x)) = mine;
  }
  cluster.sync();
  sums<2> all = memory.of_blocks[call & 1][0];
  for (int b = 1; b < blocks; ++b) all = add_sums{}(all, memory.of_blocks[call & 1][b]);
  return all;
}

// As in curvature_pass; the halt is the same in all threads.
struct small_numbers {
  double rho;
  double failed;
  halt stop;

  __device__ double alpha(double curvature) {
    const double quotient = rho / curvature;
    failed = curvature;
    if (!isfinite(curvature)) {
      stop = halt::curvature_not_finite;
    } else if (!(curvature > 0)) {
      stop = halt::curvature_not_positive;
    } else if (!(rho > 0)) {
      failed = rho;
      stop = halt::product_not_positive;
    } else if (!isfinite(quotient)) {
      stop = halt::residual_not_finite;
    }
    return quotient;
  }
};

template <class D>
__global__ void __launch_bounds__(small_tuning::threads, 1) small_cg_kernel(small_arguments<D> a, int iterations) {
  using R = real_part_t<D>;
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ cluster_memory memory;
  const block_cluster cluster;
  const int thread = static_cast<int>(threadIdx.x);
  const bool writes = cluster.rank() == 0 && thread == 0;
  const int first = a.first_rows[cluster.rank()];
  const int rows = a.first_rows[cluster.rank() + 1] - first;
  const std::int32_t begin = a.offsets[first];
  const int entries = a.offsets[first + rows] - begin;
  const block_rows<D> own(raw, rows, entries);
  run_state& state = a.state->run;
  if (state.stop != halt::none) return;  // all blocks see it: it is written when all have ended
  for (int e = thread; e < entries; e += small_tuning::threads) {
    own.values[e] = a.values[begin + e];
    own.indices[e] = a.indices[begin + e];
  }
  for (int i = thread; i <= rows; i += small_tuning::threads) own.offsets[i] = a.offsets[first + i] - begin;
  for (int i = thread; i < rows; i += small_tuning::threads) {
    own.x[i] = a.x[first + i];
    own.r[i] = a.r[first + i];
    own.p[i] = a.p[first + i];
    if (a.inverse != nullptr) own.inverse[i] = a.inverse[first + i];
  }
  small_numbers s{state.rho, 0, halt::none};
  const double wanted = state.wanted;
  const std::int64_t most = state.most;
  std::int64_t done = state.done;
  double residual = state.residual;
  cluster.sync();  // all blocks have started
  for (int k = 0; k < iterations && s.stop == halt::none; ++k) {
    if (k > 0) {  // a.p is up to date at the start
      for (int i = thread; i < rows; i += small_tuning::threads) a.p[first + i] = own.p[i];
      cluster.sync();
    }
    sums<2> mine{};
    for (int i = thread; i < rows; i += small_tuning::threads) {
      const D q = own.row_sum(i, a.p);
      own.q[i] = q;
      mine.v[0] += dot_term(own.p[i], q);
    }
    const double quotient = s.alpha(cluster_sum(cluster, mine, memory, 2 * k).v[0]);
    if (s.stop != halt::none) break;
    const R alpha = static_cast<R>(quotient);
    mine = {};
    for (int i = thread; i < rows; i += small_tuning::threads) {
      own.x[i] = add_scaled(alpha, own.p[i], own.x[i]);
      const D r = add_scaled(-alpha, own.q[i], own.r[i]);
      const D z = a.inverse == nullptr ? r : own.inverse[i] * r;
      own.r[i] = r;
      mine.v[0] += dot_term(r, r);
      mine.v[1] += dot_term(r, z);
    }
    const sums<2> all = cluster_sum(cluster, mine, memory, 2 * k + 1);
    const R beta = static_cast<R>(all.v[1] / s.rho);
    s.rho = all.v[1];
    residual = sqrt(all.v[0]);
    if (writes) a.state->history[done % device_tuning::ring] = residual;
    ++done;
    if (!isfinite(residual)) {
      s.stop = halt::residual_not_finite;
    } else if (!(residual > wanted) || done >= most) {
      s.stop = halt::finished;
    }
    for (int i = thread; i < rows; i += small_tuning::threads) {
      const D z = a.inverse == nullptr ? own.r[i] : own.inverse[i] * own.r[i];
      own.p[i] = add_scaled(beta, own.p[i], z);
    }
  }
  for (int i = thread; i < rows; i += small_tuning::threads) {
    a.x[first + i] = own.x[i];
    a.r[first + i] = own.r[i];
    a.p[first + i] = own.p[i];
  }
  cluster.sync();  // no block ends while others write to its memory
  if (!writes) return;
  state.rho = s.rho;
  state.failed = s.failed;
  state.residual = residual;
  state.done = done;
  state.stop = s.stop;
}

// Rows of each block, about equal in rows and entries.
[[nodiscard]] std::array<int, 17> split_rows(span<const std::int64_t, host> offsets, int blocks) {
  const std::int64_t rows = offsets.size() - 1;
  std::array<int, 17> first{};
  std::int64_t row = 0;
  for (int b = 1; b <= blocks; ++b) {
    const std::int64_t until = (rows + offsets[rows]) * b / blocks;
    while (row < rows && row + offsets[row] < until) ++row;
    first[static_cast<std::size_t>(b)] = static_cast<int>(row);
  }
  for (int b = blocks; b <= 16; ++b) first[static_cast<std::size_t>(b)] = static_cast<int>(rows);
  return first;
}

template <class D>
[[nodiscard]] cudaLaunchConfig_t shape_of(const context<device>& ctx, int blocks, std::size_t shared_bytes,
                                          cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(small_tuning::threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = ctx.stream();
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

// Whether the device can place such a cluster.
template <class D>
[[nodiscard]] bool has_room(const context<device>& ctx, int blocks, std::size_t shared_bytes) {
  const auto kernel = &small_cg_kernel<D>;
  allow_shared(kernel, shared_bytes);
  if (blocks > 8) SPARGO_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = shape_of<D>(ctx, blocks, shared_bytes, attribute);
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess) return clusters > 0;
  (void)cudaGetLastError();  // no clusters of this size on this chip
  return false;
}

}  // namespace

template <class V>
small_system<V>::small_system(array<std::int32_t, device> offsets, array<std::int32_t, device> indices,
                              array<V, device> values, int blocks, const std::array<int, most_blocks + 1>& first_rows,
                              std::size_t shared_bytes)
    : offsets_(std::move(offsets)),
      indices_(std::move(indices)),
      values_(std::move(values)),
      blocks_(blocks),
      first_rows_(first_rows),
      shared_bytes_(shared_bytes) {}

template <class V>
void small_system<V>::enqueue(const context<device>& ctx, const vectors& of, int iterations,
                              device_state* state) const {
  using D = device_value_t<V>;
  small_arguments<D> a{offsets_.data(),
                       indices_.data(),
                       device_cast(values_.data()),
                       device_cast(of.x),
                       device_cast(of.r),
                       device_cast(of.p),
                       device_cast(of.inverse),
                       state,
                       {}};
  std::copy(first_rows_.begin(), first_rows_.end(), a.first_rows);
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = shape_of<D>(ctx, blocks_, shared_bytes_, attribute);
  SPARGO_CUDA_TRY(cudaLaunchKernelEx(&config, &small_cg_kernel<D>, a, iterations));
}

template <class V>
std::int64_t small_system<V>::bytes() const noexcept {
  return bytes_of(offsets_, indices_, values_);
}

template <class V, class I, class O>
std::shared_ptr<small_system<V>> make_small(const system<V, device>& of, const csr_view<const V, I, O, device>& m) {
  using D = device_value_t<V>;
  const context<device>& ctx = of.ctx;
  const std::int64_t rows = m.rows;
  if (rows == 0 || rows > small_tuning::most_rows || m.nnz() == 0 || m.nnz() > rows * small_tuning::longest_row ||
      ctx.properties().code_capability < hopper_capability) {
    return nullptr;
  }
  const array<O, host> offsets = to_host(ctx, m.offsets);
  array<std::int64_t, host> wide(context<host>(), rows + 1);
  for (std::int64_t r = 0; r <= rows; ++r) {
    wide[r] = offsets[r];
    if (r > 0 && wide[r] - wide[r - 1] > small_tuning::longest_row) return nullptr;
  }
  const device_guard guard(ctx);
  const auto limit = static_cast<std::size_t>(ctx.properties().shared_memory_per_block) - sizeof(cluster_memory);
  int blocks = 1;
  while (blocks < small_system<V>::most_blocks && std::int64_t{blocks} * small_tuning::threads < rows) blocks *= 2;
  for (; blocks <= small_system<V>::most_blocks; blocks *= 2) {
    const auto first = split_rows(std::as_const(wide).view(), blocks);
    std::size_t most = 0;
    for (std::size_t b = 0; b < static_cast<std::size_t>(blocks); ++b) {
      most = std::max(most, shared_bytes_of(first[b + 1] - first[b], wide[first[b + 1]] - wide[first[b]], sizeof(V)));
    }
    if (most > limit || !has_room<D>(ctx, blocks, most)) continue;
    array<std::int32_t, device> short_offsets(ctx, rows + 1);
    array<std::int32_t, device> short_indices(ctx, m.nnz());
    array<V, device> values(ctx, m.nnz());
    for_each(ctx, rows + 1, [from = m.offsets.data(), to = short_offsets.data()] __device__(std::int64_t k) {
      to[k] = static_cast<std::int32_t>(from[k]);
    });
    for_each(ctx, m.nnz(), [from = m.indices.data(), to = short_indices.data()] __device__(std::int64_t k) {
      to[k] = static_cast<std::int32_t>(from[k]);
    });
    const power<real_of<V>> factor(-of.exponent);
    for_each(ctx, m.nnz(),
             [from = device_cast(m.values.data()), to = device_cast(values.data()), factor] __device__(std::int64_t k) {
               to[k] = factor(from[k]);
             });
    return std::make_shared<small_system<V>>(std::move(short_offsets), std::move(short_indices), std::move(values),
                                             blocks, first, most);
  }
  return nullptr;
}

#define INSTANTIATE(V) template class small_system<V>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I, O)                                                     \
  template std::shared_ptr<small_system<V>> make_small(const system<V, device>&, \
                                                       const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov

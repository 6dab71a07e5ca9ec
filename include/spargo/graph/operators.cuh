// Device operators, for code compiled by nvcc: `advance`, `filter`, `split` and `assign` with the names and arguments
// of <spargo/graph/operators.hpp>. Functors are structs with a __device__ call operator, or lambdas marked __device__
// (nvcc --extended-lambda); they are copied to the device, so they capture pointers and values.
//
// Everything here is asynchronous on the context's stream, allocates nothing and may be captured into a CUDA graph;
// only `size_of` synchronizes. An operator on an empty frontier costs its launches (4 to 6 us), so a loop may run
// several levels between checks of the size.
//
// Idea: an advance takes two kernels. In the first, a warp takes up to 32 vertices, packs their edges by a prefix sum
// of degrees and distributes them over its lanes; vertices with more edges than a chunk are deferred as chunks, which
// the warps of the second kernel share evenly. The list of chunks has room for any frontier without duplicates; a warp
// that finds it full expands its vertex alone. Warps stage the output in shared memory and append at least 32 vertices
// with one atomic. Invariant: between operators a frontier's `joining` and `blocks_done`, the workspace's chunk count
// and its bitmap are zero; the block that finishes last resets them and publishes the size, so no size passes through
// the host. Cost: O(vertices and edges of the frontier) work. Sources: Merrill, Garland, Grimshaw, PPoPP 2012; Wang et
// al., "Gunrock", PPoPP 2016.
#pragma once

#include <spargo/core/device_features.cuh>
#include <spargo/graph/frontier/expansion.cuh>
#include <spargo/graph/operators.hpp>

#include <cuda_runtime.h>

#include <spargo/core/macros_push.hpp>

namespace spargo {

namespace detail {

struct operators_cuda_tuning {
  static constexpr int block = 256;
  static constexpr int warp = 32;
  static constexpr int warps = block / warp;
  // Blocks per SM: as many as fit with the 48 registers per thread that `unroll` needs. Small frontiers benefit from
  // few blocks: a level of a 512 x 512 grid takes 6.9 us on an H200 with 5, 7.2 with 8.
  static constexpr int resident = 5;
  static constexpr int kernel_blocks = resident_blocks(resident, block);  // for the architecture being compiled
  // Edges per chunk; vertices with more are split. A push-only search of R-MAT 22, ms: 1.55 with 256, 1.60 with 512,
  // 1.84 with 1024; the list of chunks of 512 is half as long as that of 256.
  static constexpr int chunk = 512;
  // Batches of 32 edges whose targets a warp loads before it visits the first. A search of R-MAT 21, ms: 0.85 with 4
  // and `resident` 5, 0.88 with 8 and 4, 0.89 with 4 and 8.
  static constexpr int unroll = 4;
};

}  // namespace detail

template <index_type I, index_type O>
class advance_workspace<I, O, device> {
 public:
  // 8 bytes (16 for 64-bit indices) per 256 edges, one bit per vertex. Asynchronous.
  advance_workspace(const context<device>& ctx, const graph_view<I, O, device>& g)
      : vertices_(g.vertices()),
        edges_(g.out.nnz()),
        chunks_(ctx, 2 * (edges_ / detail::operators_cuda_tuning::chunk)),
        chunk_count_(ctx, 1),
        joined_(ctx, div_up<std::int64_t>(vertices_, 32)) {
    fill_zero(ctx, chunk_count_.view());
    fill_zero(ctx, joined_.view());
  }

  [[nodiscard]] std::int64_t vertices() const noexcept { return vertices_; }
  [[nodiscard]] std::int64_t edges() const noexcept { return edges_; }

  // For the operators.
  [[nodiscard]] span<detail::edge_chunk<I>, device> chunks() noexcept { return chunks_.view(); }
  [[nodiscard]] unsigned long long* chunk_count() noexcept { return chunk_count_.data(); }
  [[nodiscard]] unsigned* joined() noexcept { return joined_.data(); }

 private:
  std::int64_t vertices_;
  std::int64_t edges_;
  array<detail::edge_chunk<I>, device> chunks_;
  array<unsigned long long, device> chunk_count_;
  array<unsigned, device> joined_;
};

namespace detail {

inline void check_operator(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return;
  throw error(error_code::device_failure, std::string(operation) + ": " + cudaGetErrorString(status));
}

// The size is on the device: as many blocks as can be resident, but no more than a full frontier needs.
inline unsigned operator_blocks(const context<device>& ctx, std::int64_t capacity) {
  using tuning = operators_cuda_tuning;
  const std::int64_t resident = std::int64_t{ctx.properties().multiprocessors} * tuning::resident;
  return static_cast<unsigned>(std::clamp<std::int64_t>(div_up<std::int64_t>(capacity, tuning::warps), 1, resident));
}

using operator_count = unsigned long long;

// An operator's input; its size is at most its capacity, even after an overflow.
template <class I>
struct frontier_source {
  const I* slots;
  const frontier_state* state;
  std::int64_t capacity;

  [[nodiscard]] __device__ std::int64_t size() const {
    const auto size = static_cast<std::int64_t>(state->size);
    return size < capacity ? size : capacity;
  }
};

// An operator's output.
template <class I>
struct frontier_target {
  I* slots;
  frontier_state* state;
  std::int64_t capacity;
  unsigned* joined;  // bitmap of the vertices that joined; null: vertices may join repeatedly

  [[nodiscard]] __device__ operator_count* joining() const {
    return reinterpret_cast<operator_count*>(&state->joining);
  }
  [[nodiscard]] __device__ bool admits(I v) const {
    if (joined == nullptr) return true;
    return claim_bit(joined, v);
  }
};

template <class I>
frontier_source<I> source_of(const frontier<I, device>& f) {
  return {f.slots().data(), f.state().data(), f.capacity()};
}
template <class I>
frontier_target<I> target_of(frontier<I, device>& f, unsigned* joined) {
  return {f.slots().data(), f.state().data(), f.capacity(), joined};
}

// A warp's output buffer: up to 63 vertices wait in shared memory and are flushed once there are 32.
template <class I>
class warp_output {
 public:
  static constexpr int slots = 2 * operators_cuda_tuning::warp;

  __device__ warp_output(I* waiting, const frontier_target<I>& to, int lane)
      : waiting_{waiting}, to_(to), lane_(lane) {}

  // All lanes of the warp call it.
  __device__ void append(bool joins, I v) {
    const unsigned lanes = __ballot_sync(0xffffffffU, joins);
    if (lanes == 0) return;
    waiting_.add(lanes, joins, v, lane_);
    if (waiting_.count >= operators_cuda_tuning::warp) flush();
  }
  __device__ void flush() {
    waiting_.flush(to_.joining(), lane_, [this](std::int64_t k, I v) {
      if (k < to_.capacity) to_.slots[k] = v;
    });
  }

 private:
  staged_items<I> waiting_;
  frontier_target<I> to_;
  int lane_;
};

// The last block of an operator's last kernel publishes the output's size and resets the counters.
template <class I>
__device__ void publish(const frontier_target<I>& to, operator_count* also_cleared) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  auto* const done = reinterpret_cast<operator_count*>(&to.state->blocks_done);
  if (atomicAdd(done, 1ULL) + 1 != gridDim.x) return;
  __threadfence();
  to.state->size = atomicExch(to.joining(), 0ULL);
  *done = 0;
  if (also_cleared != nullptr) *also_cleared = 0;
}

// Arguments of an advance.
template <class I, class O>
struct advance_work {
  const O* offsets;
  const I* indices;
  frontier_source<I> from;
  frontier_target<I> to;
  edge_chunk<I>* chunks;
  std::int64_t chunk_capacity;
  operator_count* chunk_count;
};

// Visits the edges of a warp's lanes: lane l has `degree` edges of `u` from `begin`; all lanes together have fewer than
// 2^31. Edge k of the concatenation belongs to the lane whose inclusive prefix sum is the first beyond k.
template <class I, class O, class Visit>
__device__ void visit_packed(const advance_work<I, O>& w, I u, O begin, int degree, const Visit& visit,
                             warp_output<I>& output, int lane) {
  using tuning = operators_cuda_tuning;
  int last = degree;
  for (int step = 1; step < tuning::warp; step *= 2) {
    const int before = __shfl_up_sync(0xffffffffU, last, step);
    if (lane >= step) last += before;
  }
  const packed_edges<O> packed(begin, degree, last);
  const int total = packed.total;
  for (int base = 0; base < total; base += tuning::warp * tuning::unroll) {
    I sources[tuning::unroll];
    I targets[tuning::unroll];
    O edges[tuning::unroll];
#pragma unroll
    for (int q = 0; q < tuning::unroll; ++q) {
      const int k = base + q * tuning::warp + lane;
      const int owner = packed.owner(k);
      sources[q] = __shfl_sync(0xffffffffU, u, owner);
      const O from = packed.first(owner);
      edges[q] = k < total ? from + static_cast<O>(k) : O{0};
      targets[q] = k < total ? __ldg(w.indices + edges[q]) : I{0};
    }
#pragma unroll
    for (int q = 0; q < tuning::unroll; ++q) {
      const int k = base + q * tuning::warp + lane;
      if (k - lane < total)  // uniform across the warp
        output.append(k < total && visit(sources[q], targets[q], edges[q]) && w.to.admits(targets[q]), targets[q]);
    }
  }
}

// All lanes visit edges [begin, end) of one vertex.
template <class I, class O, class Visit>
__device__ void visit_range(const advance_work<I, O>& w, I u, O begin, O end, const Visit& visit,
                            warp_output<I>& output, int lane) {
  using tuning = operators_cuda_tuning;
  for (std::int64_t base = begin; base < end;
       base += tuning::warp * tuning::unroll) {  // may exceed O's range at the end
    I targets[tuning::unroll];
#pragma unroll
    for (int q = 0; q < tuning::unroll; ++q) {
      const std::int64_t e = base + q * tuning::warp + lane;
      targets[q] = e < end ? __ldg(w.indices + e) : I{0};
    }
#pragma unroll
    for (int q = 0; q < tuning::unroll; ++q) {
      const std::int64_t e = base + q * tuning::warp + lane;
      output.append(e < end && visit(u, targets[q], static_cast<O>(e)) && w.to.admits(targets[q]), targets[q]);
    }
  }
}

// Defers the chunks of one vertex, all lanes together; chunks that do not fit the list are visited at once.
template <class I, class O, class Visit>
__device__ void defer_chunks(const advance_work<I, O>& w, I u, const Visit& visit, warp_output<I>& output, int lane) {
  constexpr int chunk = operators_cuda_tuning::chunk;
  const O begin = w.offsets[u];
  const O end = w.offsets[std::int64_t{u} + 1];
  const std::int64_t count = div_up<std::int64_t>(end - begin, chunk);
  operator_count first = 0;
  if (lane == 0) first = atomicAdd(w.chunk_count, static_cast<operator_count>(count));
  first = __shfl_sync(0xffffffffU, first, 0);
  const std::int64_t room = w.chunk_capacity - static_cast<std::int64_t>(first);
  const std::int64_t kept = room < 0 ? 0 : (room < count ? room : count);
  for (std::int64_t k = lane; k < kept; k += operators_cuda_tuning::warp) {
    w.chunks[static_cast<std::int64_t>(first) + k] = {u, static_cast<I>(k)};
  }
  if (kept < count) visit_range(w, u, begin + static_cast<O>(kept * chunk), end, visit, output, lane);
}

template <class I, class O, class Visit>
__global__ void __launch_bounds__(operators_cuda_tuning::block, operators_cuda_tuning::kernel_blocks)
    advance_vertices_kernel(advance_work<I, O> w, Visit visit) {
  using tuning = operators_cuda_tuning;
  __shared__ I waiting[tuning::warps][warp_output<I>::slots];
  const int lane = static_cast<int>(threadIdx.x) % tuning::warp;
  const int warp_in_block = static_cast<int>(threadIdx.x) / tuning::warp;
  const std::int64_t warps = std::int64_t{gridDim.x} * tuning::warps;
  const std::int64_t warp = std::int64_t{warp_in_block} * gridDim.x + blockIdx.x;  // small frontiers still use all SMs
  warp_output<I> output(waiting[warp_in_block], w.to, lane);
  const std::int64_t size = w.from.size();
  std::int64_t tile = (size + warps - 1) / warps;
  tile = tile < 1 ? 1 : (tile > tuning::warp ? tuning::warp : tile);
  for (std::int64_t t = warp * tile; t < size; t += warps * tile) {
    I u = 0;
    O begin = 0;
    O degree = 0;
    if (lane < tile && t + lane < size) {
      u = w.from.slots[t + lane];
      begin = w.offsets[u];
      degree = w.offsets[std::int64_t{u} + 1] - begin;
    }
    const bool large = degree > tuning::chunk;
    for (unsigned mask = __ballot_sync(0xffffffffU, large); mask != 0; mask &= mask - 1) {
      defer_chunks(w, __shfl_sync(0xffffffffU, u, __ffs(static_cast<int>(mask)) - 1), visit, output, lane);
    }
    visit_packed(w, u, begin, large ? 0 : static_cast<int>(degree), visit, output, lane);
  }
  output.flush();
}

template <class I, class O, class Visit>
__global__ void __launch_bounds__(operators_cuda_tuning::block, operators_cuda_tuning::kernel_blocks)
    advance_chunks_kernel(advance_work<I, O> w, Visit visit) {
  using tuning = operators_cuda_tuning;
  __shared__ I waiting[tuning::warps][warp_output<I>::slots];
  const int lane = static_cast<int>(threadIdx.x) % tuning::warp;
  const int warp_in_block = static_cast<int>(threadIdx.x) / tuning::warp;
  const std::int64_t warps = std::int64_t{gridDim.x} * tuning::warps;
  warp_output<I> output(waiting[warp_in_block], w.to, lane);
  auto count = static_cast<std::int64_t>(*w.chunk_count);
  count = count < w.chunk_capacity ? count : w.chunk_capacity;
  for (std::int64_t c = std::int64_t{warp_in_block} * gridDim.x + blockIdx.x; c < count; c += warps) {
    const edge_chunk<I> chunk = w.chunks[c];
    const O begin = chunk.first(w.offsets[chunk.vertex], tuning::chunk);
    const O end = w.offsets[std::int64_t{chunk.vertex} + 1];
    visit_range(w, chunk.vertex, begin, end - begin > tuning::chunk ? begin + tuning::chunk : end, visit, output, lane);
  }
  output.flush();
  publish(w.to, w.chunk_count);
}

template <class I, class Keep>
__global__ void __launch_bounds__(operators_cuda_tuning::block, operators_cuda_tuning::kernel_blocks)
    filter_kernel(frontier_source<I> from, frontier_target<I> to, Keep keep) {
  using tuning = operators_cuda_tuning;
  __shared__ I waiting[tuning::warps][warp_output<I>::slots];
  const int lane = static_cast<int>(threadIdx.x) % tuning::warp;
  const int warp_in_block = static_cast<int>(threadIdx.x) / tuning::warp;
  const std::int64_t size = from.size();
  warp_output<I> output(waiting[warp_in_block], to, lane);
  const std::int64_t step = std::int64_t{gridDim.x} * tuning::block;
  for (std::int64_t base = std::int64_t{blockIdx.x} * tuning::block + warp_in_block * tuning::warp; base < size;
       base += step) {
    const bool here = base + lane < size;
    const I v = here ? from.slots[base + lane] : I{0};
    output.append(here && keep(v), v);
  }
  output.flush();
  publish(to, nullptr);
}

template <class I, class IsNear>
__global__ void __launch_bounds__(operators_cuda_tuning::block, operators_cuda_tuning::kernel_blocks)
    split_kernel(frontier_source<I> from, frontier_target<I> near, frontier_target<I> far, IsNear is_near) {
  using tuning = operators_cuda_tuning;
  __shared__ I waiting[2][tuning::warps][warp_output<I>::slots];
  const int lane = static_cast<int>(threadIdx.x) % tuning::warp;
  const int warp_in_block = static_cast<int>(threadIdx.x) / tuning::warp;
  const std::int64_t size = from.size();
  warp_output<I> to_near(waiting[0][warp_in_block], near, lane);
  warp_output<I> to_far(waiting[1][warp_in_block], far, lane);
  const std::int64_t step = std::int64_t{gridDim.x} * tuning::block;
  for (std::int64_t base = std::int64_t{blockIdx.x} * tuning::block + warp_in_block * tuning::warp; base < size;
       base += step) {
    const bool here = base + lane < size;
    const I v = here ? from.slots[base + lane] : I{0};
    const bool joins_near = here && is_near(v);
    to_near.append(joins_near, v);
    to_far.append(here && !joins_near, v);
  }
  to_near.flush();
  to_far.flush();
  publish(near, nullptr);
  publish(far, nullptr);
}

// Clears the bitmap's words that were set; two vertices of a word write the same value.
template <class I>
__global__ void __launch_bounds__(operators_cuda_tuning::block, operators_cuda_tuning::kernel_blocks)
    clear_joined_kernel(frontier_source<I> from, unsigned* joined) {
  const std::int64_t size = from.size();
  const std::int64_t step = std::int64_t{gridDim.x} * operators_cuda_tuning::block;
  for (std::int64_t i = std::int64_t{blockIdx.x} * operators_cuda_tuning::block + threadIdx.x; i < size; i += step) {
    joined[from.slots[i] >> 5] = 0;
  }
}

// Sets slot i to vertices[i], or first + i.
template <class I>
__global__ void __launch_bounds__(operators_cuda_tuning::block, operators_cuda_tuning::kernel_blocks)
    assign_kernel(frontier_target<I> to, const I* vertices, I first, std::int64_t size) {
  const std::int64_t step = std::int64_t{gridDim.x} * operators_cuda_tuning::block;
  const std::int64_t thread = std::int64_t{blockIdx.x} * operators_cuda_tuning::block + threadIdx.x;
  for (std::int64_t i = thread; i < size; i += step) {
    to.slots[i] = vertices != nullptr ? vertices[i] : static_cast<I>(first + i);
  }
  if (thread == 0) to.state->size = static_cast<std::uint64_t>(size);
}

template <class I>
void fill_frontier(const context<device>& ctx, frontier<I, device>& f, const I* vertices, I first, std::int64_t size) {
  (void)checked_size(static_cast<std::uint64_t>(size), f.capacity());
  const device_guard current(ctx);
  assign_kernel<<<operator_blocks(ctx, size), operators_cuda_tuning::block, 0, ctx.stream()>>>(target_of(f, nullptr),
                                                                                               vertices, first, size);
  check_operator(cudaGetLastError(), "assign");
}

}  // namespace detail

// Sets the frontier to `vertices`. Throws invalid_argument if they exceed its capacity.
template <index_type I>
void assign(const context<device>& ctx, frontier<I, device>& f, std::type_identity_t<span<const I, device>> vertices) {
  detail::fill_frontier<I>(ctx, f, vertices.data(), 0, vertices.size());
}

// Sets the frontier to one vertex.
template <index_type I>
void assign(const context<device>& ctx, frontier<I, device>& f, std::type_identity_t<I> vertex) {
  detail::fill_frontier<I>(ctx, f, nullptr, vertex, 1);
}

// Sets the frontier to vertices 0 to count - 1.
template <index_type I>
void assign_all(const context<device>& ctx, frontier<I, device>& f, std::int64_t count) {
  detail::fill_frontier<I>(ctx, f, nullptr, 0, count);
}

// Like the host version, except that `out` has any order, and that an overflow of `out` is detected only by its
// `size_of`, which throws; until then `out` holds as many vertices as its capacity. Two launches, three for
// admission::once.
template <index_type I, index_type O, class Visit>
void advance(const context<device>& ctx, const std::type_identity_t<graph_view<I, O, device>>& g,
             const frontier<I, device>& in, frontier<I, device>& out, advance_workspace<I, O, device>& workspace,
             const Visit& visit, const advance_options& options = {}) {
  constexpr int block = detail::operators_cuda_tuning::block;
  detail::check_advance(g, in, out, workspace, options);
  const detail::device_guard current(ctx);
  unsigned* const joined = options.admit == admission::once ? workspace.joined() : nullptr;
  const detail::advance_work<I, O> work{
      g.out.offsets.data(),      g.out.indices.data(),      detail::source_of(in),  detail::target_of(out, joined),
      workspace.chunks().data(), workspace.chunks().size(), workspace.chunk_count()};
  detail::advance_vertices_kernel<<<detail::operator_blocks(ctx, in.capacity()), block, 0, ctx.stream()>>>(work, visit);
  detail::check_operator(cudaGetLastError(), "advance");
  const unsigned chunk_blocks = detail::operator_blocks(ctx, work.chunk_capacity);
  detail::advance_chunks_kernel<<<chunk_blocks, block, 0, ctx.stream()>>>(work, visit);
  detail::check_operator(cudaGetLastError(), "advance");
  if (joined == nullptr) return;
  detail::clear_joined_kernel<<<detail::operator_blocks(ctx, out.capacity()), block, 0, ctx.stream()>>>(
      detail::source_of(out), joined);
  detail::check_operator(cudaGetLastError(), "advance");
}

// Like the host version, with the exceptions of `advance`. One launch.
template <index_type I, class Keep>
void filter(const context<device>& ctx, const frontier<I, device>& in, frontier<I, device>& out, const Keep& keep) {
  constexpr int block = detail::operators_cuda_tuning::block;
  detail::check_distinct("filter", in, out);
  const detail::device_guard current(ctx);
  detail::filter_kernel<<<detail::operator_blocks(ctx, in.capacity()), block, 0, ctx.stream()>>>(
      detail::source_of(in), detail::target_of(out, nullptr), keep);
  detail::check_operator(cudaGetLastError(), "filter");
}

// Like the host version, with the exceptions of `advance`. One launch.
template <index_type I, class IsNear>
void split(const context<device>& ctx, const frontier<I, device>& in, frontier<I, device>& near,
           frontier<I, device>& far, const IsNear& is_near) {
  constexpr int block = detail::operators_cuda_tuning::block;
  detail::check_split(in, near, far);
  const detail::device_guard current(ctx);
  detail::split_kernel<<<detail::operator_blocks(ctx, in.capacity()), block, 0, ctx.stream()>>>(
      detail::source_of(in), detail::target_of(near, nullptr), detail::target_of(far, nullptr), is_near);
  detail::check_operator(cudaGetLastError(), "split");
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

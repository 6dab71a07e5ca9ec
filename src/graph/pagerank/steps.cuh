// Device PageRank steps: a pull over in-edges of shares (ranks divided by out-degrees), from the graph or from a copy
// of it (blocked_cuda.cu, binned_cuda.cu).
//
// From the graph: rows are binned once by in-degree: a block, a warp, 8 lanes or one thread per row. Short rows are
// processed in graph order, four per thread, so that a mesh's step reads only indices, offsets and shares; the others
// are listed. Shares stay in the L2 cache, indices stream past it. A step is one launch, which loads its first indices
// while the previous step ends. Invariants: those of device.cuh; the assignment of rows to blocks depends only on the
// graph and the device, so sums are deterministic. Cost of a step: 4 bytes per edge (I = int32), 3 values and an offset
// per vertex; workspace: see the public header.
#pragma once

#include "core/bytes_of.hpp"
#include "core/device/early_launch.cuh"
#include "core/device/launch.cuh"
#include "core/device/resident.cuh"
#include "core/device/warp.cuh"
#include "core/device/words.cuh"
#include "graph/pagerank/device.cuh"
#include "primitives/element.hpp"
#include "sparse/spmv/copies/binned/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace spargo::detail::pagerank {

struct steps_tuning {
  // Longest row of each bin. A thread's 4 indices are 16 bytes; 8 lanes read one sector at a time.
  static constexpr std::int64_t thread_row = 4;
  static constexpr std::int64_t team_row = 64;
  static constexpr std::int64_t warp_row = 4096;
  static constexpr int rounds = 8;          // groups of rows per block, in blocks with more than one row
  static constexpr int thread_rows = 4;     // per thread, all in flight; 1, 2, 4: grid 2048^2 0.0457, 0.0403, 0.0402 ms
  static constexpr int check_interval = 8;  // steps between convergence checks on the host
  static constexpr double least_steps =
      15;  // minimum for a copy: R-MAT 22 fp32 takes 11.3 ms to copy and saves 0.76 per step
  static constexpr std::int64_t least_edges = std::int64_t{1} << 22;
  static constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;  // of shares that the L1 cache holds
  static constexpr std::int64_t least_sectors =
      300;  // minimum sectors of shares per 1000 consecutive edges; with fewer, caches suffice
};

inline constexpr int bins = 3;  // block, warp, team: long rows first, to avoid a tail
inline constexpr int lanes_of_bin[bins] = {block_threads, warp_size, 8};
inline constexpr int short_rows = block_threads * steps_tuning::thread_rows;  // per block

// Bin b has rows order[first_row[b]] to order[first_row[b + 1]], in blocks first_block[b] to first_block[b + 1]. The
// blocks after those process the rows of at most thread_row in-edges, `short_rows` vertices each.
struct row_bins {
  std::int64_t first_row[bins + 1] = {};
  std::int64_t first_block[bins + 1] = {};
};

template <class V, class I, class O>
struct pull_arguments {
  std::int64_t n;
  const O* offsets;
  const I* indices;
  const I* order;
  int undirected;  // then the row length is the out-degree
  row_bins bins;
};

// Sum over a row by `Lanes` threads, returned in all of them. Four loads in flight per lane.
template <int Lanes, class V, class I>
__device__ V gather_row(const I* indices, std::int64_t first, std::int64_t last, int lane, const V* contributions) {
  V sums[4] = {};
  std::int64_t e = first + lane;
  for (; e + 3 * Lanes < last; e += 4 * Lanes) {
#pragma unroll
    for (int k = 0; k < 4; ++k) sums[k] += contributions[__ldcs(indices + e + k * Lanes)];
  }
  for (; e < last; e += Lanes) sums[0] += contributions[__ldcs(indices + e)];
  V sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if constexpr (Lanes > 1 && Lanes <= warp_size) sum = group_sum(sum, Lanes);
  return sum;
}

// Processes a block's rows of a bin with `Lanes` threads per row, at most a warp.
template <int Lanes, class V, class I, class O>
__device__ step_outcome pull_rows(const step_arguments<V>& a, const pull_arguments<V, I, O>& g, const step_terms& terms,
                                  std::int64_t first, std::int64_t last, const V* now, V* next) {
  constexpr int rows = block_threads / Lanes;
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  step_outcome mine;
  for (int round = 0; round < steps_tuning::rounds; ++round) {
    const std::int64_t at = first + round * rows + threadIdx.x / Lanes;
    const bool any = at < last;  // all lanes of a warp reach the sum
    const std::int64_t v = any ? g.order[at] : 0;
    const std::int64_t begin = any ? g.offsets[v] : 0;
    const std::int64_t end = any ? g.offsets[v + 1] : 0;
    const V incoming = gather_row<Lanes>(g.indices, begin, end, lane, now);
    if (any && lane == 0) mine.add(finish_vertex(a, terms, v, a.degrees[v], incoming, now[v], next), a.norm);
  }
  return mine;
}

// The rows of up to thread_row in-edges among vertices first .. first + short_rows - 1, four per thread. Loading reads
// nothing that the previous step writes.
template <class V, class I>
struct short_rows_batch {
  static constexpr int rows = steps_tuning::thread_rows;
  static constexpr int most = static_cast<int>(steps_tuning::thread_row);
  int size[rows];  // most + 1: processed by another block
  I index[rows][most];

  template <class O>
  __device__ void load(const pull_arguments<V, I, O>& g, std::int64_t first) {
    O begin[rows];
#pragma unroll
    for (int j = 0; j < rows; ++j) {
      const std::int64_t v = first + j * block_threads + threadIdx.x;
      begin[j] = v < g.n ? g.offsets[v] : O{0};
      const O length = v < g.n ? g.offsets[v + 1] - begin[j] : O{most + 1};
      size[j] = length <= most ? static_cast<int>(length) : most + 1;
    }
#pragma unroll
    for (int j = 0; j < rows; ++j) {
#pragma unroll
      for (int k = 0; k < most; ++k) {
        index[j][k] = size[j] <= most && k < size[j] ? __ldcs(g.indices + begin[j] + k) : I{-1};
      }
    }
  }

  template <class O>
  __device__ void pull(const step_arguments<V>& a, const pull_arguments<V, I, O>& g, const step_terms& terms,
                       std::int64_t first, const V* now, V* next, step_outcome& mine) const {
    V before[rows];
    V degree[rows];
    V sum[rows];
#pragma unroll
    for (int j = 0; j < rows; ++j) {
      const std::int64_t v = first + j * block_threads + threadIdx.x;
      before[j] = size[j] <= most ? now[v] : V{0};
      degree[j] = g.undirected != 0 ? static_cast<V>(size[j]) : (size[j] <= most ? a.degrees[v] : V{0});
    }
#pragma unroll
    for (int j = 0; j < rows; ++j) {
      sum[j] = 0;
#pragma unroll
      for (int k = 0; k < most; ++k) sum[j] += index[j][k] >= 0 ? now[index[j][k]] : V{0};
    }
#pragma unroll
    for (int j = 0; j < rows; ++j) {
      if (size[j] > most) continue;
      const std::int64_t v = first + j * block_threads + threadIdx.x;
      mine.add(finish_vertex(a, terms, v, degree[j], sum[j], before[j], next), a.norm);
    }
  }
};

template <class V, class I, class O>
__device__ step_outcome pull_long_row(const step_arguments<V>& a, const pull_arguments<V, I, O>& g,
                                      const step_terms& terms, std::int64_t v, const V* now, V* next) {
  __shared__ V of_warps[block_threads / warp_size];
  const V mine =
      gather_row<block_threads>(g.indices, g.offsets[v], g.offsets[v + 1], static_cast<int>(threadIdx.x), now);
  const V sum = group_sum(mine, warp_size);
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return {};
  V incoming = 0;
  for (const V part : of_warps) incoming += part;
  return finish_vertex(a, terms, v, a.degrees[v], incoming, now[v], next);
}

// Blocks of longer rows process one batch each. The remaining blocks loop over short rows and prefetch: the next
// batch's indices during gathers, the first batch's while the previous step ends.
template <class V, class I, class O>
__global__ void __launch_bounds__(block_threads)
    pull_kernel(step_arguments<V> a, pull_arguments<V, I, O> g, const V* __restrict__ now, V* __restrict__ next) {
  const row_bins& b = g.bins;
  const std::int64_t block = blockIdx.x;
  const std::int64_t step = (gridDim.x - b.first_block[bins]) * std::int64_t{short_rows};
  std::int64_t first = (block - b.first_block[bins]) * short_rows;
  short_rows_batch<V, I> batch;
  if (first >= 0) batch.load(g, first);
  wait_for_kernel_in_front();
  start_kernel_behind();
  if (a.state->done != 0) return;
  const step_terms terms = a.state->terms;
  step_outcome mine;
  const auto first_of = [&](int bin, int lanes) {
    return b.first_row[bin] + (block - b.first_block[bin]) * steps_tuning::rounds * (block_threads / lanes);
  };
  if (block < b.first_block[1]) {
    mine = pull_long_row(a, g, terms, g.order[block], now, next);
  } else if (block < b.first_block[2]) {
    mine = pull_rows<warp_size>(a, g, terms, first_of(1, warp_size), b.first_row[2], now, next);
  } else if (block < b.first_block[3]) {
    mine = pull_rows<8>(a, g, terms, first_of(2, 8), b.first_row[3], now, next);
  } else {
    for (; first < g.n; first += step) {
      const short_rows_batch<V, I> here = batch;
      if (first + step < g.n) batch.load(g, first + step);
      here.pull(a, g, terms, first, now, next, mine);
    }
  }
  close_step(mine, a.outcomes, a.rule, a.end, a.norm, true, a.state);
}

// Initial shares: the guess scaled to sum 1, or 1/n; and the terms of the first step.
template <class V>
__global__ void __launch_bounds__(block_threads)
    start_kernel(step_arguments<V> a, std::int64_t n, const std::uint32_t* order, const V* guess, double guess_sum,
                 V* shares) {
  step_outcome mine;
  for (std::int64_t i = global_thread(); i < n; i += grid_threads()) {
    const std::int64_t v = order == nullptr ? i : std::int64_t{order[i]};
    const V rank = static_cast<V>(guess == nullptr ? 1.0 / static_cast<double>(n) : guess[v] / guess_sum);
    const V degree = a.degrees[i];
    shares[i] = share_of(rank, degree);
    if (degree == 0) mine.dangling += rank;
  }
  close_step(mine, a.outcomes, a.rule, a.end, pagerank_norm::l1, false, a.state);
}

__host__ __device__ inline int bin_of(std::int64_t edges) {
  return edges > steps_tuning::warp_row
             ? 0
             : (edges > steps_tuning::team_row ? 1 : (edges > steps_tuning::thread_row ? 2 : bins));
}

// Lists rows by bin, ascending within one. Synchronizes.
template <class I, class O>
row_bins bin_rows(const context<device>& ctx, const O* offsets, std::int64_t n, array<I, device>& order) {
  row_bins b;
  order = {ctx, n};
  array<std::int64_t, device> places(ctx, n + 1);
  std::int64_t* place = places.data();
  for (int bin = 0; bin < bins; ++bin) {
    for_each(ctx, n + 1, [=] __device__(std::int64_t v) {
      place[v] = v < n && bin_of(offsets[v + 1] - offsets[v]) == bin ? 1 : 0;
    });
    exclusive_scan<std::int64_t, device>(ctx, places.view(), places.view());
    I* to = order.data() + b.first_row[bin];
    for_each(ctx, n, [=] __device__(std::int64_t v) {
      if (bin_of(offsets[v + 1] - offsets[v]) == bin) to[place[v]] = static_cast<I>(v);
    });
    const auto rows = element<std::int64_t>(ctx, places.view(), n);
    const std::int64_t rows_of_block = bin == 0 ? 1 : steps_tuning::rounds * (block_threads / lanes_of_bin[bin]);
    b.first_row[bin + 1] = b.first_row[bin] + rows;
    b.first_block[bin + 1] = b.first_block[bin] + div_up(rows, rows_of_block);
  }
  return b;
}

// Expected number of steps: each multiplies the change by the damping.
inline double expected_steps(const pagerank_options& options) {
  if (options.iterations > 0) return static_cast<double>(options.iterations);
  const auto most = static_cast<double>(options.max_iterations);
  if (options.damping == 0 || options.tolerance >= 1) return 1;
  return options.tolerance == 0 ? most : std::min(most, std::log(options.tolerance) / std::log(options.damping));
}

// Why no copy would pay off; empty: one may.
template <class V, class I, class O>
std::string reason_against_copy(const context<device>& ctx, const graph_view<I, O, device>& g,
                                const pagerank_options& options) {
  if (expected_steps(options) < steps_tuning::least_steps) return "too few steps for a copy of the graph";
  if (g.in.nnz() < steps_tuning::least_edges) return "the graph is small";
  if (g.vertices() * std::int64_t{sizeof(V)} <= steps_tuning::cached_bytes) return "the L1 cache holds all shares";
  const std::int64_t sectors = spmv::sectors_per_1000(ctx, g.in.indices.data(), g.in.nnz(), sizeof(V));
  if (sectors >= steps_tuning::least_sectors) return {};
  return "1000 consecutive edges read only " + std::to_string(sectors) + " sectors of shares";
}

template <class V, class I, class O>
step_copy_attempt<V> make_copy(const context<device>& ctx, const graph_view<I, O, device>& g,
                               const pagerank_options& options) {
  if (options.copy == pagerank_copy::none || g.in.nnz() == 0) return {nullptr, {}};
  if (options.copy == pagerank_copy::automatic) {
    if (std::string why = reason_against_copy<V>(ctx, g, options); !why.empty()) return {nullptr, std::move(why)};
    try {
      auto made = copy_blocked<V>(ctx, g, copy_demand::if_it_pays);
      return made.copy != nullptr ? std::move(made) : copy_binned<V>(ctx, g, copy_demand::if_it_pays);
    } catch (const error& e) {
      if (e.code() != error_code::out_of_memory) throw;
      return {nullptr, "no memory for a copy of the graph"};
    }
  }
  auto made = options.copy == pagerank_copy::blocked ? copy_blocked<V>(ctx, g, copy_demand::by_name)
                                                     : copy_binned<V>(ctx, g, copy_demand::by_name);
  if (made.copy != nullptr) return made;
  throw error(error_code::unsupported,
              "pagerank: no " + std::string(to_string(options.copy)) + " copy: " + made.reason);
}

template <class V, class O>
void place_degrees(const context<device>& ctx, const O* offsets, const std::uint32_t* order,
                   array<V, device>& degrees) {
  for_each(ctx, degrees.size(), [=, degree = degrees.data()] __device__(std::int64_t i) {
    const std::int64_t v = order == nullptr ? i : std::int64_t{order[i]};
    degree[i] = static_cast<V>(offsets[v + 1] - offsets[v]);
  });
}

// A graph or a copy of it, and the vertices' state between steps.
template <class V, class I, class O>
struct device_steps {
  context<device> ctx;
  std::int64_t n;
  array<V, device> degrees;    // out-degrees, by position
  array<V, device> shares[2];  // double-buffered
  array<run_state, device> state;
  array<step_outcome, device> outcomes;  // [block]
  std::unique_ptr<step_copy<V>> copy;    // null: from the graph
  std::string reason;
  array<I, device> rows;  // long rows, by bin
  pull_arguments<V, I, O> pull{};
  std::int64_t pull_blocks = 0;
  unsigned vertex_blocks = 0;

  // `ghosts`: the number of last vertices whose ranks another process owns.
  device_steps(const context<device>& on, const graph_view<I, O, device>& g, const pagerank_options& options,
               std::int64_t ghosts)
      : ctx(on),
        n(g.vertices()),
        degrees(ctx, n),
        shares{{ctx, n + step_copy<V>::padding}, {ctx, n + step_copy<V>::padding}},
        state(ctx, 1),
        vertex_blocks(blocks_for(ctx, n, block_threads)) {
    if (n == 0) return;
    const device_guard guard(ctx);
    take(make_copy<V>(ctx, g, options));
    place_degrees(ctx, g.out.offsets.data(), order(), degrees);
    std::int64_t blocks = vertex_blocks;
    if (copy == nullptr) {
      const std::int64_t own = n - ghosts;
      pull = {.n = own,
              .offsets = g.in.offsets.data(),
              .indices = g.in.indices.data(),
              .order = nullptr,
              .undirected = g.in.offsets.data() == g.out.offsets.data() ? 1 : 0,
              .bins = bin_rows<I, O>(ctx, g.in.offsets.data(), own, rows)};
      pull.order = rows.data();
      pull_blocks = pull.bins.first_block[bins] + std::min(div_up(own, std::int64_t{short_rows}),
                                                           resident_grid(ctx, pull_kernel<V, I, O>, block_threads));
      blocks = std::max(blocks, pull_blocks);
    } else {
      blocks = std::max(blocks, copy->blocks());
    }
    outcomes = {ctx, blocks};
  }

  // Over weights.
  device_steps(const context<device>& on, const weighted_graph_view<double, I, O, device>& g,
               const pagerank_options& options)
      : ctx(on),
        n(g.vertices()),
        degrees(ctx, n),
        shares{{ctx, n + step_copy<V>::padding}, {ctx, n + step_copy<V>::padding}},
        state(ctx, 1),
        vertex_blocks(blocks_for(ctx, n, block_threads)) {
    if (n == 0) return;
    const device_guard guard(ctx);
    // As without weights: a copy is expected to pay off over a plan's runs.
    const double steps = expected_steps(options);
    const bool many = steps >= steps_tuning::least_steps;
    take(copy_weighted<V, I, O>(ctx, g, many ? 0 : static_cast<std::int64_t>(std::ceil(steps)), degrees));
    outcomes = {ctx, std::max<std::int64_t>(vertex_blocks, copy->blocks())};
  }

  void take(step_copy_attempt<V> made) {
    copy = std::move(made.copy);
    reason = std::move(made.reason);
    for (auto& each : shares) fill_zero(ctx, each.view().subspan(n, step_copy<V>::padding));
  }

  // By default no vertices share a position.
  [[nodiscard]] step_arguments<V> arguments(const pagerank_options& options, const step_rule& rule) {
    return {.n = n,
            .kept = n,
            .degrees = degrees.data(),
            .personalization = nullptr,
            .damping = options.damping,
            .norm = options.norm,
            .rule = rule,
            .end = {options.iterations > 0 ? -1.0 : options.tolerance, most_iterations(options)},
            .state = state.data(),
            .outcomes = outcomes.data()};
  }

  [[nodiscard]] run_state read_state() const { return element<run_state>(ctx, state.view(), 0); }
  [[nodiscard]] const std::uint32_t* order() const { return copy == nullptr ? nullptr : copy->order(); }
  [[nodiscard]] std::int64_t with_edges() const { return copy == nullptr ? n : copy->with_edges(); }

  // The kernels skip steps after the end.
  void take_step(const step_arguments<V>& a, std::int64_t number) {
    const V* const now = shares[number % 2].data();
    V* const next = shares[1 - number % 2].data();
    if (copy != nullptr) return copy->step(a, now, next);
    launch_early(ctx, {pull_blocks, block_threads}, pull_kernel<V, I, O>, a, pull, now, next);
  }

  // Writes ranks[v] for vertices below `size`.
  void write_ranks(const step_arguments<V>& a, std::int64_t steps, std::int64_t size, V* to) const {
    for_each(ctx, n,
             [=, kept = a.kept, order = order(), from = shares[steps % 2].data(),
              degree = degrees.data()] __device__(std::int64_t i) {
               const std::int64_t v = order == nullptr ? i : std::int64_t{order[i]};
               if (v < size) to[v] = rank_of(from[i < kept ? i : kept], degree[i]);
             });
  }

  [[nodiscard]] std::int64_t bytes() const {
    return bytes_of(degrees, shares[0], shares[1], rows, outcomes, state) +
           (copy == nullptr ? 0 : copy->workspace_bytes());
  }
};

}  // namespace spargo::detail::pagerank

// Ranks of vertices on a device: a radix sort of keys, and the peeling behind `smallest_last`, in the rounds of
// order_host.cpp: one launch with a grid barrier per round.
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/greedy/ordered.cuh"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/graph/frontier/expansion.cuh>

#include <cooperative_groups.h>

#include <bit>
#include <utility>

namespace spargo::detail::greedy {

namespace {

struct peel_control {
  count64 least[2];     // smallest remaining degree at this level and the next
  count64 frontier[3];  // sizes in this round and the next two
  count64 rounds;
};

template <class I, class O>
struct peel_state {
  neighbour_rows<I, O> rows;
  std::int64_t vertices;
  count64* degree;  // number of remaining neighbours
  I* round;         // -1: not yet removed
  I* frontier[2];
  peel_control* control;
};

constexpr count64 none = ~count64{0};

template <class I, class O>
__device__ void find_least(const peel_state<I, O>& p, count64* least) {
  count64 mine = none;
  for (std::int64_t v = global_thread(); v < p.vertices; v += grid_threads()) {
    if (p.round[v] < 0) mine = min(mine, __ldcg(p.degree + v));
  }
  mine = warp_reduce(mine, minimum{});
  if (lane_id() == 0 && mine != none) atomicMin(least, mine);
}

template <class I, class O>
__device__ void collect(const peel_state<I, O>& p, count64 k, I round, I* to, count64* size) {
  const int lane = lane_id();
  for (std::int64_t first = global_thread() - lane; first < p.vertices; first += grid_threads()) {
    const std::int64_t v = first + lane;
    const bool goes = v < p.vertices && p.round[v] < 0 && __ldcg(p.degree + v) <= k;
    if (goes) p.round[v] = round;
    append_by_warp(to, size, static_cast<I>(v), goes, lane);
  }
}

// A vertex whose degree falls to k leaves in the next round.
template <class I, class O>
__device__ void remove(const peel_state<I, O>& p, count64 k, I round, const I* from, std::int64_t size, I* to,
                       count64* next) {
  const int lane = lane_id();
  for (std::int64_t j = grid_warp(); j < size; j += grid_warps()) {
    const I v = __ldcg(from + j);
    p.rows.template for_each_by_warp<1>(v, [&](const I(&u)[1]) {
      bool falls = u[0] >= 0 && u[0] != v && load_state(p.round + u[0]) < 0;
      if (falls) falls = atomicAdd(p.degree + u[0], none) == k + 1;
      if (falls) store_state(p.round + u[0], static_cast<I>(round + 1));
      append_by_warp(to, next, u[0], falls, lane);
    });
  }
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads) peel_kernel(const __grid_constant__ peel_state<I, O> p) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  peel_control& control = *p.control;
  count64 round = 0;
  for (unsigned level = 0;; ++level) {
    find_least(p, &control.least[level % 2]);
    grid.sync();
    const count64 k = __ldcg(&control.least[level % 2]);
    if (k == none) break;
    collect(p, k, static_cast<I>(round), p.frontier[round % 2], &control.frontier[round % 3]);
    if (global_thread() == 0) control.least[(level + 1) % 2] = none;
    grid.sync();
    for (auto size = static_cast<std::int64_t>(__ldcg(&control.frontier[round % 3])); size > 0;) {
      if (global_thread() == 0) control.frontier[(round + 2) % 3] = 0;
      remove(p, k, static_cast<I>(round), p.frontier[round % 2], size, p.frontier[(round + 1) % 2],
             &control.frontier[(round + 1) % 3]);
      grid.sync();
      ++round;
      size = static_cast<std::int64_t>(__ldcg(&control.frontier[round % 3]));
    }
  }
  if (global_thread() == 0) control.rounds = round;
}

template <class I, class O>
[[nodiscard]] count64 peel(const context<device>& ctx, const neighbour_rows<I, O>& rows, std::int64_t n,
                           plan_memory& memory, I* round) {
  peel_state<I, O> p{
      rows, n, memory.take<count64>(n), round, {memory.take<I>(n), memory.take<I>(n)}, memory.take<peel_control>(1)};
  for_each(ctx, n, [p] __device__(std::int64_t v) {
    count64 degree = 0;
    p.rows.for_each(v, [&](I u) { degree += u != v ? 1 : 0; });
    p.degree[v] = degree;
    p.round[v] = I{-1};
    if (v == 0) *p.control = {{none, none}, {0, 0, 0}, 0};
  });
  const cooperative_kernel<peel_state<I, O>> kernel(ctx, peel_kernel<I, O>, block_threads, "smallest_last", 0, 2);
  kernel.launch(ctx, p);
  count64 rounds = 0;
  copy_to_host(ctx, &p.control->rounds, &rounds, sizeof(rounds));
  ctx.synchronize();
  return rounds;
}

// Statistics of the degrees.
struct degree_facts {
  count64 largest;
  count64 long_rows;
  count64 giants;
};

template <class I, class O>
[[nodiscard]] degree_facts look_at_degrees(const context<device>& ctx, const neighbour_rows<I, O>& rows,
                                           std::int64_t n) {
  array<degree_facts, device> found(ctx, 1);
  fill_zero<degree_facts, device>(ctx, found.view());
  degree_facts* const to = found.data();
  for_each(ctx, n, [rows, to] __device__(std::int64_t v) {
    const auto degree = static_cast<count64>(rows.degree(v));
    if (degree > __ldcg(&to->largest)) atomicMax(&to->largest, degree);
    if (degree >= static_cast<count64>(long_row)) atomicAdd(&to->long_rows, 1);
    if (degree >= static_cast<count64>(giant_row)) atomicAdd(&to->giants, 1);
  });
  return to_host(ctx, span<const degree_facts, device>(found.view()))[0];
}

// major(v) is at most `most`.
template <class I, class Major>
[[nodiscard]] ranking<I, device> sorted(const context<device>& ctx, std::int64_t n, const key_maker& key,
                                        std::uint64_t most, const Major& major) {
  array<std::uint32_t, device> payload = iota(ctx, n);
  array<std::uint64_t, device> keys(ctx, n);
  std::uint64_t* const to = keys.data();
  for_each(ctx, n, [=] __device__(std::int64_t v) { to[v] = key(major(v), v); });
  sort_pairs(ctx, keys, payload, 0, key.bits + static_cast<int>(std::bit_width(most)));
  ranking<I, device> made{{ctx, n}, {ctx, n}};
  const std::uint32_t* const from = payload.data();
  I* const order = made.order.data();
  I* const rank = made.rank.data();
  for_each(ctx, n, [=] __device__(std::int64_t k) {
    order[k] = static_cast<I>(from[k]);
    rank[from[k]] = static_cast<I>(k);
  });
  return made;
}

}  // namespace

template <class I, class O>
ranking<I, device> rank_vertices(const context<device>& ctx, const graph_view<I, O, device>& g, greedy_order order,
                                 std::uint64_t seed) {
  const std::int64_t n = g.vertices();
  if (n == 0) return {};
  const device_guard guard(ctx);
  const neighbour_rows<I, O> rows = rows_of(g);
  const key_maker key = keys_of(g, seed);
  const degree_facts facts = look_at_degrees(ctx, rows, n);
  const count64 largest = facts.largest;
  ranking<I, device> made;
  if (order == greedy_order::random) {
    constexpr std::uint64_t most = (std::uint64_t{1} << key_maker::random_bits) - 1;
    return sorted<I>(ctx, n, key, most, [=] __device__(std::int64_t v) { return key.random_major(v); });
  }
  if (order == greedy_order::smallest_first) {
    return sorted<I>(ctx, n, key, largest,
                     [=] __device__(std::int64_t v) { return static_cast<std::uint64_t>(rows.degree(v)); });
  }
  if (order == greedy_order::smallest_last) {
    array<I, device> rounds(ctx, n);
    const I* const round = rounds.data();
    plan_memory memory(ctx);
    const std::uint64_t last = peel(ctx, rows, n, memory, rounds.data());
    made = sorted<I>(ctx, n, key, last,
                     [=] __device__(std::int64_t v) { return last - static_cast<std::uint64_t>(round[v]); });
  } else {
    made = sorted<I>(ctx, n, key, largest,
                     [=] __device__(std::int64_t v) { return static_cast<std::uint64_t>(largest - rows.degree(v)); });
    made.giants = static_cast<std::int64_t>(facts.giants);
  }
  made.long_rows = static_cast<std::int64_t>(facts.long_rows);
  return made;
}

#define INSTANTIATE(I, O)                                                                                          \
  template ranking<I, device> rank_vertices(const context<device>&, const graph_view<I, O, device>&, greedy_order, \
                                            std::uint64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::greedy

// Shared by the device steps: a vertex's new rank, and the end of a step.
//
// Vertices are ordered by position: graph order, or descending out-degree in a blocked copy, with isolated vertices
// last. Without a personalization and a guess all isolated vertices have the same rank, which is stored once. A step
// reads and writes shares: ranks[v] / out-degree(v), or the rank itself for a dangling vertex, which nobody pulls from.
// So ranks need no array of their own and are written once, after the last step. Each block stores its change and
// dangling rank; the block that finishes last adds them in order, decides whether the run ends, and computes the next
// step's terms. Steps launched after the end do nothing.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "graph/pagerank/executor.hpp"
#include "sparse/spmv/copies/copy.hpp"

#include <spargo/core/array.hpp>

#include <memory>
#include <string>

namespace spargo::detail::pagerank {

// In device memory; the host reads it every few steps.
struct run_state {
  step_terms terms;
  double residual;
  std::int64_t iterations;
  int done;
  unsigned arrived;  // blocks of the current step that have finished; 0 between steps
};

struct end_rule {
  double tolerance;  // below 0: never met
  std::int64_t most;
};

template <class V>
struct step_arguments {
  std::int64_t n;
  std::int64_t kept;         // positions from here on, if any, all have the share stored at this position
  const V* degrees;          // out-degrees, by position
  const V* personalization;  // by position; null: none
  double damping;
  pagerank_norm norm;
  step_rule rule;
  end_rule end;
  run_state* state;
  step_outcome* outcomes;  // [block]
};

// Computes the steps from a copy of the graph.
template <class V>
class step_copy {
 public:
  step_copy() = default;
  step_copy(const step_copy&) = delete;
  step_copy& operator=(const step_copy&) = delete;
  virtual ~step_copy() = default;

  // Both arrays have `padding` extra elements, which are 0 in `now`. Asynchronous.
  virtual void step(const step_arguments<V>& a, const V* now, V* next) const = 0;
  [[nodiscard]] virtual std::int64_t blocks() const noexcept = 0;         // blocks that store outcomes
  [[nodiscard]] virtual const std::uint32_t* order() const noexcept = 0;  // vertices by position; null: graph order
  [[nodiscard]] virtual std::int64_t with_edges() const noexcept = 0;     // positions before the isolated vertices
  // Whether steps launched after the end cost nothing.
  [[nodiscard]] virtual bool skips_after_end() const noexcept { return true; }
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;

  static constexpr std::int64_t padding = 64;
};

using spmv::copy_demand;

template <class V>
struct step_copy_attempt {
  std::unique_ptr<step_copy<V>> copy;  // null: refused
  std::string reason;
};

// The graph has edges. Synchronizes the stream.
template <class V, class I, class O>
[[nodiscard]] step_copy_attempt<V> copy_blocked(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                copy_demand demand);
template <class V, class I, class O>
[[nodiscard]] step_copy_attempt<V> copy_binned(const context<device>& ctx, const graph_view<I, O, device>& g,
                                               copy_demand demand);

// Over weights, for about `steps` steps (0: many). Writes the sums of the vertices' weights, or what takes their place,
// to `degrees`. Throws invalid_data for a sum that is not finite.
template <class V, class I, class O>
[[nodiscard]] step_copy_attempt<V> copy_weighted(const context<device>& ctx,
                                                 const weighted_graph_view<double, I, O, device>& g, std::int64_t steps,
                                                 array<V, device>& degrees);

// The steps of one rank of a distributed run. Its graph has the rank's own vertices and then ghosts: remote sources of
// in-edges, without in-edges themselves. The caller supplies the step's terms and the ghosts' shares.
template <class V>
class part_steps {
 public:
  part_steps() = default;
  part_steps(const part_steps&) = delete;
  part_steps& operator=(const part_steps&) = delete;
  virtual ~part_steps() = default;

  virtual void start(V rank) = 0;
  // By position. Before each step the caller writes the ghosts' shares: to ghosts(), by number, if places() is empty;
  // otherwise through `place_ghosts`, in any order.
  [[nodiscard]] virtual span<const V, device> shares() = 0;
  [[nodiscard]] virtual span<V, device> ghosts() = 0;
  virtual void place_ghosts(span<const V, device> values, span<const std::int32_t, device> places) = 0;
  // Positions of vertices and ghosts; empty: as numbered.
  [[nodiscard]] virtual span<const std::int32_t, device> places() const = 0;
  virtual void step(const step_terms& terms) = 0;
  [[nodiscard]] virtual step_outcome outcome() = 0;  // this part's change and dangling rank. Synchronizes
  virtual void write_ranks(span<V, device> ranks) = 0;
  // Whether the graph may be freed.
  [[nodiscard]] virtual bool has_copy() const noexcept = 0;
};

// `local`: the graph of the part's vertices and ghosts. Of its out-edges only the offsets are used; in-edges have empty
// rows for ghosts. `degrees`: out-degrees of the part's vertices in the whole graph. Borrows the graph.
template <class V, class I, class O>
[[nodiscard]] std::unique_ptr<part_steps<V>> make_part_steps(const context<device>& ctx,
                                                             const graph_view<I, O, device>& local,
                                                             span<const V, device> degrees,
                                                             const pagerank_options& options);

// --- Device code ----------------------------------------------------------

// Degree that marks a ghost: steps do not write its share.
template <class V>
inline constexpr V ghost_degree = V{-1};

inline __device__ step_outcome shuffled(const step_outcome& mine, int mask) {
  return {shuffle_xor(mine.change, mask), shuffle_xor(mine.dangling, mask)};
}

// Reduces over all threads of the block, deterministically; the result is in thread 0.
inline __device__ step_outcome block_outcome(step_outcome mine, pagerank_norm norm) {
  __shared__ step_outcome of_warps[1024 / warp_size];
  for (int mask = warp_size / 2; mask > 0; mask /= 2) mine.add(shuffled(mine, mask), norm);
  __syncthreads();  // results of the previous call have been read
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / warp_size; ++w) mine.add(of_warps[w], norm);
  }
  return mine;
}

// Called by all threads of all blocks at the end of a kernel. `counts`: it was a step, not only the start.
inline __device__ void close_step(step_outcome mine, step_outcome* outcomes, const step_rule& rule, const end_rule& end,
                                  pagerank_norm norm, bool counts, run_state* state) {
  __shared__ bool last;
  mine = block_outcome(mine, norm);
  if (threadIdx.x == 0) {
    outcomes[blockIdx.x] = mine;
    __threadfence();
    last = atomicAdd(&state->arrived, 1U) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  step_outcome all;
#pragma unroll 4
  for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) {
    all.add({__ldcg(&outcomes[k].change), __ldcg(&outcomes[k].dangling)}, norm);
  }
  all = block_outcome(all, norm);
  if (threadIdx.x != 0) return;
  state->arrived = 0;
  state->terms = rule.terms(all.dangling);
  if (!counts) return;
  state->residual = all.change;
  const std::int64_t iterations = ++state->iterations;
  if (all.change <= end.tolerance || iterations >= end.most) state->done = 1;
}

template <class V>
__device__ V share_of(V rank, V degree) {
  return degree == 0 ? rank : rank / degree;
}
template <class V>
__device__ V rank_of(V share, V degree) {
  return degree == 0 ? share : share * degree;
}

// Computes and stores a new share. The residual compares ranks as stored: 0 for a step that changes no share.
template <class V>
__device__ step_outcome finish_vertex(const step_arguments<V>& a, const step_terms& terms, std::int64_t place, V degree,
                                      V incoming, V before, V* next) {
  const double preference =
      terms.per_preference == 0 ? 0.0 : terms.per_preference * static_cast<double>(a.personalization[place]);
  const V rank = static_cast<V>(terms.constant + preference + a.damping * static_cast<double>(incoming));
  const V share = share_of(rank, degree);
  next[place] = share;
  const auto kept = static_cast<double>(rank_of(share, degree));
  return {fabs(kept - static_cast<double>(rank_of(before, degree))), degree == 0 ? kept : 0.0};
}

// The same for a position that may be a ghost's.
template <class V>
__device__ step_outcome finish_place(const step_arguments<V>& a, const step_terms& terms, std::int64_t place, V degree,
                                     V incoming, V before, V* next) {
  if (degree == ghost_degree<V>) return {};
  return finish_vertex(a, terms, place, degree, incoming, before, next);
}

// Updates the identical vertices from position `kept` on, by one thread.
template <class V>
__device__ step_outcome finish_isolated(const step_arguments<V>& a, const step_terms& terms, const V* now, V* next) {
  if (a.kept == a.n) return {};
  step_outcome outcome = finish_vertex(a, terms, a.kept, V{0}, V{0}, now[a.kept], next);
  const auto count = static_cast<double>(a.n - a.kept);
  if (a.norm == pagerank_norm::l1) outcome.change *= count;
  outcome.dangling *= count;
  return outcome;
}

}  // namespace spargo::detail::pagerank

// What the steps on the device share: a vertex's new rank, and the end of a step.
//
// Vertices lie by place: in the graph's order, or by falling out-degree where a copy of the graph has them so, those
// without any edge last. Without a personalization and a guess the latter have one rank, which is kept once. A step
// reads and writes shares, ranks[v] / out-degree(v), or the rank itself for a dangling vertex, which nobody pulls from:
// so ranks need no array of their own, and are written once, after the last step.
// Each block leaves what its vertices changed and hold; the block that comes last adds these in order, decides whether
// that was the last step, and leaves the next step's terms. Steps launched after the end do nothing.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "graph/pagerank/executor.hpp"
#include "sparse/spmv/copies/copy.hpp"

#include <spargo/core/array.hpp>

#include <memory>
#include <string>

namespace spargo::detail::pagerank {

// On the device; the host reads it every few steps.
struct run_state {
  step_terms terms;
  double residual;
  std::int64_t iterations;
  int done;
  unsigned arrived;  // blocks of the step under way; 0 between steps
};

struct end_rule {
  double tolerance;  // below 0: never met
  std::int64_t most;
};

template <class V>
struct step_arguments {
  std::int64_t n;
  std::int64_t kept;         // places: those from there on, if any, have the share that is kept for the first of them
  const V* degrees;          // of out-edges, by place
  const V* personalization;  // by place; null: none
  double damping;
  pagerank_norm norm;
  step_rule rule;
  end_rule end;
  run_state* state;
  step_outcome* outcomes;  // [block]
};

// The sums over in-edges, from a copy of the graph that is made once, and the rest of a step.
template <class V>
class step_copy {
 public:
  step_copy() = default;
  step_copy(const step_copy&) = delete;
  step_copy& operator=(const step_copy&) = delete;
  virtual ~step_copy() = default;

  // Both arrays have `padding` elements more than vertices, which are 0 in `now`. Asynchronous.
  virtual void step(const step_arguments<V>& a, const V* now, V* next) const = 0;
  [[nodiscard]] virtual std::int64_t blocks() const noexcept = 0;         // that leave outcomes
  [[nodiscard]] virtual const std::uint32_t* order() const noexcept = 0;  // vertices by place; null: as they are
  [[nodiscard]] virtual std::int64_t with_edges() const noexcept = 0;     // places; behind them, vertices without
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;

  static constexpr std::int64_t padding = 64;
};

using spmv::copy_demand;

template <class V>
struct step_copy_attempt {
  std::unique_ptr<step_copy<V>> copy;  // null: refused
  std::string reason;
};

// There are edges. Synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] step_copy_attempt<V> copy_blocked(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                copy_demand demand);
template <class V, class I, class O>
[[nodiscard]] step_copy_attempt<V> copy_binned(const context<device>& ctx, const graph_view<I, O, device>& g,
                                               copy_demand demand);

// The steps of a rank, which has a part of a graph's vertices and, numbered behind them, those of others that they have
// in-edges from: ghosts, without in-edges. A step's terms and the ghosts' shares come from outside.
template <class V>
class part_steps {
 public:
  part_steps() = default;
  part_steps(const part_steps&) = delete;
  part_steps& operator=(const part_steps&) = delete;
  virtual ~part_steps() = default;

  // Every vertex has `rank`.
  virtual void start(V rank) = 0;
  // By place. Those of ghosts are to be written before a step: here by number, where places() is empty, else by
  // `place_ghosts`, in any order.
  [[nodiscard]] virtual span<const V, device> shares() = 0;
  [[nodiscard]] virtual span<V, device> ghosts() = 0;
  virtual void place_ghosts(span<const V, device> values, span<const std::int32_t, device> places) = 0;
  // Of the vertices and ghosts; empty: as they are numbered.
  [[nodiscard]] virtual span<const std::int32_t, device> places() const = 0;
  virtual void step(const step_terms& terms) = 0;
  [[nodiscard]] virtual step_outcome outcome() = 0;  // what this part leaves behind. Synchronises
  virtual void write_ranks(span<V, device> ranks) = 0;
  // Whether the graph may go.
  [[nodiscard]] virtual bool has_copy() const noexcept = 0;
};

// `local`: the graph of the part's vertices and the ghosts. Of the out-edges nothing but their number in it matters,
// and in-edges have rows of the part only, but offsets for the ghosts, too. `degrees`: of the part's vertices in the
// whole graph. Borrows the graph.
template <class V, class I, class O>
[[nodiscard]] std::unique_ptr<part_steps<V>> make_part_steps(const context<device>& ctx,
                                                             const graph_view<I, O, device>& local,
                                                             span<const V, device> degrees,
                                                             const pagerank_options& options);

// --- Device code ----------------------------------------------------------

// In the place of a ghost's degree: its share is somebody else's to write.
template <class V>
inline constexpr V ghost_degree = V{-1};

inline __device__ step_outcome shuffled(const step_outcome& mine, int mask) {
  return {shuffle_xor(mine.change, mask), shuffle_xor(mine.dangling, mask)};
}

// In thread 0, of all threads of the block; always in the same order.
inline __device__ step_outcome block_outcome(step_outcome mine, pagerank_norm norm) {
  __shared__ step_outcome of_warps[1024 / warp_size];
  for (int mask = warp_size / 2; mask > 0; mask /= 2) mine.add(shuffled(mine, mask), norm);
  __syncthreads();  // those of a call before are done with
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / warp_size; ++w) mine.add(of_warps[w], norm);
  }
  return mine;
}

// By all threads of all blocks of a kernel, at its end. `counts`: whether that was a step, or only the start.
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

// The vertex at a place gets its new share. The residual is that of the ranks as they are kept, so that a step which
// changes no share changes nothing.
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

// The same at a place that may be a ghost's.
template <class V>
__device__ step_outcome finish_place(const step_arguments<V>& a, const step_terms& terms, std::int64_t place, V degree,
                                     V incoming, V before, V* next) {
  if (degree == ghost_degree<V>) return {};
  return finish_vertex(a, terms, place, degree, incoming, before, next);
}

// The vertices from place `kept` on, all alike, by one thread.
template <class V>
__device__ step_outcome finish_alike(const step_arguments<V>& a, const step_terms& terms, const V* now, V* next) {
  if (a.kept == a.n) return {};
  step_outcome outcome = finish_vertex(a, terms, a.kept, V{0}, V{0}, now[a.kept], next);
  const auto count = static_cast<double>(a.n - a.kept);
  if (a.norm == pagerank_norm::l1) outcome.change *= count;
  outcome.dangling *= count;
  return outcome;
}

}  // namespace spargo::detail::pagerank

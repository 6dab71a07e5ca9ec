// ForceAtlas2 on the device. Per step: repulsion by a tree (tree.cuh), then one kernel for attraction, gravity and the
// swing of forces, and one for the moves; long rows have a block each, in a kernel before. Sums over all vertices are
// added in a fixed order, and the block that finishes last computes the speed and the middle of all positions, so the
// host only launches. Forces of edges are added in double precision.
#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/layout/executor.hpp"
#include "graph/layout/pace.hpp"
#include "graph/layout/tree.cuh"
#include "primitives/element.hpp"

#include <spargo/core/interruption.hpp>

namespace spargo::detail::layout {

namespace {

struct tuning {
  static constexpr std::int64_t long_row = 2048;
  static constexpr std::int64_t look = 8;  // steps between looks for an interruption
  static constexpr int warps = block_threads / warp_size;
};

// In device memory.
struct device_state {
  bounds box;
  vector2 mean;
  pace speed;
  double low[2], high[2];  // of the start
  unsigned arrived;        // blocks that have finished; 0 between kernels
};

struct position_sums {
  vector2 sum;
  bounds box;
};
struct join_positions {
  __device__ position_sums operator()(position_sums a, const position_sums& b) const {
    a.sum = {a.sum.x + b.sum.x, a.sum.y + b.sum.y};
    a.box.add(b.box);
    return a;
  }
};
struct join_motions {
  __device__ motion operator()(const motion& a, const motion& b) const {
    return {a.swing + b.swing, a.traction + b.traction};
  }
};
struct extent {
  double low[2], high[2];
};
struct join_extents {
  __device__ extent operator()(const extent& a, const extent& b) const {
    return {{fmin(a.low[0], b.low[0]), fmin(a.low[1], b.low[1])},
            {fmax(a.high[0], b.high[0]), fmax(a.high[1], b.high[1])}};
  }
};

__device__ position_sums no_positions() {
  constexpr float most = 3e38F;
  return {{}, {{most, most}, {-most, -most}}};
}

// Reduces over the grid in a fixed order; `finish` runs in one thread of the block that finishes last.
template <class T, class Join, class Finish>
__device__ void reduce_grid(T mine, T none, T* of_blocks, unsigned* arrived, Join join, Finish finish) {
  __shared__ T of_warps[tuning::warps];
  mine = block_reduce(mine, of_warps, join);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = mine;
  if (!block_arrives_last(arrived, gridDim.x)) return;
  T all = none;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) all = join(all, of_blocks[b]);
  all = block_reduce(all, of_warps, join);
  if (threadIdx.x == 0) finish(all);
}

__global__ void __launch_bounds__(block_threads)
    extent_kernel(std::int64_t n, const double* start, extent* of_blocks, device_state* state) {
  const extent none{{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}};
  extent mine = none;
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    const double x = start[2 * v];
    const double y = start[2 * v + 1];
    mine = join_extents{}(mine, {{x, y}, {x, y}});
  }
  reduce_grid(mine, none, of_blocks, &state->arrived, join_extents{}, [=](const extent& all) {
    for (int k = 0; k < 2; ++k) {
      state->low[k] = all.low[k];
      state->high[k] = all.high[k];
    }
  });
}

// A step's arrays, [vertex].
struct step_arrays {
  std::int64_t n;
  const float* masses;
  point* points;
  point* forces;
  point* repulsion;  // after forces_kernel: the forces before
  vector2* pulls;    // of vertices with long rows
};

enum class moves { none, all };

template <moves Moves>
__global__ void __launch_bounds__(block_threads)
    move_kernel(step_arrays a, position_sums* of_blocks, device_state* state) {
  const pace speed = state->speed;
  position_sums mine = no_positions();
  for (std::int64_t v = global_thread(); v < a.n; v += grid_threads()) {
    point z = a.points[v];
    if constexpr (Moves == moves::all) {
      z = moved(z, a.forces[v], a.repulsion[v], a.masses[v], speed);
      a.points[v] = z;
    }
    mine = join_positions{}(mine, {{z.x, z.y}, {z, z}});
  }
  reduce_grid(mine, no_positions(), of_blocks, &state->arrived, join_positions{}, [=](const position_sums& all) {
    state->box = all.box;
    state->mean = {all.sum.x / static_cast<double>(a.n), all.sum.y / static_cast<double>(a.n)};
  });
}

// Edges by row, in both directions of a directed graph.
template <class I, class O>
struct device_rows {
  const O* offsets[2];
  const I* indices[2];
  const double* weights[2];  // null: 1 each
  int sides;

  [[nodiscard]] __device__ std::int64_t length(std::int64_t v) const {
    std::int64_t all = 0;
    for (int side = 0; side < sides; ++side) all += offsets[side][v + 1] - offsets[side][v];
    return all;
  }
  // The share of one of `lanes` threads.
  [[nodiscard]] __device__ vector2 attraction(const force_rule& rule, const point* points, std::int64_t v, int lane,
                                              int lanes) const {
    const point here = points[v];
    vector2 sum;
    for (int side = 0; side < sides; ++side) {
      const std::int64_t last = offsets[side][v + 1];
      for (std::int64_t e = std::int64_t{offsets[side][v]} + lane; e < last; e += lanes) {
        rule.attract(sum, here, points[indices[side][e]], weights[side] == nullptr ? 1 : weights[side][e]);
      }
    }
    return sum;
  }
};

struct join_vectors {
  __device__ vector2 operator()(const vector2& a, const vector2& b) const { return {a.x + b.x, a.y + b.y}; }
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    long_rows_kernel(step_arrays a, device_rows<I, O> rows, force_rule rule, const std::int32_t* long_rows) {
  __shared__ vector2 of_warps[tuning::warps];
  const std::int64_t v = long_rows[blockIdx.x];
  const vector2 mine = rows.attraction(rule, a.points, v, static_cast<int>(threadIdx.x), block_threads);
  const vector2 all = block_reduce(mine, of_warps, join_vectors{});
  if (threadIdx.x == 0) a.pulls[v] = all;
}

// Lanes: of a group, which has a row.
template <int Lanes, class I, class O>
__global__ void __launch_bounds__(block_threads)
    forces_kernel(step_arrays a, device_rows<I, O> rows, force_rule rule, double tolerance, motion* of_blocks,
                  device_state* state) {
  const vector2 mean = state->mean;
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  motion mine{0, 0};
  // All lanes of a warp take the same number of turns.
  for (std::int64_t base = global_thread() / warp_size * warp_size / Lanes; base < a.n;
       base += grid_threads() / Lanes) {
    const std::int64_t v = base + lane_id() / Lanes;
    vector2 pull;
    bool is_long = false;
    if (v < a.n) {
      is_long = rows.length(v) > tuning::long_row;
      if (!is_long) pull = rows.attraction(rule, a.points, v, lane, Lanes);
    }
    pull = {group_reduce(pull.x, Lanes, plus{}), group_reduce(pull.y, Lanes, plus{})};
    if (v >= a.n || lane != 0) continue;
    if (is_long) pull = a.pulls[v];
    const double mass = a.masses[v];
    const point now = rule.total(pull, a.repulsion[v], mass, a.points[v], mean);
    const point before = a.forces[v];
    mine.swing += mass * length(now - before);
    mine.traction += 0.5 * mass * length(now + before);
    a.repulsion[v] = before;
    a.forces[v] = now;
  }
  reduce_grid(mine, motion{0, 0}, of_blocks, &state->arrived, join_motions{},
              [=](const motion& all) { state->speed.update(all, static_cast<double>(a.n), tolerance); });
}

template <class I, class O>
class device_executor final : public executor<device> {
 public:
  device_executor(const context<device>& ctx, const charged_graph<I, O, device>& g, const layout_options& options)
      : ctx_(ctx),
        n_(g.edges.vertices()),
        rows_(rows_of(g.edges)),
        rule_(options),
        tolerance_(options.jitter_tolerance),
        seed_(options.seed),
        lanes_(lanes_for(g.edges)),
        tree_(ctx, n_),
        memory_(ctx),
        positions_(ctx, 2 * n_),
        forces_(ctx, 2 * n_),
        state_(ctx, 1) {
    auto* const masses = memory_.take<float>(n_);
    arrays_ = {n_,
               masses,
               memory_.take<point>(n_),
               memory_.take<point>(n_),
               memory_.take<point>(n_),
               memory_.take<vector2>(n_)};
    blocks_ = blocks_for(ctx, n_, block_threads);
    lane_blocks_ = blocks_for(ctx, n_ * lanes_, block_threads);
    const std::int64_t most_blocks = std::max(blocks_, lane_blocks_);
    motions_ = memory_.take<motion>(most_blocks);
    sums_ = memory_.take<position_sums>(most_blocks);
    extents_ = memory_.take<extent>(most_blocks);
    set_masses(g, masses);
    find_long_rows();
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return tree_.bytes() + memory_.bytes() + long_rows_.size() * 4 + 4 * n_ * std::int64_t{sizeof(double)};
  }
  [[nodiscard]] span<const double, device> positions() const noexcept override { return positions_.view(); }
  [[nodiscard]] span<const double, device> forces() const noexcept override { return forces_.view(); }

  void run(span<const double, device> start, std::int64_t iterations) override {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    const frame around = take_start(start);
    device_state* const state = state_.data();
    const launch_shape shape(blocks_, block_threads);
    for (std::int64_t step = 0; step <= iterations; ++step) {
      if (step % tuning::look == 0) interruption::look();
      tree_.order(arrays_.points, &state->box);
      if (step == 0) {
        tree_.separate(arrays_.points, &state->box, seed_);
        launch_kernel(ctx_, shape, move_kernel<moves::none>, arrays_, sums_, state);
      }
      tree_.sum(arrays_.points, arrays_.masses, arrays_.repulsion);
      sum_forces();
      if (step < iterations) launch_kernel(ctx_, shape, move_kernel<moves::all>, arrays_, sums_, state);
    }
    put_results(around);
    ctx_.synchronize();
  }

  // --- Not private, since they hold device lambdas

  static device_rows<I, O> rows_of(const weighted_graph_view<double, I, O, device>& g) {
    const bool directed = g.direction == direction_kind::directed;
    return {{g.out.offsets.data(), g.in.offsets.data()},
            {g.out.indices.data(), g.in.indices.data()},
            {g.out_weights.data(), g.in_weights.data()},
            directed ? 2 : 1};
  }
  // Half of the mean length of a row, so that few lanes are idle.
  static int lanes_for(const weighted_graph_view<double, I, O, device>& g) {
    const double mean = static_cast<double>(g.out.nnz()) / static_cast<double>(std::max<std::int64_t>(g.vertices(), 1));
    return mean > 24 ? 32 : mean > 6 ? 8 : 2;
  }

  // Degree + 1, where a loop counts twice, unless they are given.
  void set_masses(const charged_graph<I, O, device>& g, float* to) {
    const float* const given = g.masses.data();
    for_each(ctx_, n_, [=, rows = rows_] __device__(std::int64_t v) {
      if (given != nullptr) {
        to[v] = given[v];
        return;
      }
      std::int64_t degree = rows.length(v);
      if (rows.sides == 1) {
        for (O e = rows.offsets[0][v]; e < rows.offsets[0][v + 1]; ++e) degree += rows.indices[0][e] == v ? 1 : 0;
      }
      to[v] = static_cast<float>(degree + 1);
    });
  }
  // Their order does not matter. Synchronizes.
  void find_long_rows() {
    array<unsigned, device> count(ctx_, 1);
    for (const bool counted : {false, true}) {
      fill_zero(ctx_, count.view());
      for_each(
          ctx_, n_,
          [rows = rows_, count = count.data(), to = counted ? long_rows_.data() : nullptr] __device__(std::int64_t v) {
            if (rows.length(v) <= tuning::long_row) return;
            const unsigned place = atomicAdd(count, 1U);
            if (to != nullptr) to[place] = static_cast<std::int32_t>(v);
          });
      if (counted) return;
      const unsigned all = element<unsigned>(ctx_, std::as_const(count).view(), 0);
      if (all == 0) return;
      long_rows_ = array<std::int32_t, device>(ctx_, all);
    }
  }

  // Synchronizes.
  [[nodiscard]] frame take_start(span<const double, device> start) {
    fill_zero(ctx_, state_.view());
    const launch_shape shape(blocks_, block_threads);
    launch_kernel(ctx_, shape, extent_kernel, n_, start.data(), extents_, state_.data());
    device_state seen = element<device_state>(ctx_, std::as_const(state_).view(), 0);
    const frame around = frame::around(seen.low[0], seen.low[1], seen.high[0], seen.high[1]);
    seen.speed = pace();
    copy<device_state>(ctx_, span<const device_state, host>(&seen, 1), state_.view());
    for_each(ctx_, n_, [a = arrays_, around, from = start.data()] __device__(std::int64_t v) {
      a.points[v] = {around.inward(around.x, from[2 * v]), around.inward(around.y, from[2 * v + 1])};
      a.forces[v] = {0, 0};
    });
    launch_kernel(ctx_, shape, move_kernel<moves::none>, arrays_, sums_, state_.data());
    return around;
  }

  void sum_forces() {
    if (long_rows_.size() > 0) {
      launch_kernel(ctx_, {long_rows_.size(), block_threads}, long_rows_kernel<I, O>, arrays_, rows_, rule_,
                    long_rows_.data());
    }
    const auto kernel = lanes_ == 32  ? forces_kernel<32, I, O>
                        : lanes_ == 8 ? forces_kernel<8, I, O>
                                      : forces_kernel<2, I, O>;
    launch_kernel(ctx_, {std::int64_t{lane_blocks_}, block_threads}, kernel, arrays_, rows_, rule_, tolerance_,
                  motions_, state_.data());
  }

  void put_results(const frame& around) {
    for_each(ctx_, n_,
             [a = arrays_, around, to = positions_.data(), forces = forces_.data()] __device__(std::int64_t v) {
               to[2 * v] = around.outward(around.x, a.points[v].x);
               to[2 * v + 1] = around.outward(around.y, a.points[v].y);
               forces[2 * v] = a.forces[v].x;
               forces[2 * v + 1] = a.forces[v].y;
             });
  }

 private:
  context<device> ctx_;
  std::int64_t n_;
  device_rows<I, O> rows_;
  force_rule rule_;
  double tolerance_;
  std::uint64_t seed_;
  int lanes_;
  device_tree tree_;
  plan_memory memory_;
  array<double, device> positions_, forces_;
  array<device_state, device> state_;
  array<std::int32_t, device> long_rows_;
  step_arrays arrays_;
  motion* motions_;
  position_sums* sums_;
  extent* extents_;
  unsigned blocks_, lane_blocks_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<device>> make_executor(const context<device>& ctx, const charged_graph<I, O, device>& g,
                                                const layout_options& options) {
  return std::make_unique<device_executor<I, O>>(ctx, g, options);
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<device>> make_executor(const context<device>&, const charged_graph<I, O, device>&, \
                                                           const layout_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::layout

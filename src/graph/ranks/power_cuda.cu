// Power iterations on the device: products of spmv_plan, whose copies suit the graph, and two small kernels per step.
//
// The first kernel sums the norm of a step's values, the second scales them, stores them in place and sums their
// change. Blocks add in a fixed order, and the block that finishes last adds the blocks' sums in order, so results are
// the same on every run. The norm, the change and the end of the iteration stay on the device; kernels launched after
// the end do nothing. The host reads the state only now and then: at first after two steps, then when the change is
// expected to have fallen below the limit, at the latest after eight steps. Cost of a step: that of the products, and 5
// doubles per vertex.
#include "core/bytes_of.hpp"
#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/ranks/check_schedule.hpp"
#include "graph/ranks/pattern_product.hpp"
#include "graph/ranks/power.hpp"
#include "graph/ranks/vectors.cuh"
#include "primitives/element.hpp"

#include <spargo/core/error.hpp>
#include <spargo/sparse/spmv.hpp>

#include <cmath>
#include <utility>

namespace spargo::detail::ranks {

namespace {

template <class I, class O>
class device_product final : public matrix_product<device> {
 public:
  device_product(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                 span<const double, device> weights)
      : ones_(ctx, weights.empty() ? rows.nnz() : 0), plan_(make_plan(ctx, rows, weights)) {
    if (plan_.storage() == spmv_storage::copied) ones_ = {};
  }

  void run(double factor, span<const double, device> x, span<double, device> y, const int*) const override {
    plan_.run(factor, x, 0.0, y);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(ones_) + plan_.workspace_bytes();
  }
  [[nodiscard]] std::string reason() const override {
    return "products by " + std::string(to_string(plan_.algorithm())) + ": " + plan_.reason();
  }

 private:
  spmv_plan<double, I, O, device> make_plan(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                            span<const double, device> weights) {
    fill_values(ctx, ones_, 1);
    const span<const double, device> values = weights.empty() ? std::as_const(ones_).view() : weights;
    return {ctx, csr_view<const double, I, O, device>{rows, values}, {.storage = spmv_storage::copied}};
  }

  array<double, device> ones_;  // values of a matrix without weights, if the plan reads them
  spmv_plan<double, I, O, device> plan_;
};

// Sum and maximum over vertices.
struct vertex_sums {
  double sum = 0;
  double most = 0;
};
struct combine_sums {
  __device__ vertex_sums operator()(const vertex_sums& a, const vertex_sums& b) const {
    return {a.sum + b.sum, a.most > b.most ? a.most : b.most};
  }
};

// In device memory.
struct power_state {
  double scale;   // of the current step's values
  double norm;    // of the values before, scaled
  double growth;  // of the norm by the last step
  double bound;
  double change;  // of the last step
  std::int64_t iterations;
  int done;
  int converged;
  unsigned arrived;  // blocks that have finished; 0 between kernels
};

// A step's values, before scaling.
struct step_values {
  std::int64_t n;
  const double* pulled;
  const double* before;
  const double* constants;  // null: constant
  double own;
  double constant;

  __device__ double operator[](std::int64_t v) const {
    return pulled[v] + own * before[v] + (constants == nullptr ? constant : constants[v]);
  }
};

// Reduces over the grid in a fixed order; `finish` runs in one thread of the block that finishes last.
template <class Finish>
__device__ void reduce_grid(vertex_sums mine, vertex_sums* of_blocks, unsigned* arrived, Finish finish) {
  __shared__ vertex_sums of_warps[block_threads / warp_size];
  mine = block_reduce(mine, of_warps, combine_sums{});
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = mine;
  if (!block_arrives_last(arrived, gridDim.x)) return;
  vertex_sums all;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    all = combine_sums{}(all, {__ldcg(&of_blocks[b].sum), __ldcg(&of_blocks[b].most)});
  }
  all = block_reduce(all, of_warps, combine_sums{});
  if (threadIdx.x == 0) finish(all);
}

__global__ void __launch_bounds__(block_threads)
    norm_kernel(step_values values, int squares, vertex_sums* of_blocks, power_state* state) {
  if (state->done != 0) return;
  vertex_sums mine;
  for (std::int64_t v = global_thread(); v < values.n; v += grid_threads()) {
    const double fresh = values[v];
    const double before = values.before[v];
    mine.sum += squares != 0 ? fresh * fresh : fresh;
    const double grown = before > 0 ? fresh / before : HUGE_VAL;
    mine.most = grown > mine.most ? grown : mine.most;
  }
  reduce_grid(mine, of_blocks, &state->arrived, [=](const vertex_sums& all) {
    const double norm = squares != 0 ? sqrt(all.sum) : all.sum;
    state->growth = norm / state->norm;
    state->bound = all.most < state->bound ? all.most : state->bound;
    state->scale = inverse_norm(norm);
    state->norm = norm * state->scale;
    if (isfinite(norm)) return;
    state->change = HUGE_VAL;
    ++state->iterations;
    state->done = 1;
  });
}

__global__ void __launch_bounds__(block_threads)
    step_kernel(step_values values, double* now, double limit, std::int64_t most, vertex_sums* of_blocks,
                power_state* state) {
  if (state->done != 0) return;
  const double scale = state->scale;
  vertex_sums mine;
  for (std::int64_t v = global_thread(); v < values.n; v += grid_threads()) {
    const double before = now[v];
    const double fresh = values[v] * scale;
    mine.sum += fabs(fresh - before);
    now[v] = fresh;
  }
  reduce_grid(mine, of_blocks, &state->arrived, [=](const vertex_sums& all) {
    const bool finite = isfinite(all.sum);
    state->change = finite ? all.sum : HUGE_VAL;
    state->converged = all.sum < limit ? 1 : 0;
    ++state->iterations;
    if (!finite || state->converged != 0 || state->iterations >= most) state->done = 1;
  });
}

// Per block: the sum of (value * unit)^power, and the maximum; of the whole vector in to[0].
__global__ void __launch_bounds__(block_threads)
    measure_kernel(std::int64_t n, const double* values, double unit, int squares, vertex_sums* of_blocks,
                   unsigned* arrived, vertex_sums* to) {
  vertex_sums mine;
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    const double value = values[v] * unit;
    mine.sum += squares != 0 ? value * value : value;
    // Values that are negative or not finite make the maximum infinite.
    const double seen = value >= 0 && isfinite(value) ? value : HUGE_VAL;
    mine.most = seen > mine.most ? seen : mine.most;
  }
  reduce_grid(mine, of_blocks, arrived, [=](const vertex_sums& all) { *to = all; });
}

class device_iteration final : public power_iteration<device> {
 public:
  device_iteration(const context<device>& ctx, std::string_view operation, std::int64_t vertices,
                   std::vector<std::shared_ptr<const matrix_product<device>>> products)
      : ctx_(ctx),
        operation_(operation),
        n_(vertices),
        blocks_(blocks_for(ctx, n_, block_threads)),
        products_(std::move(products)),
        x_(ctx, n_ + padding),
        y_(ctx, n_ + padding),
        z_(ctx, products_.size() > 1 ? n_ : 0),
        sums_(ctx, std::int64_t{blocks_} + 1),
        state_(ctx, 1) {}

  power_outcome run(const power_rule& rule, span<const double, device> constants,
                    span<const double, device> start) override {
    const device_guard guard(ctx_);
    fill_zero(ctx_, state_.view());
    expect(constants, "beta", vector_norm::none);
    expect(start, "start", rule.start);
    set_start(rule, start);
    power_state seen{.scale = 1,
                     .norm = norm_of(rule.each, x_),
                     .growth = 0,
                     .bound = std::numeric_limits<double>::infinity(),
                     .change = 0,
                     .iterations = 0,
                     .done = 0,
                     .converged = 0,
                     .arrived = 0};
    copy<power_state>(ctx_, span<const power_state, host>(&seen, 1), state_.view());
    // A limit of 0 is never met: one wait, at the end.
    check_schedule schedule;
    for (std::int64_t launched = 0, until = rule.limit > 0 ? check_schedule::first : rule.most; seen.done == 0;) {
      for (until = std::min(until, rule.most); launched < until; ++launched) take_step(rule, constants);
      seen = element<power_state>(ctx_, std::as_const(state_).view(), 0);
      until = launched + schedule.next(seen.iterations, seen.change, rule.limit);
    }
    if (products_.size() > 1) {
      products_[0]->run(rule.factor, values(), y_.view().subspan(0, n_), nullptr);
      scale(y_, norm_of(vector_norm::sum, y_));
    }
    if (rule.last != vector_norm::none) scale(x_, norm_of(rule.last, x_));
    return {seen.iterations, seen.change, seen.converged != 0, seen.growth, seen.bound};
  }

  [[nodiscard]] span<const double, device> values() const noexcept override { return x_.view().subspan(0, n_); }
  [[nodiscard]] span<const double, device> others() const noexcept override { return y_.view().subspan(0, n_); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    std::int64_t bytes = bytes_of(x_, y_, z_, sums_, state_);
    if (!products_.empty()) bytes += products_[0]->workspace_bytes();
    if (products_.size() > 1 && products_[1] != products_[0]) bytes += products_[1]->workspace_bytes();
    return bytes;
  }

 private:
  void take_step(const power_rule& rule, span<const double, device> constants) {
    const int* const done = &state_.data()->done;
    products_[0]->run(rule.factor, values(), y_.view().subspan(0, n_), done);
    if (products_.size() > 1) products_[1]->run(rule.factor, others(), z_.view(), done);
    const step_values values{.n = n_,
                             .pulled = products_.size() > 1 ? z_.data() : y_.data(),
                             .before = x_.data(),
                             .constants = constants.data(),
                             .own = rule.own,
                             .constant = rule.constant};
    if (rule.each != vector_norm::none) {
      launch_kernel(ctx_, {blocks_, block_threads}, norm_kernel, values, rule.each == vector_norm::euclidean ? 1 : 0,
                    sums_.data(), state_.data());
    }
    launch_kernel(ctx_, {blocks_, block_threads}, step_kernel, values, x_.data(), rule.limit, rule.most, sums_.data(),
                  state_.data());
  }

  // Synchronizes.
  vertex_sums measure(const double* values, double unit, bool squares) {
    vertex_sums* const to = sums_.data() + blocks_;
    launch_kernel(ctx_, {blocks_, block_threads}, measure_kernel, n_, values, unit, squares ? 1 : 0, sums_.data(),
                  &state_.data()->arrived, to);
    return element<vertex_sums>(ctx_, std::as_const(sums_).view(), blocks_);
  }

  void expect(span<const double, device> values, std::string_view name, vector_norm norm) {
    if (values.empty()) return;
    const vertex_sums seen = measure(values.data(), 1, false);
    expect_values(operation_, name, std::isfinite(seen.most), seen.most == 0, norm != vector_norm::none);
  }

  void set_start(const power_rule& rule, span<const double, device> start) {
    if (start.empty()) {
      fill_values(ctx_, x_, rule.initial);
      return;
    }
    copy(ctx_, start, x_.view().subspan(0, n_));
    if (rule.start != vector_norm::none) scale(x_, norm_of(rule.start, x_));
  }

  // As on the host. Synchronizes.
  double norm_of(vector_norm norm, const array<double, device>& values) {
    if (norm == vector_norm::none) return 0;
    if (norm == vector_norm::sum) return measure(values.data(), 1, false).sum;
    const double unit = inverse_norm(measure(values.data(), 1, false).most);
    return std::sqrt(measure(values.data(), unit, true).sum) / unit;
  }

  void scale(array<double, device>& values, double norm) {
    scale_values(ctx_, values, std::isfinite(norm) ? inverse_norm(norm) : 1);
  }

  static constexpr std::int64_t padding = 2;  // elements behind a vector, readable

  context<device> ctx_;
  std::string operation_;
  std::int64_t n_;
  unsigned blocks_;
  std::vector<std::shared_ptr<const matrix_product<device>>> products_;
  array<double, device> x_, y_, z_;  // the values; the first product; the second
  array<vertex_sums, device> sums_;  // [block], and of all
  array<power_state, device> state_;
};

}  // namespace

template <class I, class O, class Space>
std::unique_ptr<matrix_product<Space>> make_product(const context<Space>& ctx,
                                                    const csr_pattern_view<I, O, Space>& rows,
                                                    span<const double, Space> weights) {
  if (weights.empty()) {
    pattern_product copy = copy_pattern(ctx, rows);
    if (copy.product != nullptr) return std::move(copy.product);
  }
  return std::make_unique<device_product<I, O>>(ctx, rows, weights);
}
#define INSTANTIATE(I, O)                                        \
  template std::unique_ptr<matrix_product<device>> make_product( \
      const context<device>&, const csr_pattern_view<I, O, device>&, span<const double, device>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

template <class Space>
std::unique_ptr<power_iteration<Space>> make_iteration(
    const context<Space>& ctx, std::string_view operation, std::int64_t vertices,
    std::vector<std::shared_ptr<const matrix_product<Space>>> products) {
  return std::make_unique<device_iteration>(ctx, operation, vertices, std::move(products));
}
template std::unique_ptr<power_iteration<device>> make_iteration(
    const context<device>&, std::string_view, std::int64_t, std::vector<std::shared_ptr<const matrix_product<device>>>);

}  // namespace spargo::detail::ranks

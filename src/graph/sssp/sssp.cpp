// Names, checks, the choice of an algorithm and of the bucket width, and the plan.
#include "graph/plan.hpp"
#include "graph/sssp/executor.hpp"
#include "graph/sssp/host_bins.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace spargo {

namespace {

namespace paths = detail::sssp;

struct tuning {
  // Below this many vertices plus stored edges a heap is as fast as buckets. Dijkstra / delta-stepping, weights 1..255,
  // one thread of a Xeon: karate (190) 0.8 / 1.7 us, jagmesh7 (7,450) 43 / 59, road-minnesota (9,200) 150 / 83, dwt_992
  // (16,700) 69 / 99, wiki-Vote (208,000) 1346 / 1219, roads of Luxembourg (354,000) 57,100 / 4,260.
  static constexpr std::int64_t sequential_below = 8192;
  // Bucket widths in mean weights, by edges per vertex. CPU time of one thread of a Xeon, weights 1..255, widths of
  // 4 / 8 / 16: R-MAT 20, degree 16, 377 / 303 / 315 ms, uniform 2^20 597 / 484 / 495 (a busy machine); grid
  // 2000 x 2000, 64 / 256 / 512 / 1024 / 2048: 335 / 365 / 353 / 425 / 444, and wider buckets give each thread more
  // work.
  static constexpr double long_rows = 8;
  static constexpr double narrow = 0.1;
  static constexpr double wide = 5;
  // The same on the device. H200: R-MAT 22, widths of 4 / 8 / 12 / 16: 1.13 / 0.93 / 1.09 / 1.02 ms; uniform 2^22, 8 /
  // 16 / 24 / 32: 1.97 / 1.52 / 1.41 / 1.46; grid 2048 x 2048, 512 / 1024 / 2048 / 4096: 13.7 / 10.4 / 8.6 / 8.8.
  static constexpr double device_narrow = 0.19;
  static constexpr double device_wide = 20;
  // Limit of delta's exponent: its inverse and its first thousands of multiples are normal numbers.
  static constexpr int most_exponent = 900;
};

void check_options(const sssp_options& o, std::int64_t vertices) {
  SPARGO_EXPECTS(o.delta >= 0 && std::isfinite(o.delta),
                 fmt::format("sssp: delta {} (expected 0, for automatic, or more)", o.delta));
  SPARGO_EXPECTS(o.cutoff >= 0, fmt::format("sssp: cutoff {} (expected 0 or more)", o.cutoff));
  detail::expect_target("sssp", o.target, vertices);
}

using choice = detail::plan_choice<sssp_algorithm>;

template <class Space>
choice choose(sssp_algorithm requested, std::int64_t size) {
  if (auto named = detail::choose_by_name<Space>(paths::algorithms, "sssp", requested)) return *std::move(named);
  if constexpr (std::same_as<Space, device>) {
    return {sssp_algorithm::delta_stepping, "the device has no other algorithm"};
  }
  if (size < tuning::sequential_below) {
    return {sssp_algorithm::dijkstra, "the graph is too small for buckets to pay"};
  }
  return {sssp_algorithm::delta_stepping, "threads share the vertices of a bucket"};
}

// A power of 2; on the device that or 1.5 times a power of 2. Buckets are narrow where rows are long, so that fewer
// vertices are reached by a long path before a short one; wide where rows are short, so that every thread has work.
template <class Space>
double choose_delta(double requested, bool whole, const paths::weight_facts& weights, double degree) {
  constexpr bool on_device = std::same_as<Space, device>;
  constexpr double narrow = on_device ? tuning::device_narrow : tuning::narrow;
  constexpr double wide = on_device ? tuning::device_wide : tuning::wide;
  double delta = requested;
  if (delta == 0) delta = weights.mean * (degree >= tuning::long_rows ? narrow : wide);
  if (delta <= 0) delta = 1;
  const int least = whole ? 0 : -tuning::most_exponent;
  const double power = std::exp2(std::clamp(std::ilogb(delta), least, whole ? 62 : tuning::most_exponent));
  const bool fits = on_device && (!whole || power > 1) && delta >= 1.5 * power;
  return fits ? 1.5 * power : power;
}

}  // namespace

template <>
enum_table<sssp_algorithm> enum_rows() noexcept {
  return paths::algorithms;
}

template <>
enum_table<sssp_parents> enum_rows() noexcept {
  static constexpr std::array<enum_row<sssp_parents>, 2> rows{{
      {sssp_parents::any, "any"},
      {sssp_parents::smallest, "smallest"},
  }};
  return rows;
}

template <class W>
void detail::sssp::refuse_weight(std::int64_t from, std::int64_t to, W weight) {
  throw error(error_code::invalid_data,
              fmt::format("sssp: edge ({}, {}) has weight {} (expected 0 or more)", from, to, weight));
}
template void detail::sssp::refuse_weight(std::int64_t, std::int64_t, std::int32_t);
template void detail::sssp::refuse_weight(std::int64_t, std::int64_t, std::int64_t);
template void detail::sssp::refuse_weight(std::int64_t, std::int64_t, float);
template void detail::sssp::refuse_weight(std::int64_t, std::int64_t, double);

// Host: 8-byte lengths in 16-byte entries, in chunks; each thread may hold one chunk per slot. Device: results,
// lengths, buckets, the sorted copy, and scratch to sort 2^27 edges at a time.
plan_estimate estimate(const graph_shape& s, const sssp_options& options) {
  constexpr double entry_ns = 21;
  const bool heap =
      options.algorithm == sssp_algorithm::dijkstra ||
      (options.algorithm == sssp_algorithm::automatic && s.vertices + s.entries < tuning::sequential_below);
  const bool parents = options.output == sssp_output::distances_and_parents;
  using chunk = paths::bin_chunk<std::int64_t, double>;
  const std::int64_t chunks =
      s.vertices / paths::host_bins_tuning::chunk_entries * 5 / 4 + s.threads * paths::host_bins_tuning::slots + 1;
  plan_estimate of;
  of.host_bytes = s.vertices * (16 + (parents ? 2 * s.index_bytes : 0));
  if (heap) {
    of.host_bytes += s.vertices * (16 + s.index_bytes);
  } else {
    of.host_bytes += chunks * std::int64_t{sizeof(chunk) + sizeof(chunk*)} + s.vertices / 8 + s.threads * 4096;
  }
  const std::int64_t sorted = std::min(s.entries, std::int64_t{1} << 27) * 32;
  of.device_bytes =
      s.vertices * 160 + s.entries * (s.index_bytes + s.value_bytes + 1) + sorted + (std::int64_t{1} << 20);
  of.host_seconds = detail::expected_seconds(s, entry_ns);
  return of;
}

template <detail::scalar W, index_type I, index_type O, class Space>
struct detail::state_of<sssp_plan<W, I, O, Space>> : detail::executor_state<detail::sssp::executor<W, I, Space>> {
  double delta;
};

template <detail::scalar W, index_type I, index_type O, class Space>
sssp_plan<W, I, O, Space>::sssp_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                     const sssp_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::expect_graph("sssp", g);
    const std::int64_t vertices = g.vertices();
    check_options(options, vertices);
    choice chosen = choose<Space>(options.algorithm, vertices + g.out.nnz());
    const auto weights = paths::examine_weights<W, I, O>(ctx, g.out, g.out_weights);
    const double degree = static_cast<double>(g.out.nnz()) / static_cast<double>(std::max<std::int64_t>(1, vertices));
    sssp_options reduced = options;
    reduced.algorithm = chosen.algorithm;
    reduced.delta = choose_delta<Space>(options.delta, std::integral<W>, weights, degree);
    auto executor = paths::make_executor<W, I, O>(ctx, g, weights, reduced);
    const double delta = chosen.algorithm == sssp_algorithm::delta_stepping ? reduced.delta : 0;
    this->state_ = {std::move(chosen), std::make_unique<state>(state{{vertices, std::move(executor)}, delta})};
  } else {
    detail::no_device("sssp");
  }
} catch (...) {
  detail::rethrow("sssp");
}

template <detail::scalar W, index_type I, index_type O, class Space>
void sssp_plan<W, I, O, Space>::run(I source) try {
  detail::expect_source("sssp", source, this->state_->vertices);
  this->state_->executor->run(source);
} catch (...) {
  detail::rethrow("sssp");
}
template <detail::scalar W, index_type I, index_type O, class Space>
span<const sssp_distance<W>, Space> sssp_plan<W, I, O, Space>::distances() const noexcept {
  return this->state_->executor->distances();
}
template <detail::scalar W, index_type I, index_type O, class Space>
span<const I, Space> sssp_plan<W, I, O, Space>::parents() const noexcept {
  return this->state_->executor->parents();
}
template <detail::scalar W, index_type I, index_type O, class Space>
std::int64_t sssp_plan<W, I, O, Space>::reached() const noexcept {
  return this->state_->executor->reached();
}
template <detail::scalar W, index_type I, index_type O, class Space>
double sssp_plan<W, I, O, Space>::delta() const noexcept {
  return this->state_->delta;
}

template <detail::scalar W, index_type I, index_type O, class Space>
sssp_result<W, I, Space> sssp(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                              std::int64_t source, const sssp_options& options) try {
  detail::expect_source("sssp", source, g.vertices());
  sssp_plan<W, I, O, Space> plan(ctx, g, options);
  plan.run(static_cast<I>(source));
  return {clone(ctx, plan.distances()), clone(ctx, plan.parents()), static_cast<I>(source), plan.reached(),
          plan.algorithm()};
} catch (...) {
  detail::rethrow("sssp");
}

#define INSTANTIATE(W, I, O, Space)                       \
  template class sssp_plan<W, I, O, Space>;               \
  template sssp_result<W, I, Space> sssp<W, I, O, Space>( \
      const context<Space>&, const weighted_graph_view<W, I, O, Space>&, std::int64_t, const sssp_options&);
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE)

}  // namespace spargo

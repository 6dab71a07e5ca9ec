// Names, checks, the start of a layout, and the plan around the executors.
#include "core/bytes_of.hpp"
#include "graph/layout/algorithms.hpp"
#include "graph/layout/levels.hpp"
#include "graph/layout/pace.hpp"
#include "graph/plan.hpp"
#include "graph/ranks/double_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace spargo {

template <>
enum_table<layout_algorithm> enum_rows() noexcept {
  return detail::layout::algorithms;
}

template <>
enum_table<layout_start> enum_rows() noexcept {
  static constexpr detail::algorithm_table<layout_start, 2> rows{{
      {layout_start::multilevel, "multilevel"},
      {layout_start::random, "random"},
  }};
  return rows;
}

namespace detail::layout {

namespace {

constexpr double most_weight = 0x1p40;  // of forces in single precision, whose squares are summed

struct tuning {
  static constexpr std::int64_t coarsest_steps = 300;
  static constexpr std::int64_t coarse_steps = 100;  // of each other contracted graph
};

void expect_options(const layout_options& o) {
  SPARGO_EXPECTS(o.iterations >= 0, fmt::format("layout: {} iterations (expected 0 or more)", o.iterations));
  const auto expect_positive = [](const char* name, double value) {
    SPARGO_EXPECTS(value > 0 && std::isfinite(value),
                   fmt::format("layout: {} is {} (expected a finite number above 0)", name, value));
  };
  expect_positive("jitter_tolerance", o.jitter_tolerance);
  expect_positive("scaling_ratio", o.scaling_ratio);
  SPARGO_EXPECTS(o.gravity >= 0 && std::isfinite(o.gravity),
                 fmt::format("layout: gravity is {} (expected a finite number of 0 or more)", o.gravity));
  expect_named("layout", "start", o.start);
}

void expect_few_vertices(std::int64_t vertices) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (vertices <= most) return;
  throw error(error_code::unsupported, fmt::format("layout: {} vertices (expected at most {})", vertices, most));
}

// In a square whose side is about that of a layout.
array<double, host> random_start(std::int64_t vertices, double side, std::uint64_t seed) {
  array<double, host> start(context<host>(), 2 * vertices);
  for (std::int64_t k = 0; k < start.size(); ++k) {
    start[k] = side * (unit_interval(seed, static_cast<std::uint64_t>(k)) - 0.5);
  }
  return start;
}

// A contracted graph in the plan's memory space.
template <class Space>
struct placed_level;
template <>
struct placed_level<host> {
  explicit placed_level(const context<host>&, const coarse_graph& g) : graph(g.view()) {}
  charged_graph<std::int32_t, std::int64_t, host> graph;
};
template <>
struct placed_level<device> {
  placed_level(const context<device>& ctx, const coarse_graph& g)
      : offsets(to_device(ctx, g.offsets.view())),
        indices(to_device(ctx, g.indices.view())),
        weights(to_device(ctx, g.weights.view())),
        masses(to_device(ctx, g.masses.view())) {
    const auto n = static_cast<std::int32_t>(g.vertices());
    const csr_pattern_view<std::int32_t, std::int64_t, device> edges{n, n, std::as_const(offsets).view(),
                                                                     std::as_const(indices).view()};
    const span<const double, device> values = std::as_const(weights).view();
    graph = {{{edges, edges, direction_kind::undirected}, values, values}, std::as_const(masses).view()};
  }
  array<std::int64_t, device> offsets;
  array<std::int32_t, device> indices;
  array<double, device> weights;
  array<float, device> masses;
  charged_graph<std::int32_t, std::int64_t, device> graph;
};

// The graph on the host, for contraction: borrowed or copied.
template <class I, class O, class Space>
struct graph_on_host {
  charged_graph<I, O, host> view;
  graph<I, O, host> structure;
  array<double, host> out_weights, in_weights;

  graph_on_host() = default;
  graph_on_host(const context<Space>& ctx, const weighted_graph_view<double, I, O, Space>& g) {
    if constexpr (std::same_as<Space, host>) {
      view = {g, {}};
    } else {
      structure = to_host(ctx, static_cast<const graph_view<I, O, device>&>(g));
      if (!g.out_weights.empty()) out_weights = to_host(ctx, g.out_weights);
      if (g.direction == direction_kind::directed && !g.in_weights.empty()) in_weights = to_host(ctx, g.in_weights);
      const auto& in = g.direction == direction_kind::directed ? in_weights : out_weights;
      view = {{{structure.view()}, std::as_const(out_weights).view(), in.view()}, {}};
    }
  }
};

template <class Space>
array<double, Space> placed_start(const context<Space>& ctx, array<double, host> start) {
  if constexpr (std::same_as<Space, host>) {
    return start;
  } else {
    return to_device(ctx, std::as_const(start).view());
  }
}

// A plan's state. Level 0 is the graph.
template <class I, class O, class Space>
struct layouts {
  std::int64_t vertices = 0;
  layout_options options;
  context<Space> ctx;
  csr_matrix<pattern, I, O, Space> in_edges;  // of a directed graph without weights that lacks them
  ranks::double_weights<I, O, Space> weights;
  weighted_graph_view<double, I, O, Space> edges;
  std::unique_ptr<executor<Space>> finest;
  graph_on_host<I, O, Space> original;
  std::vector<coarse_graph> coarse;
  std::vector<placed_level<Space>> placed;
  std::vector<std::unique_ptr<executor<Space>>> coarser;  // [level - 1]
  std::int64_t levels_run = 0;

  layouts(const context<Space>& where, const layout_options& o) : options(o), ctx(where) {}

  void build() {
    vertices = edges.vertices();
    expect_few_vertices(vertices);
    if (options.start == layout_start::multilevel && vertices > 0) {
      const context<host> cpu = host_context();
      original = graph_on_host<I, O, Space>(ctx, edges);
      coarse = contract_all(cpu, original.view);
      placed.reserve(coarse.size());
      for (const coarse_graph& level : coarse) {
        placed.emplace_back(ctx, level);
        coarser.push_back(make_executor<std::int32_t, std::int64_t>(ctx, placed.back().graph, options));
      }
    }
    finest = make_executor<I, O>(ctx, charged_graph<I, O, Space>{edges, {}}, options);
  }

  void run(span<const double, Space> start) {
    levels_run = 1;
    if (vertices == 0) return;
    if (!start.empty()) {
      expect_coordinates("layout", start.size(), vertices);
      if constexpr (std::same_as<Space, host>) {
        expect_finite(start);
      } else {
        expect_finite(to_host(ctx, start).view());
      }
      return finest->run(start, options.iterations);
    }
    const double side = std::sqrt(options.scaling_ratio * static_cast<double>(edges.out.nnz() + vertices));
    array<double, host> next = random_start(coarse.empty() ? vertices : coarse.back().vertices(), side, options.seed);
    const context<host> cpu = host_context();
    for (std::size_t level = coarse.size(); level > 0; --level, ++levels_run) {
      executor<Space>& own = *coarser[level - 1];
      const std::int64_t steps = level == coarse.size() ? tuning::coarsest_steps : tuning::coarse_steps;
      own.run(placed_start(ctx, std::move(next)).view(), std::min(options.iterations, steps));
      const array<double, host> found = on_host(own.positions());
      const std::uint64_t seed = mixed_bits(options.seed, level);
      if (level == 1) {
        next = array<double, host>(cpu, 2 * vertices);
        place_finer(cpu, original.view, coarse[0], found.view(), seed, next.view());
      } else {
        next = array<double, host>(cpu, 2 * coarse[level - 2].vertices());
        place_finer(cpu, coarse[level - 2].view(), coarse[level - 1], found.view(), seed, next.view());
      }
    }
    finest->run(placed_start(ctx, std::move(next)).view(), options.iterations);
  }

  [[nodiscard]] array<double, host> on_host(span<const double, Space> values) const {
    if constexpr (std::same_as<Space, host>) {
      return clone(ctx, values);
    } else {
      return to_host(ctx, values);
    }
  }
  [[nodiscard]] context<host> host_context() const {
    if constexpr (std::same_as<Space, host>) {
      return ctx;
    } else {
      return context<host>();
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    std::int64_t bytes = finest->workspace_bytes() + weights.bytes() + bytes_of(in_edges.offsets(), in_edges.indices());
    for (const auto& level : coarser) bytes += level->workspace_bytes();
    for (const coarse_graph& level : coarse) {
      bytes += bytes_of(level.offsets, level.indices, level.weights, level.masses);
      if constexpr (std::same_as<Space, host>) bytes += bytes_of(level.group_of);
    }
    return bytes;
  }
};

}  // namespace

}  // namespace detail::layout

// Bytes per vertex: 34 of a tree, 60 of forces and moves, 16 of a start; contracted graphs take 140 more where vertices
// have four neighbours or fewer, and less the more they have. Nanoseconds of a step by one thread: uniform points,
// AVX2.
plan_estimate estimate(const graph_shape& s, const layout_options& o) {
  constexpr double vertex_ns = 200;
  constexpr double entry_ns = 4;
  const bool directed = s.direction == direction_kind::directed;
  const std::int64_t entries = directed ? 2 * s.entries : s.entries;
  plan_estimate of;
  of.host_bytes = 112 * s.vertices + 4096;
  of.device_bytes = 144 * s.vertices + (std::int64_t{1} << 20);
  if (o.start == layout_start::multilevel) {
    const double neighbours = static_cast<double>(entries) / static_cast<double>(std::max<std::int64_t>(s.vertices, 1));
    const auto coarse = static_cast<std::int64_t>(148 * std::min(1.0, 4.2 / std::max(neighbours, 1.0)));
    of.host_bytes += coarse * s.vertices;
    of.device_bytes += 2 * coarse * s.vertices;
  }
  of.host_bytes += s.missing_in_bytes();
  of.device_bytes += s.missing_in_bytes();
  const double step = vertex_ns * static_cast<double>(s.vertices) + entry_ns * static_cast<double>(entries);
  graph_shape one = s;
  one.vertices = 1;
  one.entries = 0;
  of.host_seconds = detail::expected_seconds(one, step * static_cast<double>(o.iterations + 1));
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<layout_plan<I, O, Space>> : detail::layout::layouts<I, O, Space> {
  using detail::layout::layouts<I, O, Space>::layouts;
};

template <index_type I, index_type O, class Space>
layout_plan<I, O, Space>::layout_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                      const layout_options& options) try {
  detail::layout::expect_options(options);
  detail::expect_graph("layout", g);
  this->state_ =
      detail::plan_only<state>(detail::layout::algorithms, "layout", options.algorithm, ctx, [&](const auto& where) {
        auto made = std::make_unique<state>(where, options);
        made->edges = {{g}, {}, {}};
        if (g.direction == direction_kind::directed && !g.has_in_edges() && g.vertices() > 0) {
          made->in_edges = transpose(where, csr_view<const pattern, I, O, Space>{g.out, {}});
          made->edges.in = std::as_const(made->in_edges).view();
        }
        made->build();
        return made;
      });
} catch (...) {
  detail::rethrow("layout");
}

template <index_type I, index_type O, class Space>
template <detail::scalar W>
layout_plan<I, O, Space>::layout_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                      const layout_options& options) try {
  detail::layout::expect_options(options);
  detail::expect_graph("layout", g);
  this->state_ =
      detail::plan_only<state>(detail::layout::algorithms, "layout", options.algorithm, ctx, [&](const auto& where) {
        auto made = std::make_unique<state>(where, options);
        made->weights = {"layout", where, g};
        if (made->weights.largest() > detail::layout::most_weight) {
          throw error(error_code::invalid_data,
                      fmt::format("layout: a weight of {} (expected at most 2^40, since forces "
                                  "are single precision)",
                                  made->weights.largest()));
        }
        made->edges = made->weights.view();
        made->build();
        return made;
      });
} catch (...) {
  detail::rethrow("layout");
}

template <index_type I, index_type O, class Space>
void layout_plan<I, O, Space>::run(span<const double, Space> start) try {
  this->state_->run(start);
} catch (...) {
  detail::rethrow("layout");
}
template <index_type I, index_type O, class Space>
span<const double, Space> layout_plan<I, O, Space>::positions() const noexcept {
  return this->state_->finest->positions();
}
template <index_type I, index_type O, class Space>
span<const double, Space> layout_plan<I, O, Space>::forces() const noexcept {
  return this->state_->finest->forces();
}
template <index_type I, index_type O, class Space>
std::int64_t layout_plan<I, O, Space>::levels() const noexcept {
  return this->state_->levels_run;
}

#define INSTANTIATE(I, O, S) template class layout_plan<I, O, S>;
#define INSTANTIATE_W(W, I, O, S)                                                                       \
  template layout_plan<I, O, S>::layout_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                             const layout_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE_W)

}  // namespace spargo

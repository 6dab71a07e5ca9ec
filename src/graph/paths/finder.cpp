// Paths between two vertices: Dijkstra's algorithm from both ends, and A* with bounds from coordinates.
//
// From both ends: each side keeps its lengths; an edge into a vertex that the other side has reached makes a path. When
// the nearest vertices of both sides together are as far as the best path, no better one is left.
//
// A*: the key of a vertex is its length plus scale * distance to the target, which no path undercuts. Rounding could
// lift a key above the length of a path, so the bound is decreased a little and the search goes on a little beyond the
// best length (last_key): so the result has the bits of a complete search.
#include "core/hypotenuse.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/frontier/row_of.hpp"
#include "graph/paths/growth.hpp"
#include "graph/plan.hpp"
#include "graph/sssp/executor.hpp"
#include "graph/structure/checks.hpp"

#include <spargo/graph/paths.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <optional>

namespace spargo {

template <>
enum_table<path_metric> enum_rows() noexcept {
  static constexpr std::array<enum_row<path_metric>, 2> rows{{
      {path_metric::euclidean, "euclidean"},
      {path_metric::great_circle, "great_circle"},
  }};
  return rows;
}

namespace detail::paths {

namespace {

constexpr double shrunk = 1 - 1e-7;  // factor of bounds: distances of opposite points are rounded by 1e-8

class placement {
 public:
  placement(std::int64_t vertices, const path_options& o) : o_(o) {
    if (o.coordinates.empty()) return;
    SPARGO_EXPECTS(o.dimensions > 0 && o.coordinates.size() == vertices * o.dimensions,
                   fmt::format("path_finder: {} coordinates of {} vertices (expected {} each)", o.coordinates.size(),
                               vertices, o.dimensions));
    SPARGO_EXPECTS(o.metric == path_metric::euclidean || o.dimensions == 2,
                   fmt::format("path_finder: {} coordinates a vertex (expected longitude and latitude)", o.dimensions));
    SPARGO_EXPECTS(!std::isnan(o.scale) && o.scale < std::numeric_limits<double>::infinity(),
                   fmt::format("path_finder: scale {} (expected a finite number)", o.scale));
    for (std::int64_t k = 0; k < o.coordinates.size(); ++k) {
      SPARGO_EXPECTS(std::isfinite(o.coordinates[k]),
                     fmt::format("path_finder: vertex {} has a coordinate {} (expected a finite number)",
                                 k / o.dimensions, o.coordinates[k]));
    }
  }

  [[nodiscard]] bool exists() const { return !o_.coordinates.empty(); }

  [[nodiscard]] double distance(std::int64_t u, std::int64_t v) const {
    const double* const a = o_.coordinates.data() + u * o_.dimensions;
    const double* const b = o_.coordinates.data() + v * o_.dimensions;
    if (o_.metric == path_metric::great_circle) return angle(a, b);
    double sum = 0;
    for (std::int64_t k = 0; k < o_.dimensions; ++k) sum = detail::hypotenuse(sum, a[k] - b[k]);
    return sum;
  }

 private:
  // Haversine formula.
  [[nodiscard]] static double angle(const double* a, const double* b) {
    constexpr double radians = std::numbers::pi / 180;
    const double north = std::sin((a[1] - b[1]) * radians / 2);
    const double east = std::sin((a[0] - b[0]) * radians / 2);
    const double h = north * north + std::cos(a[1] * radians) * std::cos(b[1] * radians) * east * east;
    return 2 * std::asin(std::min(1.0, std::sqrt(h)));
  }

  path_options o_;
};

// The largest scale with which no edge is shorter than the distance of its ends; checks the one that is given.
template <class W, class I, class O>
double choose_scale(const weighted_graph_view<W, I, O, host>& g, const placement& at, double given) {
  if (!at.exists()) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (I u = 0; u < g.vertices(); ++u) {
    for (O e = g.out.offsets[u]; e < g.out.offsets[std::int64_t{u} + 1]; ++e) {
      const double distance = at.distance(u, g.out.indices[e]);
      const auto weight = static_cast<double>(g.out_weights[e]);
      SPARGO_EXPECTS(
          given < 0 || weight >= given * distance * shrunk,
          fmt::format("path_finder: edge ({}, {}) has weight {}, and {} times the distance of its ends is {} "
                      "(expected no edge to be shorter)",
                      u, g.out.indices[e], g.out_weights[e], given, given * distance));
      if (distance > 0) least = std::min(least, weight / distance);
    }
  }
  if (given >= 0) return given;
  return std::isfinite(least) ? least : 0;
}

}  // namespace

}  // namespace detail::paths

template <detail::scalar W, index_type I, index_type O>
struct path_finder<W, I, O>::state {
  using D = detail::sssp::wide_length<W>;
  using side = detail::paths::growth<D, I>;

  state(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& graph, const path_options& options)
      : g(graph), at(graph.vertices(), options), scale(detail::paths::choose_scale(graph, at, options.scale)) {
    if (at.exists()) {
      guided.emplace(ctx, g.vertices());
      return;
    }
    forward.emplace(ctx, g.vertices());
    if (g.direction == direction_kind::undirected) {
      g.in = g.out;
      g.in_weights = g.out_weights;
    }
    if (g.has_in_edges()) backward.emplace(ctx, g.vertices());
  }

  std::vector<I> find(I source, I target) {
    if (guided) return search_guided(source, target);
    return backward ? search_both(source, target) : search_forward(source, target);
  }

  std::vector<I> search_guided(I source, I target) {
    const auto rest = [&](I v) { return scale * at.distance(v, target) * detail::paths::shrunk; };
    guided->start(source, D{0}, rest(source));
    while (guided->has_more()) {
      if (guided->has_reached(target) &&
          guided->nearest().key > detail::paths::last_key(guided->length(target), g.vertices())) {
        break;
      }
      const auto [key, length, u] = guided->take();
      detail::paths::for_each_edge(g.out, g.out_weights.data(), u, [&](I v, W w) {
        const D path = detail::sssp::longer(length, w);
        if (path < guided->length(v)) guided->offer(v, path, u, static_cast<double>(path) + rest(v));
      });
    }
    expanded = guided->taken();
    return traced(*guided, target);
  }

  std::vector<I> search_forward(I source, I target) {
    forward->start(source, D{0}, D{0});
    while (forward->has_more() && forward->nearest().vertex != target) expand(*forward, g.out, g.out_weights);
    expanded = forward->taken();
    return traced(*forward, target);
  }

  std::vector<I> search_both(I source, I target) {
    if (source == target) return {source};
    forward->start(source, D{0}, D{0});
    backward->start(target, D{0}, D{0});
    best = detail::sssp::unreached<D>;
    while (forward->has_more() && backward->has_more()) {
      if (forward->nearest().key + backward->nearest().key >= best) break;
      if (forward->nearest().key <= backward->nearest().key) {
        expand(*forward, g.out, g.out_weights, &*backward);
      } else {
        expand(*backward, g.in, g.in_weights, &*forward);
      }
    }
    expanded = forward->taken() + backward->taken();
    if (best == detail::sssp::unreached<D>) return {};
    std::vector<I> path;
    forward->trace(meeting, path);
    std::reverse(path.begin(), path.end());
    path.pop_back();
    backward->trace(meeting, path);
    return path;
  }

  void expand(side& own, const csr_pattern_view<I, O, host>& rows, const span<const W, host>& weights,
              const side* other = nullptr) {
    const auto [key, length, u] = own.take();
    detail::paths::for_each_edge(rows, weights.data(), u, [&](I v, W w) {
      const D path = detail::sssp::longer(length, w);
      if (!own.offer(v, path, u, path) || other == nullptr || !other->has_reached(v)) return;
      const D whole = path + other->length(v);
      if (whole >= best) return;
      best = whole;
      meeting = v;
    });
  }

  template <class Growth>
  [[nodiscard]] static std::vector<I> traced(const Growth& search, I target) {
    std::vector<I> path;
    if (search.has_reached(target)) search.trace(target, path);
    std::reverse(path.begin(), path.end());
    return path;
  }

  weighted_graph_view<W, I, O, host> g;
  detail::paths::placement at;
  double scale;
  std::optional<side> forward, backward;
  std::optional<detail::paths::growth<D, I, double>> guided;
  D best = 0;
  I meeting = 0;
  std::int64_t expanded = 0;
};

template <detail::scalar W, index_type I, index_type O>
path_finder<W, I, O>::path_finder(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                  const path_options& options) try {
  detail::expect_graph("path_finder", g);
  (void)detail::sssp::examine_weights(ctx, g.out, g.out_weights);
  state_ = detail::new_state<state>(ctx, g, options);
} catch (...) {
  detail::rethrow("path_finder");
}

template <detail::scalar W, index_type I, index_type O>
path_result<W, I> path_finder<W, I, O>::find(I source, I target) try {
  const std::int64_t n = state_->g.vertices();
  detail::structure::expect_vertex("path_finder", source, n);
  detail::structure::expect_vertex("path_finder", target, n);
  state_->expanded = 0;
  path_result<W, I> found{state_->find(source, target)};
  if (found.exists()) {
    using D = typename state::D;
    const D length = detail::paths::length_of<D>(state_->g.out, state_->g.out_weights.data(), found.vertices);
    found.length = static_cast<sssp_distance<W>>(length);
  }
  return found;
} catch (...) {
  detail::rethrow("path_finder");
}

template <detail::scalar W, index_type I, index_type O>
std::int64_t path_finder<W, I, O>::expanded() const noexcept {
  return state_->expanded;
}

template <detail::scalar W, index_type I, index_type O>
double path_finder<W, I, O>::scale() const noexcept {
  return state_->scale;
}

#define INSTANTIATE(W, I, O) template class path_finder<W, I, O>;
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

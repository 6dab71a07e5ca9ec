// Whether forces are those at the positions: sums over all other vertices, in double precision, and the stress.
//
// The error of the forces is measured against the sizes of the repulsion and the attraction that they are made of,
// root mean square over the vertices looked at, since the two cancel in a finished layout.
#include "core/hypotenuse.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/layout/executor.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/layout.hpp>
#include <spargo/graph/weights.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

namespace spargo {

namespace {

constexpr double most_error = 1e-3;
constexpr std::int64_t most_pairs = std::int64_t{1} << 29;

using plane = std::complex<double>;

template <class W, class I, class O>
class force_oracle {
 public:
  force_oracle(const context<host>& ctx, const graph_view<I, O, host>& g, const span<const W, host>& weights,
               const layout_result<host>& found, const layout_options& options)
      : threads_(ctx.threads()), n_(g.vertices()), g_(g), weights_(weights), found_(found), options_(options) {}

  [[nodiscard]] std::string fault() {
    for (std::int64_t k = 0; k < 2 * n_; ++k) {
      if (!std::isfinite(found_.positions[k]) || !std::isfinite(found_.forces[k])) {
        return fmt::format("vertex {} is at {} with a force of {} (expected finite numbers)", k / 2,
                           found_.positions[k], found_.forces[k]);
      }
    }
    count_degrees();
    mean_ = 0;
    for (std::int64_t v = 0; v < n_; ++v) mean_ += position(v) / static_cast<double>(n_);
    draw_samples();
    add_up_pulls();
    return compare();
  }

 private:
  struct sums {
    double error = 0, size = 0;
  };

  [[nodiscard]] plane position(std::int64_t v) const { return {found_.positions[2 * v], found_.positions[2 * v + 1]}; }
  [[nodiscard]] double weight_of(O e) const { return weights_.empty() ? 1 : static_cast<double>(weights_[e]); }

  [[nodiscard]] bool is_directed() const { return g_.direction == direction_kind::directed; }

  void count_degrees() {
    masses_.assign(static_cast<std::size_t>(n_), 1.0);
    if (is_directed()) {
      for (std::int64_t v = 0; v < n_; ++v) {
        masses_[static_cast<std::size_t>(v)] += static_cast<double>(g_.out.offsets[v + 1] - g_.out.offsets[v]);
      }
      for (const I u : g_.out.indices) masses_[static_cast<std::size_t>(u)] += 1;
      return;
    }
    detail::parallel_for(threads_, n_, detail::grain::rows, [&](std::int64_t v) {
      for (O e = g_.out.offsets[v]; e < g_.out.offsets[v + 1]; ++e) {
        masses_[static_cast<std::size_t>(v)] += g_.out.indices[e] == v ? 2 : 1;
      }
    });
  }

  void draw_samples() {
    samples_.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(most_pairs / n_, 1, n_)));
    const bool is_all = std::ssize(samples_) == n_;
    sampled_.assign(static_cast<std::size_t>(n_), is_all ? 1 : 0);
    for (std::size_t k = 0; k < samples_.size(); ++k) {
      const std::uint64_t v = is_all ? k : detail::mixed_bits(7, k) % static_cast<std::uint64_t>(n_);
      samples_[k] = static_cast<std::int64_t>(v);
      sampled_[v] = 1;
    }
  }

  // Of the samples.
  void add_up_pulls() {
    pulls_.assign(static_cast<std::size_t>(n_), {});
    for (std::int64_t v = 0; v < n_; ++v) {
      const bool wanted = sampled_[static_cast<std::size_t>(v)] != 0;
      if (!wanted && !is_directed()) continue;
      for (O e = g_.out.offsets[v]; e < g_.out.offsets[v + 1]; ++e) {
        const I u = g_.out.indices[e];
        if (wanted || sampled_[static_cast<std::size_t>(u)] != 0) pull(v, u, weight_of(e));
      }
    }
  }

  // An undirected edge is stored in both rows.
  void pull(std::int64_t v, std::int64_t u, double weight) {
    const plane way = position(u) - position(v);
    const double distance = std::abs(way);
    if (distance == 0) return;
    const bool linear = options_.attraction == layout_attraction::linear;
    const plane force = weight * (linear ? distance : std::log(1 + distance)) / distance * way;
    pulls_[static_cast<std::size_t>(v)] += force;
    if (is_directed()) pulls_[static_cast<std::size_t>(u)] -= force;
  }

  [[nodiscard]] plane push(std::int64_t v) const {
    const plane here = position(v);
    plane sum = 0;
    for (std::int64_t u = 0; u < n_; ++u) {
      const double dx = here.real() - found_.positions[2 * u];
      const double dy = here.imag() - found_.positions[2 * u + 1];
      const double distance2 = dx * dx + dy * dy;
      if (distance2 > 0) sum += plane(dx, dy) * (masses_[static_cast<std::size_t>(u)] / distance2);
    }
    return options_.scaling_ratio * masses_[static_cast<std::size_t>(v)] * sum;
  }

  [[nodiscard]] sums look_at(std::int64_t v) const {
    const double mass = masses_[static_cast<std::size_t>(v)];
    const plane attraction = pulls_[static_cast<std::size_t>(v)] / (options_.dissuades_hubs ? mass : 1);
    const plane repulsion = push(v);
    const plane away = position(v) - mean_;
    const double distance = std::abs(away);
    plane gravity = -options_.gravity * mass * away;
    if (options_.gravity_kind == layout_gravity::constant) gravity = distance > 0 ? gravity / distance : 0;
    const plane force(found_.forces[2 * v], found_.forces[2 * v + 1]);
    return {std::norm(force - (attraction + repulsion + gravity)),
            std::norm(attraction) + std::norm(repulsion) + std::norm(gravity)};
  }

  [[nodiscard]] std::string compare() const {
    std::vector<sums> seen(samples_.size());
    detail::parallel_parts(threads_, std::ssize(samples_), [&](std::int64_t k) {
      interruption::look();
      seen[static_cast<std::size_t>(k)] = look_at(samples_[static_cast<std::size_t>(k)]);
    });
    sums all;
    for (const sums& one : seen) {
      all.error += one.error;
      all.size += one.size;
    }
    const double error = all.size > 0 ? std::sqrt(all.error / all.size) : std::sqrt(all.error);
    if (error <= most_error) return {};
    return fmt::format("forces differ by {:.2g} of their size from sums over all vertices (expected at most {:g})",
                       error, most_error);
  }

  int threads_;
  std::int64_t n_;
  graph_view<I, O, host> g_;
  span<const W, host> weights_;
  const layout_result<host>& found_;
  layout_options options_;
  std::vector<double> masses_;
  std::vector<std::int64_t> samples_;  // vertices whose forces are compared
  std::vector<char> sampled_;          // [vertex]
  std::vector<plane> pulls_;
  plane mean_ = 0;
};

template <class W, class I, class O>
std::string check(const context<host>& ctx, const graph_view<I, O, host>& g, const span<const W, host>& weights,
                  const layout_result<host>& found, const layout_options& options) {
  const std::int64_t values = 2 * std::int64_t{g.vertices()};
  if (found.positions.size() != values || found.forces.size() != values) {
    return fmt::format("{} coordinates and {} of forces for {} vertices", found.positions.size(), found.forces.size(),
                       g.vertices());
  }
  if (values == 0) return {};
  return force_oracle<W, I, O>(ctx, g, weights, found, options).fault();
}

// Every row's neighbours in both directions.
template <class I, class O>
csr_matrix<pattern, I, std::int64_t, host> both_ways(const context<host>& ctx, const graph_view<I, O, host>& g) {
  const detail::with_in_edges<I, O, host> pulled(ctx, g);
  const csr_pattern_view<I, O, host>& out = pulled.view().out;
  const csr_pattern_view<I, O, host>& in = pulled.view().in;
  array<std::int64_t, host> offsets(ctx, std::int64_t{out.rows} + 1);
  array<I, host> indices(ctx, out.nnz() + in.nnz());
  detail::parallel_for(ctx.threads(), offsets.size(), detail::grain::rows, [&](std::int64_t v) {
    offsets[v] = std::int64_t{out.offsets[v]} + in.offsets[v];
    if (v == out.rows) return;
    I* const to = std::copy(out.indices.data() + out.offsets[v], out.indices.data() + out.offsets[v + 1],
                            indices.data() + offsets[v]);
    std::copy(in.indices.data() + in.offsets[v], in.indices.data() + in.offsets[v + 1], to);
  });
  return {out.rows, out.rows, std::move(offsets), std::move(indices), {}};
}

// Of the pairs of each source and the vertices that a search finds; sums have a fixed order.
template <class I, class O>
double stress(const context<host>& ctx, const graph_view<I, O, host>& g, const span<const double, host>& positions,
              const std::vector<I>& sources) {
  struct sums {
    double pairs = 0, ratios = 0, squares = 0;
  };
  constexpr std::int64_t part = std::int64_t{1} << 14;  // vertices
  bfs_plan<I, O, host> search(ctx, g, {.output = bfs_output::levels});
  const detail::parts ranges = detail::chunks_of(g.vertices(), part);
  std::vector<sums> found(static_cast<std::size_t>(ranges.count));
  for (const I source : sources) {
    search.run(source);
    detail::parallel_parts(ctx.threads(), ranges.count, [&](std::int64_t p) {
      sums& own = found[static_cast<std::size_t>(p)];
      for (std::int64_t v = ranges.first(p); v < ranges.last(p); ++v) {
        const auto depth = search.levels()[v];
        if (depth <= 0) continue;
        const double ratio = detail::hypotenuse(positions[2 * v] - positions[2 * std::int64_t{source}],
                                                positions[2 * v + 1] - positions[2 * std::int64_t{source} + 1]) /
                             static_cast<double>(depth);
        own.pairs += 1;
        own.ratios += ratio;
        own.squares += ratio * ratio;
      }
    });
  }
  sums all;
  for (const sums& one : found) {
    all.pairs += one.pairs;
    all.ratios += one.ratios;
    all.squares += one.squares;
  }
  if (all.pairs == 0) return 0;
  return all.squares > 0 ? std::max(0.0, 1 - all.ratios / all.squares * (all.ratios / all.pairs)) : 1;
}

}  // namespace

template <index_type I, index_type O>
std::string check_layout(const context<host>& ctx, const graph_view<I, O, host>& g, const layout_result<host>& found,
                         const layout_options& options) try {
  return check<double, I, O>(ctx, g, {}, found, options);
} catch (...) {
  detail::rethrow("check_layout");
}
template <detail::scalar W, index_type I, index_type O>
std::string check_layout(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                         const layout_result<host>& found, const layout_options& options) try {
  return check<W, I, O>(ctx, g, g.out_weights, found, options);
} catch (...) {
  detail::rethrow("check_layout");
}

// With u the distance in the layout over that in the graph, the best scale is sum u / sum u^2, which leaves
// 1 - (sum u)^2 / (pairs * sum u^2).
template <index_type I, index_type O>
double layout_stress(const context<host>& ctx, const graph_view<I, O, host>& g,
                     std::type_identity_t<span<const double, host>> positions, std::int64_t sources,
                     std::uint64_t seed) try {
  const std::int64_t n = g.vertices();
  detail::layout::expect_coordinates("layout_stress", positions.size(), n);
  std::vector<I> drawn(static_cast<std::size_t>(std::clamp<std::int64_t>(sources, 0, n)));
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    drawn[k] = static_cast<I>(n <= sources ? k : detail::mixed_bits(seed, k) % static_cast<std::uint64_t>(n));
  }
  if (drawn.empty()) return 0;
  if (g.direction == direction_kind::undirected) return stress<I, O>(ctx, g, positions, drawn);
  const csr_matrix<pattern, I, std::int64_t, host> both = both_ways<I, O>(ctx, g);
  const csr_pattern_view<I, std::int64_t, host> rows = both.view();
  return stress<I, std::int64_t>(ctx, {rows, rows, direction_kind::undirected}, positions, drawn);
} catch (...) {
  detail::rethrow("layout_stress");
}

#define INSTANTIATE(I, O)                                                                                            \
  template std::string check_layout<I, O>(const context<host>&, const graph_view<I, O, host>&,                       \
                                          const layout_result<host>&, const layout_options&);                        \
  template double layout_stress<I, O>(const context<host>&, const graph_view<I, O, host>&, span<const double, host>, \
                                      std::int64_t, std::uint64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_W(W, I, O)                                                                                \
  template std::string check_layout<W, I, O>(const context<host>&, const weighted_graph_view<W, I, O, host>&, \
                                             const layout_result<host>&, const layout_options&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE_W)

}  // namespace spargo

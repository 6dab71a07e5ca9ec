// ForceAtlas2 on the host. Per step: repulsion by a tree (tree.hpp), then in the order of vertices attraction, gravity
// and the swing of forces, then the moves. Sums over all vertices are made of chunks of fixed size, added in order: the
// same bits for any number of threads. Forces of edges are added in double precision.
#include "core/bytes_of.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "graph/layout/levels.hpp"
#include "graph/layout/pace.hpp"
#include "graph/layout/tree.hpp"

#include <spargo/core/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace spargo::detail::layout {

namespace {

struct tuning {
  static constexpr std::int64_t chunk = 1024;  // vertices whose sums are added up together
};

// Of a chunk of vertices.
struct chunk_sums {
  double x = 0, y = 0;  // of positions
  motion moved{0, 0};
  bounds box{{0, 0}, {0, 0}};
};

template <class I, class O>
class host_executor final : public executor<host> {
 public:
  host_executor(const context<host>& ctx, const charged_graph<I, O, host>& g, const layout_options& options)
      : threads_(ctx.threads()),
        n_(g.edges.vertices()),
        seed_(options.seed),
        tolerance_(options.jitter_tolerance),
        rule_(options),
        edges_(g.edges),
        tree_(ctx, n_),
        masses_(ctx, n_),
        points_(ctx, n_),
        forces_(ctx, n_),
        repulsion_(ctx, n_),
        out_positions_(ctx, 2 * n_),
        out_forces_(ctx, 2 * n_),
        sums_(static_cast<std::size_t>((n_ + tuning::chunk - 1) / tuning::chunk)) {
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t v) {
      masses_[v] = g.masses.empty() ? static_cast<float>(degree_of<I, O>(edges_, v) + 1) : g.masses[v];
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return tree_.bytes() + bytes_of(masses_, points_, forces_, repulsion_, out_positions_, out_forces_) +
           static_cast<std::int64_t>(sums_.size() * sizeof(chunk_sums));
  }
  [[nodiscard]] span<const double, host> positions() const noexcept override { return out_positions_.view(); }
  [[nodiscard]] span<const double, host> forces() const noexcept override { return out_forces_.view(); }

  void run(span<const double, host> start, std::int64_t iterations) override {
    if (n_ == 0) return;
    take_start(start);
    pace speed;
    for (std::int64_t step = 0; step <= iterations; ++step) {
      if (step == 0) {
        tree_.order(points_.data(), box_);
        tree_.separate(points_.data(), parting_distance(box_), seed_);
        sum_positions();
      }
      tree_.sum(points_.data(), masses_.data(), box_, repulsion_.data());
      const motion moved = sum_forces();
      if (step == iterations) break;
      speed.update(moved, static_cast<double>(n_), tolerance_);
      move(speed);
    }
    put_results();
  }

 private:
  template <class Body>
  void for_each_chunk(Body&& body) {
    const auto chunks = static_cast<std::int64_t>(sums_.size());
    parallel_parts(useful_threads(threads_, chunks, 4), chunks, [&](std::int64_t chunk) {
      const std::int64_t first = chunk * tuning::chunk;
      sums_[static_cast<std::size_t>(chunk)] = body(first, std::min(first + tuning::chunk, n_));
    });
  }

  void take_start(span<const double, host> start) {
    double low[2] = {start[0], start[1]};
    double high[2] = {start[0], start[1]};
    for (std::int64_t k = 0; k < 2 * n_; ++k) {
      low[k % 2] = std::min(low[k % 2], start[k]);
      high[k % 2] = std::max(high[k % 2], start[k]);
    }
    frame_ = frame::around(low[0], low[1], high[0], high[1]);
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) {
      points_[v] = {frame_.inward(frame_.x, start[2 * v]), frame_.inward(frame_.y, start[2 * v + 1])};
      forces_[v] = {0, 0};
    });
    sum_positions();
  }

  // Adds up the chunks' sums of positions and their boxes.
  void gather_positions() {
    double x = 0;
    double y = 0;
    box_ = sums_.front().box;
    for (const chunk_sums& part : sums_) {
      x += part.x;
      y += part.y;
      box_.add(part.box);
    }
    mean_ = {x / static_cast<double>(n_), y / static_cast<double>(n_)};
  }
  void sum_positions() {
    for_each_chunk([&](std::int64_t first, std::int64_t last) { return sums_of(first, last); });
    gather_positions();
  }
  [[nodiscard]] chunk_sums sums_of(std::int64_t first, std::int64_t last) const {
    chunk_sums part;
    part.box = {points_[first], points_[first]};
    for (std::int64_t v = first; v < last; ++v) {
      const point z = points_[v];
      part.x += z.x;
      part.y += z.y;
      part.box.add(z);
    }
    return part;
  }

  [[nodiscard]] point force_on(std::int64_t v) const {
    vector2 attraction;
    for_each_edge(edges_, v,
                  [&](std::int64_t u, double weight) { rule_.attract(attraction, points_[v], points_[u], weight); });
    return rule_.total(attraction, repulsion_[v], masses_[v], points_[v], mean_);
  }

  // Replaces the forces; the ones before stay in `repulsion_`.
  [[nodiscard]] motion sum_forces() {
    interruption::look();
    for_each_chunk([&](std::int64_t first, std::int64_t last) {
      chunk_sums part;
      for (std::int64_t v = first; v < last; ++v) {
        const point now = force_on(v);
        const point before = forces_[v];
        part.moved.swing += masses_[v] * length(now - before);
        part.moved.traction += 0.5 * masses_[v] * length(now + before);
        repulsion_[v] = before;
        forces_[v] = now;
      }
      return part;
    });
    motion all{0, 0};
    for (const chunk_sums& part : sums_) {
      all.swing += part.moved.swing;
      all.traction += part.moved.traction;
    }
    return all;
  }

  void move(const pace& speed) {
    for_each_chunk([&](std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v) {
        points_[v] = moved(points_[v], forces_[v], repulsion_[v], masses_[v], speed);
      }
      return sums_of(first, last);
    });
    gather_positions();
  }

  void put_results() {
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) {
      out_positions_[2 * v] = frame_.outward(frame_.x, points_[v].x);
      out_positions_[2 * v + 1] = frame_.outward(frame_.y, points_[v].y);
      out_forces_[2 * v] = forces_[v].x;
      out_forces_[2 * v + 1] = forces_[v].y;
    });
  }

  int threads_;
  std::int64_t n_;
  std::uint64_t seed_;
  double tolerance_;
  force_rule rule_;
  weighted_graph_view<double, I, O, host> edges_;
  repulsion_tree tree_;
  array<float, host> masses_;
  array<point, host> points_, forces_, repulsion_;
  array<double, host> out_positions_, out_forces_;
  std::vector<chunk_sums> sums_;
  frame frame_;
  bounds box_{{0, 0}, {0, 0}};
  vector2 mean_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<host>> make_executor(const context<host>& ctx, const charged_graph<I, O, host>& g,
                                              const layout_options& options) {
  return std::make_unique<host_executor<I, O>>(ctx, g, options);
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<host>> make_executor(const context<host>&, const charged_graph<I, O, host>&, \
                                                         const layout_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

void expect_coordinates(std::string_view operation, std::int64_t values, std::int64_t vertices) {
  if (values == 2 * vertices) return;
  throw error(error_code::invalid_argument,
              fmt::format("{}: {} coordinates (expected {}, two per vertex)", operation, values, 2 * vertices));
}
void expect_finite(span<const double, host> start) {
  for (std::int64_t k = 0; k < start.size(); ++k) {
    if (std::isfinite(start[k])) continue;
    throw error(error_code::invalid_argument, fmt::format("layout: vertex {} starts at {} = {} (expected finite)",
                                                          k / 2, k % 2 == 0 ? "x" : "y", start[k]));
  }
}

}  // namespace spargo::detail::layout

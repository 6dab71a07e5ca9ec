// Checks betweenness of vertices and edges by Brandes' algorithm as published: one source at a time, with a queue.
//
// Paths are counted in plain floating point first; a source with too many is searched again with counts that carry a
// binary exponent, renormalized to [1/2, 1) by every addition. Threads share the sources and add to sums of their own;
// the rounding differs far less than the tolerance. Cost: two passes over the edges that a source reaches, one look-up
// per edge; 40 to 48 bytes per vertex and thread.
#include <spargo/graph/betweenness.hpp>
#include <spargo/graph/multi_bfs.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <spargo/core/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

namespace spargo {

namespace {

struct tuning {
  static constexpr double tolerance = 1e-9;   // relative: all terms are positive, so rounding gives about 1e-13
  static constexpr double smallest = 1e-100;  // relative to the largest value: smaller ones count as 0
  static constexpr double countable = 1e290;  // paths, in plain floating point
  static constexpr std::int64_t searches_at_once = 256;  // sources per batch
};

// A path count with its own exponent.
struct scaled_count {
  double fraction = 0;  // 0, or in [1/2, 1)
  std::int64_t exponent = 0;

  void add(const scaled_count& other) {
    if (fraction == 0) {
      *this = other;
      return;
    }
    const scaled_count& large = exponent >= other.exponent ? *this : other;
    const scaled_count& small = exponent >= other.exponent ? other : *this;
    const double sum = large.fraction + at_exponent(small.fraction, small.exponent - large.exponent);
    int up = 0;
    const double normal = std::frexp(sum, &up);
    *this = {normal, large.exponent + up};
  }
  [[nodiscard]] double over(const scaled_count& other) const {
    return at_exponent(fraction / other.fraction, exponent - other.exponent);
  }

 private:
  static double at_exponent(double value, std::int64_t exponent) {
    return std::ldexp(value, static_cast<int>(std::max<std::int64_t>(exponent, -5000)));
  }
};

// Dependencies of all vertices on sources, by one thread.
template <class I, class O>
class brandes {
 public:
  brandes(const csr_pattern_view<I, O, host>& edges, bool of_edges)
      : edges_(edges),
        sums_(size(), 0.0),
        edge_sums_(of_edges ? static_cast<std::size_t>(edges.nnz()) : 0, 0.0),
        places_(size()) {
    queue_.reserve(size());
  }

  void add(I source, bool endpoints) {
    if (reach(source)) {
      depend();
    } else {
      count_scaled(source);
      depend_scaled();
    }
    for (const I v : queue_) {
      place& p = places_[at(v)];
      if (v != source) sums_[at(v)] += p.dependency + (endpoints ? 1 : 0);
      p.depth = -1;
    }
    if (endpoints) sums_[at(source)] += static_cast<double>(queue_.size() - 1);
  }

  [[nodiscard]] const std::vector<double>& sums() const { return sums_; }
  [[nodiscard]] const std::vector<double>& edge_sums() const { return edge_sums_; }

 private:
  // Data of a vertex in one cache line, since an edge looks it up at random.
  struct place {
    I depth = -1;  // also between two sources
    double paths = 0;
    double dependency = 0;
    double share = 0;  // (1 + dependency) / paths: contribution to a predecessor's dependency, per path
  };

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(edges_.rows); }
  [[nodiscard]] static std::size_t at(I v) { return static_cast<std::size_t>(v); }

  template <class F>
  void for_each_successor(I u, F&& f) const {
    const I next = places_[at(u)].depth + 1;
    for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
      const std::size_t v = at(edges_.indices[e]);
      if (places_[v].depth == next) f(v, static_cast<std::size_t>(e));
    }
  }

  // Depths and path counts in queue order. False if the counts exceed plain floating point.
  [[nodiscard]] bool reach(I source) {
    queue_.assign(1, source);
    places_[at(source)] = {0, 1, 0, 0};
    bool fits = true;
    for (std::size_t k = 0; k < queue_.size(); ++k) {
      const I u = queue_[k];
      const double paths = places_[at(u)].paths;
      const I next = places_[at(u)].depth + 1;
      fits = fits && paths < tuning::countable;
      for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
        const I v = edges_.indices[e];
        place& to = places_[at(v)];
        if (to.depth < 0) {
          to = {next, paths, 0, 0};
          queue_.push_back(v);
        } else if (to.depth == next) {
          to.paths += paths;
        }
      }
    }
    return fits;
  }

  void depend() {
    for (std::size_t k = queue_.size(); k-- > 0;) {
      place& own = places_[at(queue_[k])];
      double sum = 0;
      for_each_successor(queue_[k], [&](std::size_t v, std::size_t e) {
        sum += places_[v].share;
        if (!edge_sums_.empty()) edge_sums_[e] += own.paths * places_[v].share;
      });
      own.dependency = own.paths * sum;
      own.share = (1 + own.dependency) / own.paths;
    }
  }

  void count_scaled(I source) {
    scaled_.resize(size());
    for (const I v : queue_) scaled_[at(v)] = {};
    scaled_[at(source)] = {0.5, 1};
    for (const I u : queue_) {
      const scaled_count own = scaled_[at(u)];
      for_each_successor(u, [&](std::size_t v, std::size_t) { scaled_[v].add(own); });
    }
  }

  void depend_scaled() {
    for (std::size_t k = queue_.size(); k-- > 0;) {
      const I u = queue_[k];
      double sum = 0;
      for_each_successor(u, [&](std::size_t v, std::size_t e) {
        const double share = scaled_[at(u)].over(scaled_[v]) * (1 + places_[v].dependency);
        if (!edge_sums_.empty()) edge_sums_[e] += share;
        sum += share;
      });
      places_[at(u)].dependency = sum;
    }
  }

  csr_pattern_view<I, O, host> edges_;
  std::vector<double> sums_;
  std::vector<double> edge_sums_;
  std::vector<place> places_;
  std::vector<I> queue_;
  std::vector<scaled_count> scaled_;
};

struct dependencies {
  std::vector<double> values;
  std::vector<double> edges;
};

void add_to(std::vector<double>& sums, const std::vector<double>& more) {
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += more[k];
}

template <class I, class O>
dependencies sum_dependencies(const context<host>& ctx, const graph_view<I, O, host>& g,
                              const betweenness_sources<I>& sources, bool endpoints, bool of_edges) {
  const std::int64_t n = g.vertices();
  dependencies all{std::vector<double>(static_cast<std::size_t>(n)),
                   std::vector<double>(of_edges ? static_cast<std::size_t>(g.out.nnz()) : 0)};
  const std::int64_t count = sources.has_value() ? sources->size() : n;
  std::mutex mutex;
  std::atomic<std::int64_t> begun = 0;
  detail::on_threads(ctx.threads(), count, [&](detail::part_taker& mine) {
    brandes<I, O> own(g.out, of_edges);
    for (std::int64_t k; mine.take(k);) {
      interruption::look({begun++, count});
      own.add(sources.has_value() ? (*sources)[k] : static_cast<I>(k), endpoints);
    }
    const std::lock_guard lock(mutex);
    add_to(all.values, own.sums());
    add_to(all.edges, own.edge_sums());
  });
  interruption::look({count, count});
  return all;
}

void over_largest(std::vector<double>& values, const betweenness_options& options) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, value);
  if (options.normalization != betweenness_normalization::by_maximum || largest == 0) return;
  for (double& value : values) value /= largest;
}

// Number of (source, target) pairs that normalizes a vertex's value.
class pair_counts {
 public:
  template <class I>
  pair_counts(std::size_t vertices, const betweenness_sources<I>& sources, const betweenness_options& options)
      : vertices_(static_cast<double>(vertices)),
        sources_(sources.has_value() ? static_cast<double>(sources->size()) : vertices_),
        endpoints_(options.endpoints == betweenness_endpoints::included),
        times_(vertices, sources.has_value() ? 0.0 : 1.0) {
    for (const I s : sources.value_or(span<const I, host>())) times_[static_cast<std::size_t>(s)] += 1;
  }
  [[nodiscard]] double of(std::size_t v) const {
    return endpoints_ ? sources_ * (vertices_ - 1) : (sources_ - times_[v]) * (vertices_ - 2);
  }

 private:
  double vertices_;
  double sources_;
  bool endpoints_;
  std::vector<double> times_;  // how often a vertex is a source
};

// Normalizes as the public header defines.
template <class I>
void normalize(std::vector<double>& values, direction_kind direction, const betweenness_sources<I>& sources,
               const betweenness_options& options) {
  if (options.normalization == betweenness_normalization::pairs) {
    const pair_counts pairs(values.size(), sources, options);
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = pairs.of(v) > 0 ? values[v] / pairs.of(v) : 0;
  } else if (!sources.has_value() && direction == direction_kind::undirected) {
    for (double& value : values) value /= 2;
  }
  over_largest(values, options);
}

template <class I>
void normalize_edges(std::vector<double>& edges, double vertices, direction_kind direction,
                     const betweenness_sources<I>& sources, const betweenness_options& options) {
  double pairs = vertices * (vertices - 1);
  if (sources.has_value()) pairs = static_cast<double>(sources->size()) * (vertices - 1);
  if (!sources.has_value() && direction == direction_kind::undirected) pairs /= 2;
  if (options.normalization == betweenness_normalization::pairs && pairs > 0) {
    for (double& value : edges) value /= pairs;
  }
  over_largest(edges, options);
}

// The value with the largest error relative to the tolerance; -1: none exceeds it.
std::int64_t farthest_off(span<const double, host> values, const std::vector<double>& expected) {
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, value);
  std::int64_t worst = -1;
  double excess = 1;
  for (std::int64_t v = 0; v < values.size(); ++v) {
    const double right = expected[static_cast<std::size_t>(v)];
    const double allowed = tuning::tolerance * right + tuning::smallest * largest;
    const double off = std::abs(values[v] - right);
    if (off <= allowed) continue;
    const double times = std::isfinite(off) ? off / std::max(allowed, std::numeric_limits<double>::min())
                                            : std::numeric_limits<double>::infinity();
    if (worst >= 0 && times <= excess) continue;
    worst = v;
    excess = times;
  }
  return worst;
}

}  // namespace

template <index_type I, index_type O>
std::string check_betweenness(const context<host>& ctx, const graph_view<I, O, host>& g,
                              std::type_identity_t<span<const double, host>> values,
                              std::type_identity_t<betweenness_sources<I>> sources, const betweenness_options& options,
                              std::type_identity_t<span<const double, host>> edges) try {
  const std::int64_t n = g.vertices();
  if (values.size() != n) return fmt::format("there are {} values for {} vertices", values.size(), n);
  if (!edges.empty() && edges.size() != g.out.nnz()) {
    return fmt::format("there are {} values for {} edges", edges.size(), std::int64_t{g.out.nnz()});
  }
  for (const I s : sources.value_or(span<const I, host>())) {
    SPARGO_EXPECTS(
        s >= 0 && s < n,
        fmt::format("check_betweenness: source {} of a graph with {} vertices (expected 0 to {})", s, n, n - 1));
  }
  dependencies expected =
      sum_dependencies(ctx, g, sources, options.endpoints == betweenness_endpoints::included, !edges.empty());
  normalize<I>(expected.values, g.direction, sources, options);
  if (const std::int64_t v = farthest_off(values, expected.values); v >= 0) {
    return fmt::format("vertex {} has the value {} (expected {})", v, values[v],
                       expected.values[static_cast<std::size_t>(v)]);
  }
  normalize_edges<I>(expected.edges, static_cast<double>(n), g.direction, sources, options);
  if (const std::int64_t e = farthest_off(edges, expected.edges); e >= 0) {
    const auto from = std::upper_bound(g.out.offsets.begin(), g.out.offsets.end(), static_cast<O>(e)) - 1;
    return fmt::format("the edge from {} to {} has the value {} (expected {})", from - g.out.offsets.begin(),
                       g.out.indices[e], edges[e], expected.edges[static_cast<std::size_t>(e)]);
  }
  return {};
} catch (...) {
  detail::rethrow("check_betweenness");
}

template <index_type I, index_type O>
std::string check_betweenness_sum(const context<host>& ctx, const graph_view<I, O, host>& g,
                                  std::type_identity_t<span<const double, host>> values,
                                  std::type_identity_t<betweenness_sources<I>> sources,
                                  const betweenness_options& options) try {
  const std::int64_t n = g.vertices();
  SPARGO_EXPECTS(options.normalization != betweenness_normalization::by_maximum,
                 "check_betweenness_sum: values divided by the largest one (expected sums, or sums over pairs)");
  if (values.size() != n) return fmt::format("there are {} values for {} vertices", values.size(), n);
  const bool by_pairs = options.normalization == betweenness_normalization::pairs;
  const bool halved = !by_pairs && !sources.has_value() && g.direction == direction_kind::undirected;
  const pair_counts pairs(static_cast<std::size_t>(n), sources, options);
  double sum = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    sum += values[v] * (by_pairs ? pairs.of(static_cast<std::size_t>(v)) : halved ? 2 : 1);
  }
  double expected = 0;
  const double own = options.endpoints == betweenness_endpoints::included ? 1 : -1;  // of a path, besides its length
  const std::int64_t count = sources.has_value() ? sources->size() : n;
  multi_bfs_plan<I, O, host> searches(ctx, g, tuning::searches_at_once, {.output = multi_bfs_output::counts});
  std::vector<I> some;
  for (std::int64_t first = 0; first < count; first += std::ssize(some)) {
    interruption::look({first, count});
    some.clear();
    for (std::int64_t k = first; k < count && std::ssize(some) < tuning::searches_at_once; ++k) {
      some.push_back(sources.has_value() ? (*sources)[k] : static_cast<I>(k));
    }
    searches.run(some);
    for (const multi_bfs_counts& one : searches.counts()) {
      expected += static_cast<double>(one.distance_sum) + own * static_cast<double>(one.reached - 1);
    }
  }
  interruption::look({count, count});
  if (std::abs(sum - expected) <= tuning::tolerance * expected) return {};
  return fmt::format("the values sum to {} (expected {} from the distances)", sum, expected);
} catch (...) {
  detail::rethrow("check_betweenness_sum");
}

#define INSTANTIATE(I, O)                                                                                  \
  template std::string check_betweenness<I, O>(                                                            \
      const context<host>&, const graph_view<I, O, host>&, std::type_identity_t<span<const double, host>>, \
      std::type_identity_t<betweenness_sources<I>>, const betweenness_options&,                            \
      std::type_identity_t<span<const double, host>>);                                                     \
  template std::string check_betweenness_sum<I, O>(                                                        \
      const context<host>&, const graph_view<I, O, host>&, std::type_identity_t<span<const double, host>>, \
      std::type_identity_t<betweenness_sources<I>>, const betweenness_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

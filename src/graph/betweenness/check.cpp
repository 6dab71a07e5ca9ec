// Whether values of vertices and edges are betweenness centralities: Brandes' algorithm as published, a source at a
// time with a queue.
//
// Paths are counted in plain floating point first; a source that has too many for it is searched again with numbers
// that carry their binary exponent, brought back into [1/2, 1) by every addition. The sources are shared among the
// threads, which add to sums of their own: rounding differs, far less than is allowed. Cost: two passes over the edges
// that a source reaches, one look-up per edge; 32 bytes per vertex and thread.
#include <spargo/graph/betweenness.hpp>

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
  static constexpr double smallest = 1e-100;  // of the largest value: less than that is 0
  static constexpr double countable = 1e290;  // paths, in plain floating point
};

// How many paths, as a plain number or with an exponent of its own.
struct plain_count {
  double value = 0;

  static plain_count one() { return {1}; }
  void add(const plain_count& other) { value += other.value; }
  [[nodiscard]] double over(const plain_count& other) const { return value / other.value; }
  [[nodiscard]] bool fits() const { return value < tuning::countable; }
};
struct scaled_count {
  double fraction = 0;  // 0, or in [1/2, 1)
  std::int64_t exponent = 0;

  static scaled_count one() { return {0.5, 1}; }
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
  [[nodiscard]] bool fits() const { return true; }

 private:
  static double at_exponent(double value, std::int64_t exponent) {
    return std::ldexp(value, static_cast<int>(std::max<std::int64_t>(exponent, -5000)));
  }
};

// The dependencies of sources on all vertices, by one thread.
template <class I, class O>
class brandes {
 public:
  brandes(const csr_pattern_view<I, O, host>& edges, bool of_edges)
      : edges_(edges),
        sums_(size(), 0.0),
        edge_sums_(of_edges ? static_cast<std::size_t>(edges.nnz()) : 0, 0.0),
        depth_(size(), -1) {
    queue_.reserve(size());
    dependency_.resize(size());
    plain_.resize(size());
  }

  void add(I source, bool endpoints) {
    reach(source);
    if (!count(source, plain_)) {
      scaled_.resize(size());
      (void)count(source, scaled_);
      depend(source, scaled_, endpoints);
    } else {
      depend(source, plain_, endpoints);
    }
    for (const I v : queue_) depth_[at(v)] = -1;
  }

  [[nodiscard]] const std::vector<double>& sums() const { return sums_; }
  [[nodiscard]] const std::vector<double>& edge_sums() const { return edge_sums_; }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(edges_.rows); }
  [[nodiscard]] static std::size_t at(I v) { return static_cast<std::size_t>(v); }

  template <class F>
  void for_each_successor(I u, F&& f) const {
    for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
      const I v = edges_.indices[e];
      if (depth_[at(v)] == depth_[at(u)] + 1) f(at(v), static_cast<std::size_t>(e));
    }
  }

  void reach(I source) {
    queue_.assign(1, source);
    depth_[at(source)] = 0;
    for (std::size_t k = 0; k < queue_.size(); ++k) {
      const I u = queue_[k];
      for (O e = edges_.offsets[u]; e < edges_.offsets[u + 1]; ++e) {
        const I v = edges_.indices[e];
        if (depth_[at(v)] >= 0) continue;
        depth_[at(v)] = depth_[at(u)] + 1;
        queue_.push_back(v);
      }
    }
  }

  // False when there are too many paths for such numbers.
  template <class Count>
  [[nodiscard]] bool count(I source, std::vector<Count>& paths) const {
    for (const I v : queue_) paths[at(v)] = {};
    paths[at(source)] = Count::one();
    bool fits = true;
    for (const I u : queue_) {
      const Count own = paths[at(u)];
      fits = fits && own.fits();
      for_each_successor(u, [&](std::size_t v, std::size_t) { paths[v].add(own); });
    }
    return fits;
  }

  template <class Count>
  void depend(I source, const std::vector<Count>& paths, bool endpoints) {
    for (std::size_t k = queue_.size(); k-- > 0;) {
      const I u = queue_[k];
      double sum = 0;
      for_each_successor(u, [&](std::size_t v, std::size_t e) {
        const double share = paths[at(u)].over(paths[v]) * (1 + dependency_[v]);
        if (!edge_sums_.empty()) edge_sums_[e] += share;
        sum += share;
      });
      dependency_[at(u)] = sum;
      if (u != source) sums_[at(u)] += sum + (endpoints ? 1 : 0);
    }
    if (endpoints) sums_[at(source)] += static_cast<double>(queue_.size() - 1);
  }

  csr_pattern_view<I, O, host> edges_;
  std::vector<double> sums_;
  std::vector<double> edge_sums_;
  std::vector<std::int64_t> depth_;  // -1 between two sources
  std::vector<I> queue_;
  std::vector<double> dependency_;
  std::vector<plain_count> plain_;
  std::vector<scaled_count> scaled_;
};

// Of vertices, and of edges.
struct dependencies {
  std::vector<double> values;
  std::vector<double> edges;
};

void add_to(std::vector<double>& sums, const std::vector<double>& more) {
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += more[k];
}

template <class I, class O>
dependencies sum_dependencies(const context<host>& ctx, const graph_view<I, O, host>& g, span<const I, host> sources,
                              bool endpoints, bool of_edges) {
  const std::int64_t n = g.vertices();
  dependencies all{std::vector<double>(static_cast<std::size_t>(n)),
                   std::vector<double>(of_edges ? static_cast<std::size_t>(g.out.nnz()) : 0)};
  const std::int64_t count = sources.empty() ? n : sources.size();
  std::mutex mutex;
  std::atomic<std::int64_t> begun = 0;
  detail::on_threads(ctx.threads(), count, [&](detail::part_taker& mine) {
    brandes<I, O> own(g.out, of_edges);
    for (std::int64_t k; mine.take(k);) {
      interruption::look({begun++, count});
      own.add(sources.empty() ? static_cast<I>(k) : sources[k], endpoints);
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

// As the header defines them.
template <class I>
void normalize(std::vector<double>& values, direction_kind direction, span<const I, host> sources,
               const betweenness_options& options) {
  const auto n = static_cast<double>(values.size());
  const bool endpoints = options.endpoints == betweenness_endpoints::included;
  if (options.normalization == betweenness_normalization::pairs) {
    std::vector<double> times(values.size(), sources.empty() ? 1.0 : 0.0);
    for (const I s : sources) times[static_cast<std::size_t>(s)] += 1;
    const double count = sources.empty() ? n : static_cast<double>(sources.size());
    for (std::size_t v = 0; v < values.size(); ++v) {
      const double pairs = endpoints ? count * (n - 1) : (count - times[v]) * (n - 2);
      values[v] = pairs > 0 ? values[v] / pairs : 0;
    }
  } else if (sources.empty() && direction == direction_kind::undirected) {
    for (double& value : values) value /= 2;
  }
  over_largest(values, options);
}

void normalize_edges(std::vector<double>& edges, double vertices, direction_kind direction, std::int64_t sources,
                     const betweenness_options& options) {
  double pairs = vertices * (vertices - 1);
  if (sources > 0) pairs = static_cast<double>(sources) * (vertices - 1);
  if (sources == 0 && direction == direction_kind::undirected) pairs /= 2;
  if (options.normalization == betweenness_normalization::pairs && pairs > 0) {
    for (double& value : edges) value /= pairs;
  }
  over_largest(edges, options);
}

// The value that is farthest off; -1: none is.
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
                              std::type_identity_t<span<const I, host>> sources, const betweenness_options& options,
                              std::type_identity_t<span<const double, host>> edges) try {
  const std::int64_t n = g.vertices();
  if (values.size() != n) return fmt::format("there are {} values for {} vertices", values.size(), n);
  if (!edges.empty() && edges.size() != g.out.nnz()) {
    return fmt::format("there are {} values for {} edges", edges.size(), std::int64_t{g.out.nnz()});
  }
  for (const I s : sources) {
    SPARGO_EXPECTS(
        s >= 0 && s < n,
        fmt::format("check_betweenness: source {} of a graph with {} vertices (expected 0 to {})", s, n, n - 1));
  }
  dependencies expected =
      sum_dependencies(ctx, g, sources, options.endpoints == betweenness_endpoints::included, !edges.empty());
  normalize(expected.values, g.direction, sources, options);
  if (const std::int64_t v = farthest_off(values, expected.values); v >= 0) {
    return fmt::format("vertex {} has the value {} (expected {})", v, values[v],
                       expected.values[static_cast<std::size_t>(v)]);
  }
  normalize_edges(expected.edges, static_cast<double>(n), g.direction, sources.size(), options);
  if (const std::int64_t e = farthest_off(edges, expected.edges); e >= 0) {
    const auto from = std::upper_bound(g.out.offsets.begin(), g.out.offsets.end(), static_cast<O>(e)) - 1;
    return fmt::format("the edge from {} to {} has the value {} (expected {})", from - g.out.offsets.begin(),
                       g.out.indices[e], edges[e], expected.edges[static_cast<std::size_t>(e)]);
  }
  return {};
} catch (...) {
  detail::rethrow("check_betweenness");
}

#define INSTANTIATE(I, O)                                                                                             \
  template std::string check_betweenness<I, O>(const context<host>&, const graph_view<I, O, host>&,                   \
                                               std::type_identity_t<span<const double, host>>,                        \
                                               std::type_identity_t<span<const I, host>>, const betweenness_options&, \
                                               std::type_identity_t<span<const double, host>>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

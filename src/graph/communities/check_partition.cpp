// Checks communities found by Louvain and Leiden, without their code: modularity recomputed from the given weights in
// long double, and every community's connectedness by a sequential union-find. O(vertices + edges).
#include <spargo/core/interruption.hpp>
#include <spargo/graph/communities.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace spargo {

namespace {

constexpr std::int64_t rows_between_looks = 4096;

// The most by which plans round a weight, relative to the sum of all.
template <class W>
constexpr double rounding_of = std::floating_point<W> ? 0x1p-49 : 0.0;

// WeightOf: of an entry of `out`.
template <class I, class O, class WeightOf>
class partition_check {
 public:
  partition_check(const graph_view<I, O, host>& g, span<const I, host> labels, WeightOf weight_of)
      : out_(g.out), undirected_(g.direction == direction_kind::undirected), labels_(labels), weight_of_(weight_of) {}

  // Labels must be vertices that have themselves as labels, and the smallest of their communities.
  [[nodiscard]] std::string wrong_label() const {
    for (std::int64_t v = 0; v < labels_.size(); ++v) {
      const std::int64_t label = labels_[v];
      if (label >= 0 && label <= v && labels_[label] == label) continue;
      return fmt::format("vertex {} has label {} (expected the smallest vertex of its community)", v, label);
    }
    return {};
  }

  [[nodiscard]] double modularity(double resolution) const {
    std::vector<long double> out(labels_.size()), in(labels_.size());
    long double all = 0;
    long double inside = 0;
    for_each_edge([&](std::int64_t u, std::int64_t v, long double weight) {
      const bool loop_of_both = undirected_ && u == v;  // stored once, counted twice
      const long double share = loop_of_both ? 2 * weight : weight;
      out[static_cast<std::size_t>(labels_[u])] += share;
      in[static_cast<std::size_t>(labels_[v])] += share;
      all += share;
      if (labels_[u] == labels_[v]) inside += share;
    });
    if (all == 0) return 0;
    long double expected = 0;
    for (std::size_t c = 0; c < out.size(); ++c) expected += out[c] / all * (in[c] / all);
    return static_cast<double>(inside / all - static_cast<long double>(resolution) * expected);
  }

  [[nodiscard]] std::string disconnected() const {
    std::vector<I> parent(labels_.size());
    std::iota(parent.begin(), parent.end(), I{0});
    const auto root = [&](std::int64_t v) {
      auto at = static_cast<std::size_t>(v);
      while (parent[at] != static_cast<I>(at)) {
        parent[at] = parent[static_cast<std::size_t>(parent[at])];
        at = static_cast<std::size_t>(parent[at]);
      }
      return static_cast<I>(at);
    };
    for_each_edge([&](std::int64_t u, std::int64_t v, long double weight) {
      if (weight > 0 && labels_[u] == labels_[v]) parent[static_cast<std::size_t>(root(u))] = root(v);
    });
    for (std::int64_t v = 0; v < labels_.size(); ++v) {
      if (root(v) == root(labels_[v])) continue;
      return fmt::format("vertices {} and {} are in one community without a path between them inside it", labels_[v],
                         v);
    }
    return {};
  }

 private:
  template <class Body>
  void for_each_edge(Body&& body) const {
    for (std::int64_t v = 0; v < labels_.size(); ++v) {
      if (v % rows_between_looks == 0) interruption::look();
      for (std::int64_t e = out_.offsets[v]; e < out_.offsets[v + 1]; ++e) {
        body(v, std::int64_t{out_.indices[e]}, static_cast<long double>(weight_of_(e)));
      }
    }
  }

  csr_pattern_view<I, O, host> out_;
  bool undirected_;
  span<const I, host> labels_;
  WeightOf weight_of_;
};

template <class I, class O, class WeightOf>
std::string check_with(const graph_view<I, O, host>& g, span<const I, host> labels, double modularity,
                       const communities_options& options, double rounding, WeightOf weight_of) {
  const double tolerance = 1e-9 + rounding * static_cast<double>(g.out.nnz());
  if (labels.size() != g.vertices()) return fmt::format("{} labels for {} vertices", labels.size(), g.vertices());
  const partition_check check(g, labels, weight_of);
  if (std::string wrong = check.wrong_label(); !wrong.empty()) return wrong;
  const double resolution = options.objective == communities_objective::modularity ? options.resolution : 1;
  const double right = check.modularity(resolution);
  if (!(std::abs(modularity - right) <= tolerance * std::max(1.0, resolution))) {
    return fmt::format("modularity {} (expected {})", modularity, right);
  }
  return options.method == communities_method::leiden ? check.disconnected() : std::string();
}

}  // namespace

template <index_type I, index_type O>
std::string check_partition(const context<host>&, const graph_view<I, O, host>& g,
                            std::type_identity_t<span<const I, host>> labels, double modularity,
                            const communities_options& options) try {
  detail::expect_graph("check_partition", g);
  return check_with<I, O>(g, labels, modularity, options, 0, [](std::int64_t) { return 1; });
} catch (...) {
  detail::rethrow("check_partition");
}
template <detail::scalar W, index_type I, index_type O>
std::string check_partition(const context<host>&, const weighted_graph_view<W, I, O, host>& g,
                            std::type_identity_t<span<const I, host>> labels, double modularity,
                            const communities_options& options) try {
  detail::expect_graph("check_partition", g);
  return check_with<I, O>(g, labels, modularity, options, rounding_of<W>,
                          [&](std::int64_t e) { return g.out_weights[e]; });
} catch (...) {
  detail::rethrow("check_partition");
}

#define INSTANTIATE_W(W, I, O)                                                                                   \
  template std::string check_partition<W, I, O>(const context<host>&, const weighted_graph_view<W, I, O, host>&, \
                                                std::type_identity_t<span<const I, host>>, double,               \
                                                const communities_options&);
#define INSTANTIATE(I, O)                                                                         \
  template std::string check_partition<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                             std::type_identity_t<span<const I, host>>, double,   \
                                             const communities_options&);                         \
  SPARGO_FOR_EACH_WEIGHT(INSTANTIATE_W, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

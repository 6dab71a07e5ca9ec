// Whether similarities are right, independently of the algorithms: neighbourhoods are sorted copies of rows, values are
// those of the definition, in floating point, and the top K of a vertex is found by comparing it with every other one.
#include <spargo/core/interruption.hpp>
#include <spargo/graph/similarity.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace spargo {

namespace {

constexpr std::int64_t most_entries = std::int64_t{1} << 26;  // read by a check; some 1 s

template <class I, class O>
class similarity_check {
 public:
  similarity_check(const graph_view<I, O, host>& g, const similarity_claim<I>& claim, const similarity_options& options)
      : g_(g), claim_(claim), options_(options), degrees_(static_cast<std::size_t>(g.vertices())) {
    for (I v = 0; v < g.vertices(); ++v) {
      for (const I w : neighbours(v)) ++degrees_[static_cast<std::size_t>(w)];
    }
  }

  [[nodiscard]] similarity_verdict verdict(similarity_pairs pairs) {
    similarity_verdict of;
    const auto pair_count = claim_.values.size();
    if (claim_.sources.size() != pair_count || claim_.targets.size() != pair_count) {
      of.fault =
          fmt::format("{} sources, {} targets and {} values", claim_.sources.size(), claim_.targets.size(), pair_count);
    } else if (std::string fault = ends_fault(); !fault.empty()) {
      of.fault = std::move(fault);
    } else if (pairs == similarity_pairs::top) {
      of.fault = top_fault(of.checked);
    } else {
      if (pairs == similarity_pairs::edges) of.fault = edges_fault();
      if (of.fault.empty()) of.fault = values_fault(of.checked);
    }
    return of;
  }

 private:
  // Sorted, each once, without v.
  [[nodiscard]] std::vector<I> neighbours(I v) const {
    std::vector<I> all(g_.out.indices.data() + g_.out.offsets[v], g_.out.indices.data() + g_.out.offsets[v + 1]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.erase(std::remove(all.begin(), all.end(), v), all.end());
    return all;
  }
  [[nodiscard]] double value(const std::vector<I>& a, const std::vector<I>& b) const {
    std::vector<I> common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    if (common.empty()) return 0;
    const auto c = static_cast<double>(common.size());
    const auto da = static_cast<double>(a.size());
    const auto db = static_cast<double>(b.size());
    const auto sum = [&](auto&& term) {
      double all = 0;
      for (const I w : common) all += term(static_cast<double>(degrees_[static_cast<std::size_t>(w)]));
      return all;
    };
    switch (options_.measure) {
      case similarity_measure::jaccard: {
        std::vector<I> either;
        std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
        return c / static_cast<double>(either.size());
      }
      case similarity_measure::overlap:
        return c / std::min(da, db);
      case similarity_measure::sorensen:
        return 2 * c / (da + db);
      case similarity_measure::cosine:
        return c / std::sqrt(da * db);
      case similarity_measure::adamic_adar:
        return sum([](double d) { return d > 1 ? 1 / std::log(d) : 0; });
      case similarity_measure::resource_allocation:
        return sum([](double d) { return 1 / d; });
      case similarity_measure::common_neighbors:
        return c;
    }
    return 0;
  }
  // Sums are rounded, so equal ones cannot be recognised; other values are exact quotients.
  [[nodiscard]] bool has_sums() const {
    return options_.measure == similarity_measure::adamic_adar ||
           options_.measure == similarity_measure::resource_allocation;
  }
  [[nodiscard]] static bool are_equal(double a, double b) {
    return a == b || std::abs(a - b) < 1e-9 * std::max(std::abs(a), std::abs(b));  // not for an infinite one
  }
  [[nodiscard]] std::string wrong(std::int64_t k, double expected) const {
    return fmt::format("the similarity of {} and {} is {} (expected {})", claim_.sources[k], claim_.targets[k],
                       claim_.values[k], expected);
  }

  [[nodiscard]] std::string ends_fault() const {
    for (std::int64_t k = 0; k < claim_.sources.size(); ++k) {
      for (const I end : {claim_.sources[k], claim_.targets[k]}) {
        if (end < 0 || end >= g_.vertices()) return fmt::format("pair {} has end {}, which is not a vertex", k, end);
      }
    }
    return {};
  }

  // The pairs are the edges, each once, in order.
  [[nodiscard]] std::string edges_fault() const {
    std::int64_t k = 0;
    for (I u = 0; u < g_.vertices(); ++u) {
      for (const I v : neighbours(u)) {
        if (g_.direction == direction_kind::undirected && v < u) continue;
        if (k >= claim_.sources.size() || claim_.sources[k] != u || claim_.targets[k] != v) {
          return fmt::format("pair {} is not edge ({}, {})", k, u, v);
        }
        ++k;
      }
    }
    return k == claim_.sources.size() ? "" : fmt::format("{} pairs for {} edges", claim_.sources.size(), k);
  }

  [[nodiscard]] std::int64_t length(I v) const {
    return 1 + static_cast<std::int64_t>(g_.out.offsets[v + 1] - g_.out.offsets[v]);
  }

  [[nodiscard]] std::string values_fault(std::int64_t& checked) const {
    std::int64_t work = 0;
    for (std::int64_t k = 0; k < claim_.values.size(); ++k) {
      work += length(claim_.sources[k]) + length(claim_.targets[k]);
    }
    const std::int64_t stride = 1 + work / most_entries;
    std::vector<I> of_source;
    I source = -1;
    for (std::int64_t k = 0; k < claim_.values.size(); k += stride) {
      if (k % 1024 == 0) interruption::look();
      if (source != claim_.sources[k]) of_source = neighbours(claim_.sources[k]);
      source = claim_.sources[k];
      const double expected = value(of_source, neighbours(claim_.targets[k]));
      if (!are_equal(expected, claim_.values[k])) return wrong(k, expected);
      ++checked;
    }
    return {};
  }

  // All lists in order, and the lists of a sample of vertices complete.
  [[nodiscard]] std::string top_fault(std::int64_t& checked) const {
    const std::int64_t entries = g_.out.nnz() + g_.vertices();
    const std::int64_t sample =
        std::clamp<std::int64_t>(most_entries / (1 + entries), 1, std::max<I>(g_.vertices(), 1));
    const std::int64_t stride = std::max<std::int64_t>(1, g_.vertices() / sample);
    std::int64_t k = 0;
    for (I u = 0; u < g_.vertices(); ++u) {
      const std::int64_t first = k;
      for (; k < claim_.sources.size() && claim_.sources[k] == u; ++k) {
        if (k > first && !precedes(k - 1, k)) {
          return fmt::format("vertex {} has {} before {} in its list", u, claim_.targets[k - 1], claim_.targets[k]);
        }
      }
      if (k - first > options_.top) return fmt::format("vertex {} has {} similar vertices", u, k - first);
      if (u % stride != 0) continue;
      interruption::look();
      if (std::string fault = list_fault(u, first, k); !fault.empty()) return fault;
      ++checked;
    }
    if (k != claim_.sources.size()) {
      return fmt::format("vertex {} comes after {}", claim_.sources[k],
                         claim_.sources[std::max<std::int64_t>(k, 1) - 1]);
    }
    return {};
  }
  [[nodiscard]] bool precedes(std::int64_t a, std::int64_t b) const {
    if (claim_.values[a] != claim_.values[b]) return claim_.values[a] > claim_.values[b];
    return claim_.targets[a] < claim_.targets[b];
  }

  // Every vertex that the list lacks is less similar than its last one, unless the list is short: then it has no common
  // neighbour.
  [[nodiscard]] std::string list_fault(I u, std::int64_t first, std::int64_t last) const {
    const std::vector<I> mine = neighbours(u);
    std::vector<double> listed(static_cast<std::size_t>(g_.vertices()), 0);  // 0: not listed
    for (std::int64_t k = first; k < last; ++k) {
      const I v = claim_.targets[k];
      const double has = claim_.values[k];
      if (v == u) return fmt::format("vertex {} is in its own list", u);
      if (!(has > 0)) return fmt::format("vertex {} lists {} with similarity {} (expected more than 0)", u, v, has);
      if (listed[static_cast<std::size_t>(v)] > 0) return fmt::format("vertex {} lists {} twice", u, v);
      listed[static_cast<std::size_t>(v)] = has;
    }
    const double least = last - first < options_.top || last == first ? 0 : claim_.values[last - 1];
    const I worst = last == first ? u : claim_.targets[last - 1];
    for (I v = 0; v < g_.vertices(); ++v) {
      if (v == u) continue;
      const double expected = value(mine, neighbours(v));
      const double has = listed[static_cast<std::size_t>(v)];
      const bool is_listed = has > 0;
      if (is_listed && !are_equal(expected, has)) {
        return fmt::format("the similarity of {} and {} is {} (expected {})", u, v, has, expected);
      }
      if (is_listed || expected == 0) continue;
      const bool is_missing = has_sums() ? expected > least && !are_equal(expected, least)
                                         : expected > least || (expected == least && v < worst);
      if (is_missing) {
        return fmt::format("vertex {} lacks {}, of similarity {}, in its list", u, v, expected);
      }
    }
    return {};
  }

  graph_view<I, O, host> g_;
  similarity_claim<I> claim_;
  similarity_options options_;
  std::vector<std::int64_t> degrees_;  // [vertex] number of vertices that have it as a neighbour
};

}  // namespace

template <index_type I, index_type O>
similarity_verdict check_similarity(const context<host>&, const graph_view<I, O, host>& g,
                                    const std::type_identity_t<similarity_claim<I>>& claim, similarity_pairs pairs,
                                    const similarity_options& options) try {
  return similarity_check<I, O>(g, claim, options).verdict(pairs);
} catch (...) {
  detail::rethrow("check_similarity");
}

#define INSTANTIATE(I, O)                                                                                 \
  template similarity_verdict check_similarity<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                                     const similarity_claim<I>&, similarity_pairs,        \
                                                     const similarity_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

// Bellman-Ford with a queue: rounds over the vertices whose distance changed.
//
// Invariant: a distance is the length of a path, and the edges (parent, vertex) form a forest as long as no cycle is
// negative. A negative cycle that is reached ends up among the parents (Cherkassky, Goldberg 1999), which are looked at
// for a cycle whenever as many distances have changed as there are vertices: O(1) per change. Without one, rounding
// included, round k leaves no path of at most k edges that is shorter, so that the rounds end.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/structure/checks.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/bellman_ford.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace spargo {

namespace detail::paths {

namespace {

template <class W, class I, class O>
class relaxation {
 public:
  using D = sssp_distance<W>;

  relaxation(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, span<const I, host> sources)
      : ctx_(ctx),
        g_(g),
        distances_(ctx, g.vertices()),
        parents_(ctx, g.vertices()),
        waits_(static_cast<std::size_t>(g.vertices())) {
    std::fill(distances_.begin(), distances_.end(), sssp_unreached<W>);
    std::fill(parents_.begin(), parents_.end(), I{-1});
    for (const I s : sources) {
      structure::expect_vertex("bellman_ford", s, g.vertices());
      distances_[s] = D{0};
      parents_[s] = s;
      enqueue(s);
    }
    expect_weights();
  }

  bellman_ford_result<W, I> run() {
    std::vector<I> round;
    while (!queue_.empty() && cycle_.empty()) {
      round.swap(queue_);
      for (const I u : round) {
        relax_row(u);
        if (!cycle_.empty()) break;
      }
      round.clear();
      // Rounding may close a cycle of parents and end there.
      const bool is_last = std::is_floating_point_v<W> && queue_.empty();
      if (cycle_.empty() && (changes_ >= g_.vertices() || is_last)) look_for_cycle();
    }
    bellman_ford_result<W, I> result{std::move(distances_), std::move(parents_), 0, {}};
    result.reached = std::count_if(result.parents.begin(), result.parents.end(), [](I p) { return p >= 0; });
    result.negative_cycle = array<I, host>(ctx_, static_cast<std::int64_t>(cycle_.size()));
    std::copy(cycle_.begin(), cycle_.end(), result.negative_cycle.begin());
    return result;
  }

 private:
  void expect_weights() const {
    if constexpr (std::is_floating_point_v<W>) {
      for (I u = 0; u < g_.vertices(); ++u) {
        for (O e = g_.out.offsets[u]; e < g_.out.offsets[std::int64_t{u} + 1]; ++e) {
          const W w = g_.out_weights[e];
          if (!std::isnan(w) && w != -std::numeric_limits<W>::infinity()) continue;
          throw error(
              error_code::invalid_data,
              fmt::format("bellman_ford: edge ({}, {}) has weight {} (expected a number)", u, g_.out.indices[e], w));
        }
      }
    }
  }

  void enqueue(I v) {
    char& waits = waits_[static_cast<std::size_t>(v)];
    if (waits == 0) queue_.push_back(v);
    waits = 1;
  }

  void relax_row(I u) {
    structure::poll(++rows_);
    waits_[static_cast<std::size_t>(u)] = 0;
    const D length = distances_[u];
    for (O e = g_.out.offsets[u]; e < g_.out.offsets[std::int64_t{u} + 1]; ++e) {
      const I v = g_.out.indices[e];
      const D path = longer(length, g_.out_weights[e]);
      if (!(path < distances_[v])) continue;
      if (v == u) {  // a loop, which parents cannot show
        cycle_ = {u};
        expect_negative();
        return;
      }
      distances_[v] = path;
      parents_[v] = u;
      ++changes_;
      enqueue(v);
    }
  }

  [[nodiscard]] static D longer(D length, W w) {
    if constexpr (std::is_floating_point_v<W>) {
      return length + static_cast<D>(w);
    } else {
      D sum = 0;
      if (!__builtin_add_overflow(length, static_cast<D>(w), &sum)) return sum;
      if (w > 0) return sssp_unreached<W>;
      throw error(error_code::unsupported, "bellman_ford: a path is too long for int64 (expected more than -2^63)");
    }
  }

  // A cycle of the parents, into cycle_.
  void look_for_cycle() {
    changes_ = 0;
    std::vector<I> seen_from(static_cast<std::size_t>(g_.vertices()), I{-1});
    for (I first = 0; first < g_.vertices(); ++first) {
      I v = first;
      while (parents_[v] >= 0 && parents_[v] != v && seen_from[static_cast<std::size_t>(v)] < 0) {
        seen_from[static_cast<std::size_t>(v)] = first;
        v = parents_[v];
      }
      if (seen_from[static_cast<std::size_t>(v)] != first) continue;
      I u = v;
      do {
        cycle_.push_back(u);
        u = parents_[u];
      } while (u != v);
      std::reverse(cycle_.begin(), cycle_.end());
      expect_negative();
      return;
    }
  }

  // Where distances are much larger than weights, a cycle may get shorter by rounding alone.
  void expect_negative() const {
    if constexpr (std::is_floating_point_v<W>) {
      long double sum = 0;
      for (std::size_t k = 0; k < cycle_.size(); ++k) {
        sum += static_cast<long double>(lightest(cycle_[k], cycle_[(k + 1) % cycle_.size()]));
      }
      if (sum < 0) return;
      throw error(error_code::unsupported,
                  fmt::format("bellman_ford: rounding shortens the cycle through vertex {}, whose weights add up to {} "
                              "(expected weights of similar size)",
                              cycle_.front(), static_cast<double>(sum)));
    }
  }

  [[nodiscard]] W lightest(I u, I v) const {
    W least = std::numeric_limits<W>::infinity();
    for (O e = g_.out.offsets[u]; e < g_.out.offsets[std::int64_t{u} + 1]; ++e) {
      if (g_.out.indices[e] == v) least = std::min(least, g_.out_weights[e]);
    }
    return least;
  }

  const context<host>& ctx_;
  const weighted_graph_view<W, I, O, host>& g_;
  array<D, host> distances_;
  array<I, host> parents_;
  std::vector<char> waits_;  // [vertex] whether it is in the queue
  std::vector<I> queue_;     // of the next round
  std::vector<I> cycle_;
  std::int64_t changes_ = 0;  // of distances since the parents were looked at
  std::int64_t rows_ = 0;
};

}  // namespace

}  // namespace detail::paths

template <detail::scalar W, index_type I, index_type O>
bellman_ford_result<W, I> bellman_ford(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                       std::type_identity_t<span<const I, host>> sources) try {
  return detail::paths::relaxation<W, I, O>(ctx, g, sources).run();
} catch (...) {
  detail::rethrow("bellman_ford");
}

template <detail::scalar W, index_type I, index_type O>
bellman_ford_result<W, I> bellman_ford(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g) try {
  array<I, host> all(ctx, g.vertices());
  std::iota(all.begin(), all.end(), I{0});
  return detail::paths::relaxation<W, I, O>(ctx, g, all.view()).run();
} catch (...) {
  detail::rethrow("bellman_ford");
}

#define INSTANTIATE(W, I, O)                                                                                       \
  template bellman_ford_result<W, I> bellman_ford<W, I, O>(                                                        \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, std::type_identity_t<span<const I, host>>); \
  template bellman_ford_result<W, I> bellman_ford<W, I, O>(const context<host>&,                                   \
                                                           const weighted_graph_view<W, I, O, host>&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

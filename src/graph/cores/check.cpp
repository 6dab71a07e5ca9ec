// Whether numbers are core numbers: proofs from below and from above.
//
// From below: if every vertex v has at least c(v) neighbours of number c(v) or more, the vertices of number k or more
// are a subgraph of degree k, so no number is too high. From above: if the vertices can be put into an order by
// ascending number in which each has at most c(v) neighbours behind it, no number is too low, since the first vertex of
// any k-core in that order has k neighbours behind it. Neighbours of lower number are before v and of higher number
// behind it, so only the order of vertices of one number has to be found: by one queue per number, distributed over the
// threads. Cost: every row is read twice.
#include <spargo/core/interruption.hpp>
#include <spargo/graph/cores.hpp>
#include <spargo/graph/frontier/prefetch.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/with_in_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace spargo {

namespace {

template <class I, class O>
class core_proof {
 public:
  core_proof(const context<host>& ctx, const graph_view<I, O, host>& g, const span<const I, host>& cores)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        out_(g.out),
        in_(g.direction == direction_kind::directed ? g.in : csr_pattern_view<I, O, host>()),
        cores_(cores),
        places_(ctx, n_),
        queue_(ctx, n_) {}

  [[nodiscard]] std::string fault() {
    if (const std::int64_t v = first_that([&](std::int64_t u) { return cores_[u] < 0; }); v < n_) {
      return fmt::format("vertex {} has core number {} (expected 0 or more)", v, cores_[v]);
    }
    detail::parallel_for(threads_, n_, detail::grain::rows, [&](std::int64_t v) {
      I count = 0;
      for_each_neighbour(v, [&](I u) { count += cores_[u] >= cores_[v] ? 1 : 0; });
      places_[v] = {cores_[v], count};
    });
    if (const std::int64_t v = first_that([&](std::int64_t u) { return places_[u].behind < cores_[u]; }); v < n_) {
      return fmt::format("vertex {} has core number {} but {} neighbours of that number or more", v, cores_[v],
                         places_[v].behind);
    }
    order_all();
    if (const std::int64_t v = first_that([&](std::int64_t u) { return places_[u].behind > cores_[u]; }); v < n_) {
      return fmt::format("vertex {} has core number {} (expected {} or more)", v, cores_[v], cores_[v] + I{1});
    }
    return {};
  }

 private:
  // Of a vertex: its number, and how many neighbours of that number or more are not before it in the order, as far as
  // it is known.
  struct place {
    I core;
    I behind;
  };

  // The first vertex for which `is` holds; n_ if there is none.
  template <class Predicate>
  [[nodiscard]] std::int64_t first_that(Predicate&& is) const {
    std::atomic<std::int64_t> first{n_};
    detail::parallel_for(threads_, n_, detail::grain::elements, [&](std::int64_t v) {
      if (is(v)) detail::lower_to(first, v);
    });
    return first;
  }

  template <class F>
  void for_each_neighbour(std::int64_t v, F&& f) const {
    for (const auto* rows : {&out_, &in_}) {
      if (rows->offsets.empty()) continue;
      for (O e = rows->offsets[v]; e < rows->offsets[v + 1]; ++e) {
        if (rows->indices[e] != v) f(rows->indices[e]);
      }
    }
  }

  // For each number separately. `behind` stays too large for vertices that have no place in the order.
  void order_all() {
    I most = 0;
    for (const I core : cores_) most = std::max(most, core);
    std::vector<std::int64_t> ends(static_cast<std::size_t>(most) + 2);  // [number + 1] of its part of the queue
    for (const I core : cores_) ++ends[static_cast<std::size_t>(core) + 1];
    for (std::size_t k = 1; k < ends.size(); ++k) ends[k] += ends[k - 1];
    std::vector<std::int64_t> tails(ends.begin(), ends.end() - 1);
    for (std::int64_t v = 0; v < n_; ++v) {
      if (places_[v].behind <= cores_[v]) queue_[tails[static_cast<std::size_t>(cores_[v])]++] = static_cast<I>(v);
    }
    detail::parallel_parts(
        detail::useful_threads(threads_, n_, detail::grain::rows), most + std::int64_t{1}, [&](std::int64_t k) {
          order_of_number(static_cast<I>(k), ends[static_cast<std::size_t>(k)], tails[static_cast<std::size_t>(k)]);
        });
  }

  // Takes queue [head, tail) and what is appended: a vertex taken is before those of its number that are not.
  void order_of_number(I k, std::int64_t head, std::int64_t tail) {
    interruption::look();
    for (; head < tail; ++head) {
      detail::prefetch_rows(out_, queue_.data(), head, tail);
      for_each_neighbour(queue_[head], [&](I u) {
        place& other = places_[u];
        if (other.core == k && other.behind > k && --other.behind == k) queue_[tail++] = u;
      });
    }
  }

  int threads_;
  std::int64_t n_;
  csr_pattern_view<I, O, host> out_;
  csr_pattern_view<I, O, host> in_;
  span<const I, host> cores_;
  array<place, host> places_;  // [vertex]
  array<I, host> queue_;       // vertices, by number
};

}  // namespace

template <index_type I, index_type O>
std::string check_cores(const context<host>& ctx, const graph_view<I, O, host>& g,
                        std::type_identity_t<span<const I, host>> cores) try {
  const std::int64_t n = g.vertices();
  if (cores.size() != n) return fmt::format("{} core numbers for {} vertices", cores.size(), n);
  if (n == 0) return {};
  const detail::with_in_edges<I, O, host> pulled(ctx, g);
  return core_proof<I, O>(ctx, pulled.view(), cores).fault();
} catch (...) {
  detail::rethrow("check_cores");
}

#define INSTANTIATE(I, O)                                                                     \
  template std::string check_cores<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                         std::type_identity_t<span<const I, host>>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

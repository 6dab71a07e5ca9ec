// Whether eccentricities, diameter and radius are right, by breadth-first searches with a queue.
//
// The peripheral vertex is a witness that the diameter is not smaller, the central one that the radius is not larger.
// That the diameter D is not larger: a pair (x, y) that is farther apart has d(x, c) + ecc(c) > D for the central
// vertex c, so searches start at such x, the farthest first; if the budget is enough for all of them, that is a proof.
// Other searches start at evenly spaced vertices. Every search is also compared with the bounds of all vertices.
#include <spargo/graph/components.hpp>
#include <spargo/graph/eccentricity.hpp>
#include <spargo/graph/structure.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/closeness/queue_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

namespace spargo {

namespace {

using detail::closeness::neighbour_lists;
using detail::closeness::queue_search;

template <class I, class O>
class eccentricity_check {
 public:
  eccentricity_check(const context<host>& ctx, const graph_view<I, O, host>& g,
                     const span<const std::int32_t, host>& lower, const span<const std::int32_t, host>& upper,
                     const eccentricity_summary& summary)
      : ctx_(ctx),
        g_(g),
        lower_(lower),
        upper_(upper),
        summary_(summary),
        out_(detail::closeness::list_out_neighbours(g.out)),
        in_(g.direction == direction_kind::directed ? detail::closeness::list_in_neighbours(g.out) : out_) {}

  [[nodiscard]] std::string fault(std::int64_t searches) {
    if (std::string wrong = component_fault(); !wrong.empty()) return wrong;
    if (std::string wrong = summary_fault(); !wrong.empty()) return wrong;
    const std::vector<I> starts = chosen(std::max<std::int64_t>(searches, 2));
    std::string first;
    std::int64_t faulty = std::numeric_limits<std::int64_t>::max();
    std::mutex mutex;
    detail::on_threads(ctx_.threads(), std::ssize(starts), [&](auto& mine) {
      queue_search<I> from(out_);
      queue_search<I> to(in_);
      for (std::int64_t k; mine.take(k);) {
        std::string wrong = fault_from(starts[static_cast<std::size_t>(k)], from, to);
        if (wrong.empty()) continue;
        const std::lock_guard lock(mutex);
        if (k >= faulty) continue;
        faulty = k;
        first = std::move(wrong);
      }
    });
    return first;
  }

 private:
  [[nodiscard]] bool is_inside(std::int64_t v) const { return lower_[v] >= 0; }

  // The vertices with bounds are what the central vertex reaches and is reached from, and no component is larger.
  [[nodiscard]] std::string component_fault() const {
    const std::int64_t n = g_.vertices();
    std::int64_t inside = 0;
    for (std::int64_t v = 0; v < n; ++v) {
      if (lower_[v] < -1 || upper_[v] < lower_[v] || (lower_[v] < 0 && upper_[v] >= 0)) {
        return fmt::format("vertex {} has the bounds {} and {}", v, lower_[v], upper_[v]);
      }
      inside += is_inside(v) ? 1 : 0;
    }
    if (inside != summary_.vertices) {
      return fmt::format("{} vertices have bounds (expected {})", inside, summary_.vertices);
    }
    const auto kind =
        g_.direction == direction_kind::directed ? components_connection::strong : components_connection::weak;
    const array<I, host> largest = largest_component(ctx_, g_, kind);
    if (largest.size() != inside)
      return fmt::format("{} vertices in the largest component, not {}", largest.size(), inside);
    for (const I v : largest) {
      if (!is_inside(v)) return fmt::format("vertex {} of the largest component has no bounds", v);
    }
    return {};
  }

  [[nodiscard]] std::string summary_fault() const {
    const eccentricity_bounds& d = summary_.diameter;
    const eccentricity_bounds& r = summary_.radius;
    if (summary_.vertices == 0) return {};
    for (std::int64_t v = 0; v < g_.vertices(); ++v) {
      if (!is_inside(v)) continue;
      if (lower_[v] > d.lower) return fmt::format("vertex {} is {} from others: above the diameter", v, lower_[v]);
      if (upper_[v] < r.upper) return fmt::format("vertex {} is within {} of others: below the radius", v, upper_[v]);
    }
    if (d.lower > d.upper || r.lower > r.upper || (summary_.central >= 0 && r.upper > d.lower)) {
      return fmt::format("diameter {} to {}, radius {} to {}", d.lower, d.upper, r.lower, r.upper);
    }
    return {};
  }

  [[nodiscard]] std::vector<I> chosen(std::int64_t searches) const {
    std::vector<I> starts;
    for (const std::int64_t v : {summary_.peripheral, summary_.central}) {
      if (v >= 0) starts.push_back(static_cast<I>(v));
    }
    if (starts.size() < 2) return starts;
    queue_search<I> to(in_);
    to.run(starts.back());
    const std::int64_t near_enough = std::int64_t{summary_.diameter.upper} - summary_.radius.upper;
    const std::vector<I>& order = to.reached();
    for (auto v = order.rbegin(); v != order.rend() && std::ssize(starts) < searches / 2 + 2; ++v) {
      if (to[*v] > near_enough && is_inside(*v)) starts.push_back(*v);
    }
    const std::int64_t spaced = std::min(searches - std::min(searches, std::ssize(starts)) + 1, std::ssize(order));
    for (std::int64_t k = 0; k < spaced; ++k) {
      const I v = order[static_cast<std::size_t>(k * (std::ssize(order) / spaced))];
      if (is_inside(v)) starts.push_back(v);
    }
    return starts;
  }

  [[nodiscard]] std::string fault_from(I s, queue_search<I>& from, queue_search<I>& to) const {
    from.run(s);
    to.run(s);
    std::int64_t ecc = 0;
    for (const I v : from.reached()) {
      if (is_inside(v)) ecc = std::max(ecc, from[v]);
    }
    if (lower_[s] > ecc || upper_[s] < ecc) {
      return fmt::format("vertex {} has the bounds {} and {} (expected {})", s, lower_[s], upper_[s], ecc);
    }
    if (s == summary_.peripheral && ecc != summary_.diameter.lower) {
      return fmt::format("vertex {} has eccentricity {}, not the diameter {}", s, ecc, summary_.diameter.lower);
    }
    if (s == summary_.central && ecc != summary_.radius.upper) {
      return fmt::format("vertex {} has eccentricity {}, not the radius {}", s, ecc, summary_.radius.upper);
    }
    if (ecc > summary_.diameter.upper || ecc < summary_.radius.lower) {
      return fmt::format("vertex {} has eccentricity {} (expected {} to {})", s, ecc, summary_.radius.lower,
                         summary_.diameter.upper);
    }
    for (const I v : to.reached()) {
      if (!is_inside(v)) continue;
      if (upper_[v] < std::max(to[v], ecc - from[v]) || lower_[v] > to[v] + ecc) {
        return fmt::format("vertex {} has the bounds {} and {}, but is {} from vertex {}", v, lower_[v], upper_[v],
                           to[v], s);
      }
    }
    return {};
  }

  const context<host>& ctx_;
  const graph_view<I, O, host>& g_;
  span<const std::int32_t, host> lower_;
  span<const std::int32_t, host> upper_;
  const eccentricity_summary& summary_;
  neighbour_lists<I> out_;
  neighbour_lists<I> in_;
};

}  // namespace

template <index_type I, index_type O>
std::string check_eccentricities(const context<host>& ctx, const graph_view<I, O, host>& g,
                                 std::type_identity_t<span<const std::int32_t, host>> lower,
                                 std::type_identity_t<span<const std::int32_t, host>> upper,
                                 const eccentricity_summary& summary, std::int64_t searches) try {
  const std::int64_t n = g.vertices();
  if (lower.size() != n || upper.size() != n) {
    return fmt::format("{} lower and {} upper bounds for {} vertices", lower.size(), upper.size(), n);
  }
  return eccentricity_check<I, O>(ctx, g, lower, upper, summary).fault(searches);
} catch (...) {
  detail::rethrow("check_eccentricities");
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::string check_eccentricities<I, O>(                                                               \
      const context<host>&, const graph_view<I, O, host>&, std::type_identity_t<span<const std::int32_t, host>>, \
      std::type_identity_t<span<const std::int32_t, host>>, const eccentricity_summary&, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

// Whether values are closeness or harmonic centralities: recomputed for some vertices, by one breadth-first search
// each.
//
// A search from v against the edges finds the distances to v. One queue, one search at a time on each thread, sums in
// doubles. Independent of multi_bfs.
#include <spargo/graph/closeness.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/closeness/queue_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

namespace spargo {

namespace {

// `chosen[v]`: v is a source; `sources` of them.
template <class I>
double expected_value(const detail::closeness::queue_search<I>& found, I v, const std::vector<bool>& chosen,
                      std::int64_t sources, const closeness_options& options) {
  double distances = 0;
  double inverses = 0;
  double reached = 0;
  for (const I u : found.reached()) {
    if (u == v || !chosen[static_cast<std::size_t>(u)]) continue;
    distances += static_cast<double>(found[u]);
    inverses += 1 / static_cast<double>(found[u]);
    ++reached;
  }
  if (reached == 0) return 0;
  const auto n = static_cast<double>(chosen.size());
  const double others = static_cast<double>(sources) - (chosen[static_cast<std::size_t>(v)] ? 1 : 0);
  if (options.measure == closeness_measure::harmonic) return inverses * (n - 1) / others;
  const double share = options.scaling == closeness_scaling::none ? 1 : reached / others;
  return share * reached / distances;
}

}  // namespace

template <index_type I, index_type O>
std::string check_closeness(const context<host>& ctx, const graph_view<I, O, host>& g,
                            std::type_identity_t<span<const double, host>> values, std::int64_t checked,
                            std::type_identity_t<closeness_sources<I>> sources, const closeness_options& options) try {
  constexpr double tolerance = 1e-8;
  const std::int64_t n = g.vertices();
  if (values.size() != n) return fmt::format("{} values for {} vertices", values.size(), n);
  if (n == 0) return {};
  std::vector<bool> chosen(static_cast<std::size_t>(n), !sources.has_value());
  if (sources.has_value()) {
    for (const I v : *sources) chosen[static_cast<std::size_t>(v)] = true;
  }
  const std::int64_t count = std::count(chosen.begin(), chosen.end(), true);
  const detail::closeness::neighbour_lists<I> in = detail::closeness::list_in_neighbours(g.out);
  const std::int64_t spaced = std::clamp<std::int64_t>(checked, 1, n);
  const std::int64_t largest = std::max_element(values.begin(), values.end()) - values.begin();
  std::string fault;
  std::int64_t faulty = std::numeric_limits<std::int64_t>::max();
  std::mutex mutex;
  detail::on_threads(ctx.threads(), spaced + 1, [&](auto& mine) {
    detail::closeness::queue_search<I> found(in);
    for (std::int64_t k; mine.take(k);) {
      const std::int64_t v = k == spaced ? largest : k * (n / spaced) + k * (n % spaced) / spaced;
      found.run(static_cast<I>(v));
      const double expected = expected_value(found, static_cast<I>(v), chosen, count, options);
      if (std::abs(values[v] - expected) <= tolerance * expected) continue;
      const std::lock_guard lock(mutex);
      if (v >= faulty) continue;
      faulty = v;
      fault = fmt::format("vertex {} has {} (expected {})", v, values[v], expected);
    }
  });
  return fault;
} catch (...) {
  detail::rethrow("check_closeness");
}

#define INSTANTIATE(I, O)                                                                                  \
  template std::string check_closeness<I, O>(const context<host>&, const graph_view<I, O, host>&,          \
                                             std::type_identity_t<span<const double, host>>, std::int64_t, \
                                             std::type_identity_t<closeness_sources<I>>, const closeness_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

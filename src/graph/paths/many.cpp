// Lengths of many pairs, and distances of all vertices from many sources in batches: threads take sources, each with
// Dijkstra's algorithm, so that no thread waits for another within a search.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/paths/growth.hpp"
#include "graph/plan.hpp"
#include "graph/sssp/executor.hpp"
#include "graph/sssp/host_dijkstra.hpp"
#include "graph/structure/checks.hpp"

#include <spargo/graph/paths.hpp>

#include <fmt/format.h>

#include <memory>
#include <numeric>

namespace spargo {

namespace detail::paths {

namespace {

template <class W, class I, class O>
void check(const char* operation, const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
           std::initializer_list<span<const I, host>> lists) {
  expect_graph(operation, g);
  (void)sssp::examine_weights(ctx, g.out, g.out_weights);
  for (const auto& vertices : lists) {
    for (const I v : vertices) structure::expect_vertex(operation, v, g.vertices());
  }
}

// Called by threads with a slot, for which it makes its workspace when first used.
template <class Workspace>
class by_slot {
 public:
  explicit by_slot(int threads) : all_(static_cast<std::size_t>(threads)) {}
  template <class... Arguments>
  Workspace& at(int slot, const Arguments&... arguments) {
    auto& own = all_[static_cast<std::size_t>(slot)];
    if (own == nullptr) own = std::make_unique<Workspace>(arguments...);
    return *own;
  }

 private:
  std::vector<std::unique_ptr<Workspace>> all_;
};

// Pairs [first, last) of `order` have one source. Settles vertices until the last of the targets.
template <class D, class W, class I, class O>
void find_targets(const weighted_graph_view<W, I, O, host>& g, growth<D, I>& search, I source,
                  const span<const I, host>& targets, const std::int64_t* first, const std::int64_t* last,
                  std::vector<sssp_distance<W>>& lengths) {
  std::vector<I> wanted;
  for (const auto* pair = first; pair != last; ++pair) wanted.push_back(targets[*pair]);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  auto left = wanted.size();
  search.start(source, D{0}, D{0});
  while (left > 0 && search.has_more()) {
    const auto [key, length, u] = search.take();
    left -= std::binary_search(wanted.begin(), wanted.end(), u) ? 1 : 0;
    for_each_edge(g.out, g.out_weights.data(), u, [&](I v, W w) {
      const D path = sssp::longer(length, w);
      search.offer(v, path, u, path);
    });
  }
  for (const auto* pair = first; pair != last; ++pair) {
    const I target = targets[*pair];
    lengths[static_cast<std::size_t>(*pair)] =
        search.has_reached(target) ? static_cast<sssp_distance<W>>(search.length(target)) : sssp_unreached<W>;
  }
}

}  // namespace

}  // namespace detail::paths

template <detail::scalar W, index_type I, index_type O>
std::vector<sssp_distance<W>> path_lengths(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                           std::type_identity_t<span<const I, host>> sources,
                                           std::type_identity_t<span<const I, host>> targets) try {
  SPARGO_EXPECTS(
      sources.size() == targets.size(),
      fmt::format("path_lengths: {} sources and {} targets (expected pairs)", sources.size(), targets.size()));
  detail::paths::check<W, I, O>("path_lengths", ctx, g, {sources, targets});
  using D = detail::sssp::wide_length<W>;
  std::vector<std::int64_t> order(static_cast<std::size_t>(sources.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return sources[a] < sources[b]; });
  std::vector<std::size_t> firsts;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || sources[order[k]] != sources[order[k - 1]]) firsts.push_back(k);
  }
  const auto groups = static_cast<std::int64_t>(firsts.size());
  firsts.push_back(order.size());
  std::vector<sssp_distance<W>> lengths(order.size(), sssp_unreached<W>);
  const int threads = detail::useful_threads(detail::team_size(ctx.threads()), groups, 1);
  detail::paths::by_slot<detail::paths::growth<D, I>> searches(threads);
  detail::on_threads(threads, groups, [&](detail::part_taker& taker) {
    for (std::int64_t group = 0; taker.take(group);) {
      const std::int64_t* const first = order.data() + firsts[static_cast<std::size_t>(group)];
      const std::int64_t* const last = order.data() + firsts[static_cast<std::size_t>(group) + 1];
      auto& search = searches.at(taker.slot(), ctx, std::int64_t{g.vertices()});
      detail::paths::find_targets<D, W, I, O>(g, search, sources[*first], targets, first, last, lengths);
    }
  });
  return lengths;
} catch (...) {
  detail::rethrow("path_lengths");
}

template <detail::scalar W, index_type I, index_type O>
void all_distances(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                   std::type_identity_t<span<const I, host>> sources, std::int64_t batch_bytes,
                   const distance_rows_visitor<sssp_distance<W>>& visit) try {
  detail::paths::check<W, I, O>("all_distances", ctx, g, {sources});
  using D = detail::sssp::wide_length<W>;
  using search = detail::sssp::dijkstra_search<W, D, I, O>;
  const std::int64_t n = g.vertices();
  const std::int64_t count = sources.empty() ? n : sources.size();
  if (count == 0) return;
  const std::int64_t row_bytes = n * std::int64_t{sizeof(D)};
  const std::int64_t batch = std::clamp<std::int64_t>(batch_bytes / row_bytes, 1, count);
  array<sssp_distance<W>, host> rows(ctx, batch * n);
  detail::sssp::host_search<W, D, I, O> shared;
  shared.out = {g.out, g.out_weights.data()};
  const int threads = detail::useful_threads(detail::team_size(ctx.threads()), batch, 1);
  detail::paths::by_slot<search> searches(threads);
  for (std::int64_t first = 0; first < count; first += batch) {
    const std::int64_t size = std::min(batch, count - first);
    detail::on_threads(threads, size, [&](detail::part_taker& taker) {
      for (std::int64_t k = 0; taker.take(k);) {
        const I source = sources.empty() ? static_cast<I>(first + k) : sources[first + k];
        // An unsigned length may be written through its signed type; unreached ones have the same bits.
        searches.at(taker.slot(), ctx, shared).run(source, reinterpret_cast<D*>(rows.data() + k * n));
      }
    });
    visit(first, rows.view().subspan(0, size * n));
  }
} catch (...) {
  detail::rethrow("all_distances");
}

#define INSTANTIATE(W, I, O)                                                                                      \
  template std::vector<sssp_distance<W>> path_lengths<W, I, O>(                                                   \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, std::type_identity_t<span<const I, host>>, \
      std::type_identity_t<span<const I, host>>);                                                                 \
  template void all_distances<W, I, O>(const context<host>&, const weighted_graph_view<W, I, O, host>&,           \
                                       std::type_identity_t<span<const I, host>>, std::int64_t,                   \
                                       const distance_rows_visitor<sssp_distance<W>>&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

// Checks walks: each step is looked up in the graph's rows, with the caller's weights.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/plan.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/walks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace spargo {

namespace {

// has_weight(e): whether entry e of the graph can be chosen.
template <class I, class O, class HasWeight>
class walk_check {
 public:
  walk_check(const csr_pattern_view<I, O, host>& rows, span<const I, host> walks, std::int64_t length,
             const HasWeight& has_weight)
      : rows_(rows), walks_(walks), stride_(length + 1), has_weight_(has_weight) {}

  // The fault of walk k, or empty.
  [[nodiscard]] std::string fault(std::int64_t k) const {
    const I* const walk = walks_.data() + k * stride_;
    if (!is_vertex(walk[0])) return fmt::format("walk {} starts at {}, which is not a vertex", k, walk[0]);
    for (std::int64_t step = 0; step + 1 < stride_; ++step) {
      const I from = walk[step];
      const I to = walk[step + 1];
      if (from == -1 && to == -1) continue;
      if (from == -1) return fmt::format("walk {} continues with {} after its end", k, to);
      if (to == -1 && leads_on(from)) return fmt::format("walk {} ends at {}, which has out-edges", k, from);
      if (to != -1 && (!is_vertex(to) || !is_step(from, to))) {
        return fmt::format("step {} of walk {} goes from {} to {}, which is no edge", step, k, from, to);
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool is_vertex(I v) const { return v >= 0 && v < rows_.rows; }
  [[nodiscard]] bool leads_on(I v) const {
    for (std::int64_t e = rows_.offsets[v]; e < rows_.offsets[v + 1]; ++e) {
      if (has_weight_(e)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_step(I from, I to) const {
    const I* const row = rows_.indices.data();
    const I* const first = row + rows_.offsets[from];
    const I* const last = row + rows_.offsets[from + 1];
    const auto is_chosen = [&](const I* e) { return *e == to && has_weight_(e - row); };
    for (const I* e = std::lower_bound(first, last, to); e < last && *e == to; ++e) {
      if (is_chosen(e)) return true;
    }
    if (std::is_sorted(first, last)) return false;
    for (const I* e = first; e < last; ++e) {
      if (is_chosen(e)) return true;
    }
    return false;
  }

  const csr_pattern_view<I, O, host>& rows_;
  span<const I, host> walks_;
  std::int64_t stride_;
  const HasWeight& has_weight_;
};

template <class I, class O, class HasWeight>
std::string find_fault(const context<host>& ctx, const graph_view<I, O, host>& g, span<const I, host> walks,
                       const walks_options& options, const HasWeight& has_weight) {
  SPARGO_EXPECTS(options.length >= 0 && walks.size() % (options.length + 1) == 0,
                 fmt::format("check_walks: {} vertices in walks of {} steps", walks.size(), options.length));
  const std::int64_t count = walks.size() / (options.length + 1);
  const walk_check check(g.out, walks, options.length, has_weight);
  constexpr std::int64_t batch = 64;
  std::atomic<std::int64_t> wrong{count};
  detail::parallel_parts(ctx.threads(), div_up(count, batch), [&](std::int64_t part) {
    interruption::look();
    for (std::int64_t k = part * batch; k < std::min(count, (part + 1) * batch); ++k) {
      if (!check.fault(k).empty()) return detail::lower_to(wrong, k);
    }
  });
  return wrong < count ? check.fault(wrong) : std::string();
}

}  // namespace

template <index_type I, index_type O>
std::string check_walks(const context<host>& ctx, const graph_view<I, O, host>& g,
                        std::type_identity_t<span<const I, host>> walks, const walks_options& options) try {
  detail::expect_graph("check_walks", g);
  return find_fault(ctx, g, walks, options, [](std::int64_t) { return true; });
} catch (...) {
  detail::rethrow("check_walks");
}
template <detail::scalar W, index_type I, index_type O>
std::string check_walks(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                        std::type_identity_t<span<const I, host>> walks, const walks_options& options) try {
  detail::expect_graph("check_walks", g);
  const graph_view<I, O, host>& edges = g;
  return find_fault(ctx, edges, walks, options, [&](std::int64_t e) { return g.out_weights[e] > 0; });
} catch (...) {
  detail::rethrow("check_walks");
}

#define INSTANTIATE(I, O)                                                               \
  template std::string check_walks(const context<host>&, const graph_view<I, O, host>&, \
                                   std::type_identity_t<span<const I, host>>, const walks_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_W(W, I, O)                                                                      \
  template std::string check_walks(const context<host>&, const weighted_graph_view<W, I, O, host>&, \
                                   std::type_identity_t<span<const I, host>>, const walks_options&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE_W)

}  // namespace spargo

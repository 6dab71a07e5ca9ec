// Device closeness: sums over sources, from searches by blocks (cuda_narrow.cuh) where frontiers stay small, and from
// batches of the multi-source search, whose sink adds to one sum per vertex, elsewhere.
//
// In an undirected graph a vertex is reached by the sources of its component, so that only distances are added up. Cost
// beside multi_bfs: one 64-bit atomic addition (two in a directed graph) for a vertex and level with new bits, and one
// pass over the sums.
#include "core/instantiate.hpp"
#include "graph/closeness/cuda_narrow.cuh"
#include "graph/closeness/executor.hpp"
#include "graph/multi_bfs/cuda_batches.cuh"

#include <spargo/graph/components.hpp>

#include <array>
#include <optional>

namespace spargo::detail::closeness {

namespace {

// [vertex] a vertex of its component, the same for all of it; of a directed graph empty.
template <class I, class O>
array<I, device> label_components(const context<device>& ctx, const graph_view<I, O, device>& g) {
  if (g.direction == direction_kind::directed) return {};
  components_plan<I, O, device> plan(ctx, g);
  plan.run();
  return clone(ctx, plan.labels());
}

// Also counts the sources of each component, at its label.
template <class I>
void mark_sources(const context<device>& ctx, span<const I, device> sources, std::uint8_t* is_source, const I* labels,
                  count64* reached) {
  for_each(ctx, sources.size(), [=] __device__(std::int64_t k) {
    is_source[sources[k]] = 1;
    if (labels != nullptr) atomicAdd(reached + labels[sources[k]], count64{1});
  });
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g)
      : labels_(label_components(ctx, g)),
        batches_(ctx, g,
                 multi_bfs::choose(bfs::facts_of(g).can_pull, batch_size, {.output = multi_bfs_output::counts})) {
    const device_guard guard(ctx);
    sums_ = {ctx, g.vertices()};
    reached_ = {ctx, g.vertices()};
    is_source_ = {ctx, g.vertices()};
    values_ = {ctx, g.vertices()};
    sources_ = {ctx, narrow_tuning::batch};
    if (narrow_searches<I, O>::suits(ctx, g)) narrow_.emplace(ctx, g.out);
  }

  [[nodiscard]] std::int64_t batch() const noexcept override {
    return narrow_.has_value() ? narrow_tuning::batch : batch_size;
  }
  void reset() override {
    const device_guard guard(ctx());
    fill_zero(ctx(), sums_.view());
    fill_zero(ctx(), reached_.view());
    fill_zero(ctx(), is_source_.view());
  }
  void add(span<const I, host> sources, const sum_rule& rule) override {
    const device_guard guard(ctx());
    const auto marked = sources_.view().subspan(0, sources.size());
    copy<I>(ctx(), sources, marked);
    mark_sources<I>(ctx(), marked, is_source_.data(), labels_.data(), reached_.data());
    if (!narrow_.has_value()) return add_together(sources, rule);
    const std::vector<I> others = narrow_->add(sources, sums_.data(), rule);
    if (2 * std::ssize(others) > sources.size()) narrow_.reset();
    add_together(span<const I, host>(others), rule);
  }
  void finish(const value_rule& rule) override {
    for_each(
        ctx(), values_.size(),
        [rule, sums = sums_.view(), reached = reached_.view(), is_source = is_source_.view(), labels = labels_.data(),
         to = values_.view()] __device__(std::int64_t v) {
          const count64 by = labels == nullptr ? reached[v] : reached[labels[v]] - is_source[v];
          to[v] = rule.value({static_cast<std::int64_t>(sums[v]), static_cast<std::int64_t>(by)}, is_source[v] != 0);
        });
  }
  [[nodiscard]] span<const double, device> values() const noexcept override { return values_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return batches_.workspace_bytes() + bytes_of(labels_, sums_, reached_, is_source_, values_, sources_) +
           (narrow_.has_value() ? narrow_->workspace_bytes() : 0);
  }

 private:
  [[nodiscard]] const context<device>& ctx() const noexcept { return batches_.ctx(); }

  void add_together(span<const I, host> sources, const sum_rule& rule) {
    for (std::int64_t first = 0; first < sources.size(); first += batch_size) {
      const auto some = sources.subspan(first, std::min(batch_size, sources.size() - first));
      batches_.run(some, span<multi_bfs_counts, host>(counts_).subspan(0, some.size()), [&](auto& s) {
        s.sums = sums_.data();
        s.rule = rule;
        s.reached = labels_.empty() ? reached_.data() : nullptr;
      });
    }
  }

  array<I, device> labels_;  // of components; of a directed graph none
  multi_bfs::device_batches<I, O, multi_bfs::sum_sink, 4> batches_;
  std::optional<narrow_searches<I, O>> narrow_;  // until frontiers turn out to be large
  array<count64, device> sums_;
  array<count64, device> reached_;  // sources that reach the vertex, or, at a label, those of the component
  array<std::uint8_t, device> is_source_;
  array<double, device> values_;
  array<I, device> sources_;
  std::array<multi_bfs_counts, batch_size> counts_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g) {
  return std::make_unique<device_executor<I, O>>(ctx, g);
}

#define INSTANTIATE(I, O) \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::closeness

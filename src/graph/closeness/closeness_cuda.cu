// Device closeness: batches of the multi-source search whose sink adds to one sum per vertex.
//
// Cost beside multi_bfs: two 64-bit atomic additions for a vertex and level with new bits, and one pass over the sums.
#include "core/instantiate.hpp"
#include "graph/closeness/executor.hpp"
#include "graph/multi_bfs/cuda_batches.cuh"

#include <array>

namespace spargo::detail::closeness {

namespace {

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g)
      : batches_(ctx, g,
                 multi_bfs::choose(bfs::facts_of(g).can_pull, batch_size, {.output = multi_bfs_output::counts})) {
    const device_guard guard(ctx);
    sums_ = {ctx, g.vertices()};
    is_source_ = {ctx, g.vertices()};
    values_ = {ctx, g.vertices()};
  }

  void reset() override {
    const device_guard guard(ctx());
    fill_zero(ctx(), sums_.view());
    fill_zero(ctx(), is_source_.view());
  }
  void add(span<const I, host> sources, const sum_rule& rule) override {
    const device_guard guard(ctx());
    batches_.run(sources, span<multi_bfs_counts, host>(counts_).subspan(0, sources.size()), [&](auto& s) {
      s.sums = sums_.data();
      s.rule = rule;
    });
    for_each(ctx(), sources.size(),
             [from = batches_.sources(sources.size()), to = is_source_.view()] __device__(std::int64_t k) {
               to[from[k]] = 1;
             });
  }
  void finish(const value_rule& rule) override {
    for_each(ctx(), values_.size(),
             [rule, sums = sums_.view(), is_source = is_source_.view(),
              to = values_.view()] __device__(std::int64_t v) { to[v] = rule.value(sums[v], is_source[v] != 0); });
  }
  [[nodiscard]] span<const double, device> values() const noexcept override { return values_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return batches_.workspace_bytes() + bytes_of(sums_, is_source_, values_);
  }

 private:
  [[nodiscard]] const context<device>& ctx() const noexcept { return batches_.ctx(); }

  multi_bfs::device_batches<I, O, multi_bfs::sum_sink, 4> batches_;
  array<distance_sum, device> sums_;
  array<std::uint8_t, device> is_source_;
  array<double, device> values_;
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

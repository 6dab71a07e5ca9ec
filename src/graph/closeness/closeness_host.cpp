// Host closeness: batches of the multi-source search that add to one sum per vertex.
#include "core/bytes_of.hpp"
#include "graph/closeness/executor.hpp"
#include "graph/multi_bfs/host_batches.hpp"

#include "core/instantiate.hpp"

#include <array>

namespace spargo::detail::closeness {

namespace {

template <class I, class O>
class host_executor final : public executor<I, host> {
 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g)
      : batches_(ctx, g,
                 multi_bfs::choose(bfs::facts_of(g).can_pull, std::max<std::int64_t>(1, g.vertices()),
                                   {.output = multi_bfs_output::counts})),
        sums_(ctx, g.vertices()),
        is_source_(ctx, g.vertices()),
        values_(ctx, g.vertices()) {}

  void reset() override {
    multi_bfs::fill(batches_.threads(), sums_.view(), distance_sum{});
    multi_bfs::fill(batches_.threads(), is_source_.view(), std::uint8_t{0});
  }
  void add(span<const I, host> sources, const sum_rule& rule) override {
    for (const I v : sources) is_source_[v] = 1;
    batches_.run(sources, span<multi_bfs_counts, host>(counts_).subspan(0, sources.size()),
                 {.sums = sums_.data(), .rule = rule});
  }
  void finish(const value_rule& rule) override {
    parallel_for(batches_.threads(), values_.size(), grain::elements,
                 [&](std::int64_t v) { values_[v] = rule.value(sums_[v], is_source_[v] != 0); });
  }
  [[nodiscard]] span<const double, host> values() const noexcept override { return values_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return batches_.workspace_bytes() + bytes_of(sums_, is_source_, values_);
  }

 private:
  multi_bfs::host_batches<I, O> batches_;
  array<distance_sum, host> sums_;
  array<std::uint8_t, host> is_source_;
  array<double, host> values_;
  std::array<multi_bfs_counts, batch_size> counts_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g) {
  return std::make_unique<host_executor<I, O>>(ctx, g);
}

#define INSTANTIATE(I, O) \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::closeness

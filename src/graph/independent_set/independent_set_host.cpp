// Maximal independent sets on the host: vertices in order (greedy/ordered_host.hpp).
//
// A vertex joins the set once no neighbour of lower rank is undecided and none has joined. A vertex that joins excludes
// its neighbours, so most vertices are decided before their rows are read. A single thread meets no undecided vertex of
// lower rank, so it reads the rows of members only. Cost: members' rows twice, others' as far as the neighbour that
// they wait for.
#include "core/instantiate.hpp"
#include "graph/greedy/ordered_host.hpp"
#include "graph/independent_set/executor.hpp"

#include <spargo/graph/frontier/prefetch.hpp>

#include <atomic>
#include <utility>

namespace spargo::detail::independent_set {

namespace {

// Two threads of a cloud Xeon take 2.2, 1.2 and .8 times as long as one on R-MAT 20, a grid and a uniform graph.
constexpr int least_threads = 4;

template <class I, class O>
class host_executor final : public greedy::host_executor<host_executor<I, O>, executor<host>, std::uint8_t, I, O> {
  using base = greedy::host_executor<host_executor, executor<host>, std::uint8_t, I, O>;
  using base::n_, base::sides_, base::ranks_, base::values_;
  using typename base::rows;
  using shared_state = std::atomic_ref<std::uint8_t>;

 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, greedy::ranking<I, host>&& ranks)
      : base(ctx, g, std::move(ranks), greedy::threads_from(ctx, least_threads)) {}

  void run() override {
    base::decide_all(undecided);
    this->count_ = base::count_values([](std::uint8_t state) { return state == inside; });
  }
  [[nodiscard]] span<const std::uint8_t, host> members() const noexcept override { return values_.view(); }
  [[nodiscard]] std::int64_t size() const override { return this->count_; }

 private:
  friend base;
  template <bool Alone>
  [[nodiscard]] bool attempt(int /*slot*/, I rank) {
    prefetch_rows(sides_[0], ranks_.order.data(), rank, n_);
    const I v = ranks_.order[rank];
    const shared_state mine(values_[v]);
    if (mine.load(std::memory_order_relaxed) != undecided) return true;
    if constexpr (!Alone) {
      for (const rows& side : sides_) {
        if (side.offsets.empty()) continue;
        for (O e = side.offsets[v]; e < side.offsets[v + 1]; ++e) {
          const I u = side.indices[e];
          const std::uint8_t state = shared_state(values_[u]).load(std::memory_order_relaxed);
          if (state == inside) {
            mine.store(outside, std::memory_order_relaxed);
            return true;
          }
          if (state == undecided && ranks_.rank[u] < rank) return false;
        }
      }
    }
    mine.store(inside, std::memory_order_relaxed);
    for (const rows& side : sides_) {
      if (side.offsets.empty()) continue;
      for (O e = side.offsets[v]; e < side.offsets[v + 1]; ++e) {
        if (side.indices[e] != v) shared_state(values_[side.indices[e]]).store(outside, std::memory_order_relaxed);
      }
    }
    return true;
  }
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                              greedy::ranking<I, host>&& ranks) {
  return std::make_unique<host_executor<I, O>>(ctx, g, std::move(ranks));
}

#define INSTANTIATE(I, O)                                                                                     \
  template std::unique_ptr<executor<host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                         greedy::ranking<I, host>&&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::independent_set

// Maximal matchings on the host: vertices in order (greedy/ordered_host.hpp).
//
// A vertex without a mate takes its free neighbour w of the lowest rank, once no neighbour of either that is undecided
// has a lower rank than its own. A match writes w's mate first, so a thread that sees a neighbour of w decided also
// sees whether w is free. A single thread meets no undecided vertex of lower rank, and reads only the rows of vertices
// that are free at their turn. Cost: these rows, and those of their mates.
#include "core/instantiate.hpp"
#include "graph/greedy/ordered_host.hpp"
#include "graph/matching/executor.hpp"

#include <spargo/graph/frontier/prefetch.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace spargo::detail::matching {

namespace {

constexpr int undecided = single - 1;

// Two threads of a cloud Xeon take 6, 2 and 3 times as long as one on R-MAT 20, a grid and a uniform graph.
constexpr int least_threads = 8;

template <class I, class O>
class host_executor final : public greedy::host_executor<host_executor<I, O>, executor<I, host>, I, I, O> {
  using base = greedy::host_executor<host_executor, executor<I, host>, I, I, O>;
  using base::n_, base::sides_, base::ranks_, base::values_;
  using typename base::rows;
  using shared_mate = std::atomic_ref<I>;

 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, greedy::ranking<I, host>&& ranks)
      : base(ctx, g, std::move(ranks), greedy::threads_from(ctx, least_threads)) {}

  void run() override {
    base::decide_all(I{undecided});
    this->count_ = base::count_values([](I mate) { return mate >= 0; }) / 2;
  }
  [[nodiscard]] span<const I, host> mates() const noexcept override { return values_.view(); }
  [[nodiscard]] std::int64_t size() const override { return this->count_; }

 private:
  // The state of a vertex; `undecided` if it is below `single`.
  [[nodiscard]] I mate_of(I v) { return shared_mate(values_[v]).load(std::memory_order_acquire); }

  // Calls f(u, u's state) for each neighbour but v; returns false if it did.
  template <class F>
  [[nodiscard]] bool all_of_neighbours(I v, const F& f) {
    for (const rows& side : sides_) {
      if (side.offsets.empty()) continue;
      for (O e = side.offsets[v]; e < side.offsets[v + 1]; ++e) {
        const I u = side.indices[e];
        if (u != v && !f(u, mate_of(u))) return false;
      }
    }
    return true;
  }

  friend base;
  template <bool Alone>
  [[nodiscard]] bool attempt(int /*slot*/, I rank) {
    prefetch_rows(sides_[0], ranks_.order.data(), rank, n_);
    const I v = ranks_.order[rank];
    if (mate_of(v) >= 0) return true;
    I best = static_cast<I>(n_);  // rank
    if (!all_of_neighbours(v, [&](I u, I mate) {
          if (mate >= single) return true;
          const I other = ranks_.rank[u];
          best = std::min(best, other);
          return other > rank;
        })) {
      return false;
    }
    if (best == n_) {
      if (mate_of(v) < 0) shared_mate(values_[v]).store(single, std::memory_order_release);
      return true;
    }
    const I w = ranks_.order[best];
    if constexpr (!Alone) {
      if (!all_of_neighbours(w, [&](I u, I mate) { return mate >= single || ranks_.rank[u] >= rank; })) return false;
      if (mate_of(v) >= 0) return true;
      if (mate_of(w) >= 0) return false;
    }
    shared_mate(values_[w]).store(v, std::memory_order_release);
    shared_mate(values_[v]).store(w, std::memory_order_release);
    return true;
  }
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 greedy::ranking<I, host>&& ranks) {
  return std::make_unique<host_executor<I, O>>(ctx, g, std::move(ranks));
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            greedy::ranking<I, host>&&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::matching

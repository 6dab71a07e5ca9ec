// Maximal matchings on the host: vertices in order (greedy/ordered_host.hpp).
//
// A vertex without a mate takes its free neighbour w of the lowest rank once nobody of lower rank is undecided that
// could take either of them: no neighbour of its own, and none of w. Whoever matches writes w's mate first, so one that
// sees a neighbour of w decided sees whether w is free. A single thread meets no undecided vertex of lower rank and
// reads the rows of vertices that are free at their turn. Cost: each such row, and that of its mate.
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
class host_executor final : public executor<I, host> {
  using rows = csr_pattern_view<I, O, host>;
  using shared_mate = std::atomic_ref<I>;

 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, greedy::ranking<I, host>&& ranks)
      : threads_(greedy::threads_from(ctx, least_threads)),
        n_(g.vertices()),
        sides_(greedy::sides_of(g)),
        ranks_(std::move(ranks)),
        mates_(ctx, n_),
        loop_(ctx, threads_) {}

  void run() override {
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) { mates_[v] = undecided; });
    if (threads_ == 1) {
      loop_.run(n_, [&](int, std::int64_t rank) { return attempt<true>(static_cast<I>(rank)); });
    } else {
      loop_.run(n_, [&](int, std::int64_t rank) { return attempt<false>(static_cast<I>(rank)); });
    }
    size_ = parallel_reduce(
        threads_, n_, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          return std::count_if(mates_.data() + first, mates_.data() + last, [](I mate) { return mate >= 0; });
        },
        [](std::int64_t a, std::int64_t b) { return a + b; });
    size_ /= 2;
  }

  [[nodiscard]] span<const I, host> mates() const noexcept override { return mates_.view(); }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return 3 * n_ * std::int64_t{sizeof(I)} + loop_.bytes();
  }

 private:
  // The state of a vertex; `undecided` if it is below `single`.
  [[nodiscard]] I mate_of(I v) { return shared_mate(mates_[v]).load(std::memory_order_acquire); }

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

  template <bool Alone>
  [[nodiscard]] bool attempt(I rank) {
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
      if (mate_of(v) < 0) shared_mate(mates_[v]).store(single, std::memory_order_release);
      return true;
    }
    const I w = ranks_.order[best];
    if constexpr (!Alone) {
      if (!all_of_neighbours(w, [&](I u, I mate) { return mate >= single || ranks_.rank[u] >= rank; })) return false;
      if (mate_of(v) >= 0) return true;
      if (mate_of(w) >= 0) return false;
    }
    shared_mate(mates_[w]).store(v, std::memory_order_release);
    shared_mate(mates_[v]).store(w, std::memory_order_release);
    return true;
  }

  int threads_;
  std::int64_t n_;
  std::array<rows, 2> sides_;
  greedy::ranking<I, host> ranks_;
  array<I, host> mates_;
  greedy::ordered_loop<I> loop_;
  std::int64_t size_ = 0;
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

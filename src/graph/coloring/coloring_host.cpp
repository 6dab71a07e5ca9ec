// Colouring on the host: vertices in order (greedy/ordered_host.hpp) take the smallest colour that is free.
//
// A neighbour that has a colour has a lower rank, since the others wait for this vertex; so only the ranks of
// neighbours without one are looked up. A vertex's colour is at most the number of its edges: a row of up to 63 edges
// needs one word of colours, a longer one an array of marks. A single thread meets no vertex of lower rank without a
// colour. Cost: one pass over each row.
#include "core/instantiate.hpp"
#include "graph/coloring/executor.hpp"
#include "graph/greedy/ordered_host.hpp"

#include <spargo/graph/frontier/prefetch.hpp>

#include <atomic>
#include <bit>
#include <utility>

namespace spargo::detail::coloring {

namespace {

constexpr std::int64_t word = 63;  // edges of a row whose colours fit one word

template <class I, class O>
class host_executor final : public greedy::host_executor<host_executor<I, O>, executor<I, host>, I, I, O> {
  using base = greedy::host_executor<host_executor, executor<I, host>, I, I, O>;
  using base::n_, base::sides_, base::ranks_, base::values_;
  using typename base::rows;

 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, greedy::ranking<I, host>&& ranks)
      : base(ctx, g, std::move(ranks), ctx.threads()),
        marks_per_thread_(most_colors(n_, sides_[0].nnz() + sides_[1].nnz()) + 1),
        marks_(ctx, ctx.threads() * marks_per_thread_) {
    std::fill_n(marks_.data(), marks_.size(), I{-1});
  }

  void run() override {
    base::decide_all(I{-1});
    this->count_ = parallel_reduce(
        this->threads_, n_, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t most = 0;
          for (std::int64_t v = first; v < last; ++v) most = std::max<std::int64_t>(most, values_[v] + I{1});
          return most;
        },
        [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  [[nodiscard]] span<const I, host> colors() const noexcept override { return values_.view(); }
  [[nodiscard]] I count() const override { return static_cast<I>(this->count_); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() + marks_.size() * std::int64_t{sizeof(I)};
  }

 private:
  [[nodiscard]] std::int64_t edges_of(std::int64_t v) const {
    std::int64_t sum = 0;
    for (const rows& side : sides_) {
      if (!side.offsets.empty()) sum += static_cast<std::int64_t>(side.offsets[v + 1]) - side.offsets[v];
    }
    return sum;
  }
  // Calls taken(c) for the colour of each neighbour. Returns false at the first one of lower rank that has none.
  template <bool Alone, class Taken>
  [[nodiscard]] bool for_each_color(I v, I rank, const Taken& taken) {
    for (const rows& side : sides_) {
      if (side.offsets.empty()) continue;
      for (O e = side.offsets[v]; e < side.offsets[v + 1]; ++e) {
        const I u = side.indices[e];
        const I color = std::atomic_ref<I>(values_[u]).load(std::memory_order_relaxed);
        if (color >= 0) {
          taken(color);
        } else if (!Alone && ranks_.rank[u] < rank) {
          return false;
        }
      }
    }
    return true;
  }

  friend base;
  template <bool Alone>
  [[nodiscard]] bool attempt(int slot, I rank) {
    prefetch_rows(sides_[0], ranks_.order.data(), rank, n_);
    const I v = ranks_.order[rank];
    const std::int64_t edges = edges_of(v);
    I color = 0;
    if (edges <= word) {
      std::uint64_t used = 0;
      if (!for_each_color<Alone>(v, rank, [&](I c) { used |= c <= word ? std::uint64_t{1} << c : 0; })) return false;
      color = static_cast<I>(std::countr_one(used));
    } else {
      I* const marks = marks_.data() + slot * marks_per_thread_;
      if (!for_each_color<Alone>(v, rank, [&](I c) {
            if (c <= edges) marks[c] = rank;
          })) {
        return false;
      }
      while (marks[color] == rank) ++color;
    }
    std::atomic_ref<I>(values_[v]).store(color, std::memory_order_relaxed);
    return true;
  }

  std::int64_t marks_per_thread_;
  array<I, host> marks_;  // [slot, colour] rank of the last vertex that had a neighbour of this colour
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

}  // namespace spargo::detail::coloring

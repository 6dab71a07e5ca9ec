// Shared by the host executors of spanning forests: the marks of the forest's edges, and the list made from them.
//
// A bit per entry marks the forest's edges. They are counted by parts of the rows and then written in the rows' order.
// Sums are formed in the order of sum_shape.
#pragma once

#include "core/bytes_of.hpp"
#include "core/parallel.hpp"
#include "graph/components/host_forest.hpp"
#include "graph/forest/executor.hpp"
#include "graph/frontier/row_parts.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

namespace spargo::detail::forest {

using components::host_forest;

template <class W>
[[nodiscard]] weight_sum<W> sum_of_chunk(const auto* terms, std::int64_t count) {
  weight_sum<W> lanes[sum_shape::lanes] = {};
  for (std::int64_t k = 0; k < count; ++k) {
    lanes[k % sum_shape::lanes] = lanes[k % sum_shape::lanes] + weight_sum<W>(terms[k]);
  }
  for (int half = sum_shape::lanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) lanes[k] = lanes[k] + lanes[k + half];
  }
  return lanes[0];
}

template <class W, class I, class O>
class host_executor : public executor<W, I, host> {
 public:
  host_executor(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, const forest_options& options)
      : ctx_(ctx),
        threads_(ctx.threads()),
        n_(g.vertices()),
        rows_(g.out),
        given_(g.out_weights),
        flips_(options.objective == forest_objective::maximum),
        parts_(rows_, part_units),
        marked_(ctx, div_up(rows_.nnz(), std::int64_t{64})),
        parents_(ctx, n_),
        sources_(ctx, n_),
        targets_(ctx, n_),
        weights_(ctx, n_),
        before_(static_cast<std::size_t>(parts_.count())),
        sums_(static_cast<std::size_t>(div_up(n_, std::int64_t{sum_shape::chunk}))) {}

  void run() final {
    parallel_for(threads_, marked_.size(), grain::elements, [&](std::int64_t k) { marked_[k] = 0; });
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) { parents_[v] = static_cast<I>(v); });
    mark_forest();
    list_marked();
  }

  [[nodiscard]] const found_forest<W, I, host>& found() const noexcept final { return found_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept final {
    return bytes_of(marked_, parents_, sources_, targets_, weights_) + own_bytes();
  }

  static constexpr std::int64_t part_units = std::int64_t{1} << 15;  // vertices plus entries

 protected:
  // Marks the forest's edges. Every vertex is its own parent.
  virtual void mark_forest() = 0;
  [[nodiscard]] virtual std::int64_t own_bytes() const noexcept = 0;

  template <class Key>
  [[nodiscard]] key_order<Key, W> order() const {
    using bits = typename Key::weight_bits;
    return {flips_ ? static_cast<bits>(~bits{0}) : bits{0}};
  }
  [[nodiscard]] host_forest<I> trees() { return host_forest<I>(parents_.data()); }

  void mark(std::int64_t place, bool alone) {
    std::uint64_t& word = marked_[place / 64];
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    if (alone) {
      word |= bit;
    } else {
      std::atomic_ref<std::uint64_t>(word).fetch_or(bit, std::memory_order_relaxed);
    }
  }

  context<host> ctx_;
  int threads_;
  std::int64_t n_;
  csr_pattern_view<I, O, host> rows_;
  span<const W, host> given_;
  bool flips_;
  row_parts<I, O> parts_;
  array<std::uint64_t, host> marked_;  // a bit per entry
  array<I, host> parents_;

 private:
  // Calls f(place) for the marked entries of [first, last), ascending.
  template <class F>
  void for_each_marked(std::int64_t first, std::int64_t last, F&& f) const {
    for (std::int64_t w = first / 64; w * 64 < last; ++w) {
      std::uint64_t word = marked_[w];
      if (w * 64 < first) word &= ~std::uint64_t{0} << (first % 64);
      for (; word != 0; word &= word - 1) {
        const std::int64_t place = w * 64 + std::countr_zero(word);
        if (place >= last) return;
        f(place);
      }
    }
  }

  void list_marked() {
    parallel_parts(threads_, parts_.count(), [&](std::int64_t part) {
      std::int64_t own = 0;
      parts_.for_each(part, [&](I, std::int64_t first, std::int64_t last) {
        for_each_marked(first, last, [&](std::int64_t) { ++own; });
      });
      before_[static_cast<std::size_t>(part)] = own;
    });
    std::int64_t edges = 0;
    for (std::int64_t& before : before_) edges += std::exchange(before, edges);
    parallel_parts(threads_, parts_.count(), [&](std::int64_t part) {
      std::int64_t next = before_[static_cast<std::size_t>(part)];
      parts_.for_each(part, [&](I u, std::int64_t first, std::int64_t last) {
        for_each_marked(first, last, [&](std::int64_t place) {
          sources_[next] = u;
          targets_[next] = rows_.indices[place];
          weights_[next++] = given_[place];
        });
      });
    });
    found_ = {std::as_const(sources_).view().subspan(0, edges), std::as_const(targets_).view().subspan(0, edges),
              std::as_const(weights_).view().subspan(0, edges), total_of(sum(edges))};
  }

  [[nodiscard]] weight_sum<W> sum(std::int64_t edges) {
    constexpr std::int64_t chunk = sum_shape::chunk;
    if (edges == 0) return {};
    std::int64_t count = div_up(edges, chunk);
    parallel_for(threads_, count, grain::elements / chunk, [&](std::int64_t c) {
      sums_[static_cast<std::size_t>(c)] =
          sum_of_chunk<W>(weights_.data() + c * chunk, std::min(chunk, edges - c * chunk));
    });
    while (count > 1) {
      const std::int64_t terms = std::exchange(count, div_up(count, chunk));
      for (std::int64_t c = 0; c < count; ++c) {
        sums_[static_cast<std::size_t>(c)] =
            sum_of_chunk<W>(sums_.data() + c * chunk, std::min(chunk, terms - c * chunk));
      }
    }
    return sums_[0];
  }

  array<I, host> sources_;
  array<I, host> targets_;
  array<W, host> weights_;
  std::vector<std::int64_t> before_;  // [part] edges before it
  std::vector<weight_sum<W>> sums_;   // [chunk]
  found_forest<W, I, host> found_;
};

}  // namespace spargo::detail::forest

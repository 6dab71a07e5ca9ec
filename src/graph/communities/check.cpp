// Checks labels by repeating all rounds literally.
//
// A vertex counts its neighbours' labels in an array of all labels, then resets them. It stops early only after a round
// that changed nothing or restored those of two rounds before. O(vertices + edges) random accesses per round.
#include <spargo/core/interruption.hpp>
#include <spargo/graph/communities.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/with_in_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace spargo {

namespace {

constexpr int most_threads = 8;  // each has an array of all labels

template <class I, class O>
class label_rounds {
 public:
  label_rounds(const context<host>& ctx, const graph_view<I, O, host>& g)
      : n_(g.vertices()),
        ignores_loops_(g.loops > 0),
        parts_{{g.out}},
        times_(static_cast<std::size_t>(std::min(ctx.threads(), most_threads))) {
    if (g.direction == direction_kind::directed) parts_.push_back(g.in);
  }

  std::vector<I> labels_after(std::int64_t rounds, std::vector<I> labels) {
    std::vector<I> before;
    while (rounds-- > 0) {
      std::vector<I> after = labels_after_one(labels);
      if (after == labels) break;
      if (after == before) return rounds % 2 == 0 ? after : labels;
      before = std::exchange(labels, std::move(after));
    }
    return labels;
  }

 private:
  std::vector<I> labels_after_one(const std::vector<I>& before) {
    std::vector<I> after(before.size());
    const detail::parts shares = detail::chunks_of(n_, detail::grain::rows);
    detail::on_threads(static_cast<int>(times_.size()), shares.count, [&](detail::part_taker& mine) {
      std::vector<I>& times = times_[static_cast<std::size_t>(mine.slot())];
      times.resize(before.size());
      for (std::int64_t part; mine.take(part);) {
        interruption::look();
        for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) {
          after[static_cast<std::size_t>(v)] = label_of(v, before, times);
        }
      }
    });
    return after;
  }

  // `times` is all 0 before and after.
  [[nodiscard]] I label_of(std::int64_t v, const std::vector<I>& labels, std::vector<I>& times) const {
    I best = labels[static_cast<std::size_t>(v)];
    I most = 0;
    for (const csr_pattern_view<I, O, host>& edges : parts_) {
      for (O e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
        if (ignores_loops_ && edges.indices[e] == v) continue;
        const I label = labels[static_cast<std::size_t>(edges.indices[e])];
        const I count = ++times[static_cast<std::size_t>(label)];
        if (count > most || (count == most && label < best)) {
          most = count;
          best = label;
        }
      }
    }
    for (const csr_pattern_view<I, O, host>& edges : parts_) {
      for (O e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
        times[static_cast<std::size_t>(labels[static_cast<std::size_t>(edges.indices[e])])] = 0;
      }
    }
    return best;
  }

  std::int64_t n_;
  bool ignores_loops_;
  std::vector<csr_pattern_view<I, O, host>> parts_;
  std::vector<std::vector<I>> times_;  // [slot][label]
};

}  // namespace

template <index_type I, index_type O>
std::string check_communities(const context<host>& ctx, const graph_view<I, O, host>& g,
                              std::type_identity_t<span<const I, host>> labels, const communities_options& options,
                              std::type_identity_t<span<const I, host>> initial) try {
  const std::int64_t n = g.vertices();
  SPARGO_EXPECTS(initial.empty() || initial.size() == n,
                 fmt::format("check_communities: {} initial labels for {} vertices", initial.size(), n));
  for (const I label : initial) {
    SPARGO_EXPECTS(label >= 0 && label < n, fmt::format("check_communities: initial label {} of {}", label, n));
  }
  if (labels.size() != n) return fmt::format("{} labels for {} vertices", labels.size(), n);
  std::vector<I> right(initial.begin(), initial.end());
  for (I v = 0; initial.empty() && v < n; ++v) right.push_back(v);
  const detail::with_in_edges<I, O, host> pulled(ctx, g);
  const std::int64_t rounds = options.iterations == 0 ? 10 : options.iterations;
  if (n > 0) right = label_rounds<I, O>(ctx, pulled.view()).labels_after(rounds, std::move(right));
  const auto wrong = std::mismatch(right.begin(), right.end(), labels.begin());
  if (wrong.first == right.end()) return {};
  return fmt::format("vertex {} has label {} (expected {})", wrong.first - right.begin(), *wrong.second, *wrong.first);
} catch (...) {
  detail::rethrow("check_communities");
}

#define INSTANTIATE(I, O)                                                                                             \
  template std::string check_communities<I, O>(const context<host>&, const graph_view<I, O, host>&,                   \
                                               std::type_identity_t<span<const I, host>>, const communities_options&, \
                                               std::type_identity_t<span<const I, host>>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

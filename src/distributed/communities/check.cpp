// Checks labels by repeating all rounds: each vertex sorts its neighbours' labels and takes the longest run.
#include "distributed/bfs/check.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "distributed/exchange/with_ghosts.hpp"

#include <spargo/distributed/communities.hpp>

#include <fmt/format.h>

#include <utility>

namespace spargo {

namespace {

template <class I>
class label_rounds {
 public:
  label_rounds(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g)
      : comm_(comm), threads_(ctx.threads()), first_(g.parts().first(comm.rank())), sides_{g.out()} {
    if (g.direction() == direction_kind::directed) sides_.push_back(g.in());
    for (const auto& side : sides_) labels_.emplace_back(comm, ctx, side, g.parts());
  }

  std::vector<I> labels_after(std::int64_t rounds) {
    std::vector<I> labels(static_cast<std::size_t>(sides_[0].rows));
    for (std::size_t v = 0; v < labels.size(); ++v) labels[v] = static_cast<I>(first_ + static_cast<std::int64_t>(v));
    std::vector<I> before;
    for (std::int64_t done = 0; done < rounds; ++done) {
      for (auto& each : labels_) each.exchange_values(labels);
      std::vector<I> after(labels.size());
      detail::parallel_ranges(
          threads_, sides_[0].rows, detail::grain::rows, [&](std::int64_t first, std::int64_t last) {
            std::vector<I> row;
            for (std::int64_t v = first; v < last; ++v) {
              after[static_cast<std::size_t>(v)] = most_frequent(v, labels[static_cast<std::size_t>(v)], row);
            }
          });
      if (all_equal(after, labels)) break;
      if (done > 0 && all_equal(after, before)) return (rounds - done) % 2 != 0 ? after : labels;
      before = std::exchange(labels, std::move(after));
    }
    return labels;
  }

 private:
  // On every rank.
  [[nodiscard]] bool all_equal(const std::vector<I>& a, const std::vector<I>& b) const {
    return comm_.all_reduce<std::int64_t>(a == b ? 1 : 0, reduction::min) != 0;
  }

  [[nodiscard]] I most_frequent(std::int64_t v, I own, std::vector<I>& row) const {
    row.clear();
    for (std::size_t s = 0; s < sides_.size(); ++s) {
      for (std::int64_t e = sides_[s].offsets[v]; e < sides_[s].offsets[v + 1]; ++e) {
        if (sides_[s].indices[e] != first_ + v) row.push_back(labels_[s].values[labels_[s].place(e)]);
      }
    }
    std::sort(row.begin(), row.end());
    I best = own;
    std::size_t most = 0;
    for (std::size_t k = 0, begin = 0; k < row.size(); ++k) {
      if (row[k] != row[begin]) begin = k;
      if (k - begin + 1 > most) {
        most = k - begin + 1;
        best = row[k];
      }
    }
    return best;
  }

  const communicator& comm_;
  int threads_;
  std::int64_t first_;
  std::vector<csr_pattern_view<I, std::int64_t, host>> sides_;
  std::vector<detail::distributed::with_ghosts<I, I>> labels_;  // [side]
};

}  // namespace

template <index_type I>
std::string check_communities(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                              std::type_identity_t<span<const I, host>> labels, const communities_options& options) {
  const std::int64_t first = g.parts().first(comm.rank());
  const std::vector<I> right =
      label_rounds<I>(comm, ctx, g).labels_after(options.iterations == 0 ? 10 : options.iterations);
  std::string wrong;
  if (labels.size() != std::ssize(right)) {
    wrong = fmt::format("there are {} labels for {} vertices", labels.size(), right.size());
  } else if (const auto at = std::mismatch(right.begin(), right.end(), labels.begin()); at.first != right.end()) {
    wrong =
        fmt::format("vertex {} has label {} (expected {})", first + (at.first - right.begin()), *at.second, *at.first);
  }
  return detail::distributed::first_of(comm, std::move(wrong));
}

#define INSTANTIATE(I)                                                                                              \
  template std::string check_communities<I>(const communicator&, const context<host>&, const distributed_graph<I>&, \
                                            std::type_identity_t<span<const I, host>>, const communities_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo

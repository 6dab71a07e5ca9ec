// Building graphs on the host. The pairs are cut into one block per thread; each block's loops are counted, then its
// proper pairs copied to where they belong, so the order of the input is kept for any thread count. Two reads of
// the pairs and one write; without loops a directed graph's pairs are not copied at all.
#include "core/parallel.hpp"
#include "graph/graph/common.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <limits>

namespace spargo {

namespace {

template <class I>
class pair_filter {
 public:
  pair_filter(const context<host>& ctx, const coo_pattern_view<I, host>& pairs)
      : ctx_(ctx), pairs_(pairs), kept_(ctx, ctx.threads() + 1) {
    count();
  }

  [[nodiscard]] std::int64_t kept() const { return kept_[ctx_.threads()]; }

  // The proper pairs, followed by their mirror images when `direction` is undirected.
  [[nodiscard]] coo_matrix<pattern, I, host> copy(direction_kind direction) const {
    const bool mirrored = direction == direction_kind::undirected;
    coo_matrix<pattern, I, host> to(ctx_, pairs_.rows, pairs_.cols, mirrored ? 2 * kept() : kept());
    I* from = to.row_indices().data();
    I* into = to.col_indices().data();
    detail::parallel_parts(ctx_.threads(), ctx_.threads(), [&](std::int64_t block) {
      std::int64_t at = kept_[block];
      for (std::int64_t k = first(block); k < first(block + 1); ++k) {
        const I u = pairs_.row_indices[k];
        const I v = pairs_.col_indices[k];
        if (u == v) continue;
        from[at] = u;
        into[at] = v;
        if (mirrored) {
          from[at + kept()] = v;
          into[at + kept()] = u;
        }
        ++at;
      }
    });
    return to;
  }

 private:
  [[nodiscard]] std::int64_t first(std::int64_t block) const {
    return std::min(div_up(pairs_.nnz(), ctx_.threads()) * block, pairs_.nnz());
  }

  // kept_[block]: proper pairs in the blocks before.
  void count() {
    const I n = pairs_.rows;
    std::atomic<std::int64_t> first_bad{std::numeric_limits<std::int64_t>::max()};
    detail::parallel_parts(ctx_.threads(), ctx_.threads(), [&](std::int64_t block) {
      std::int64_t proper = 0;
      for (std::int64_t k = first(block); k < first(block + 1); ++k) {
        const I u = pairs_.row_indices[k];
        const I v = pairs_.col_indices[k];
        if (u < 0 || u >= n || v < 0 || v >= n) detail::lower_to(first_bad, k);
        proper += u != v ? 1 : 0;
      }
      kept_[block + 1] = proper;
    });
    const std::int64_t bad = first_bad.load();
    if (bad < pairs_.nnz()) detail::throw_bad_pair(bad, pairs_.row_indices[bad], pairs_.col_indices[bad], n);
    kept_[0] = 0;
    for (int block = 0; block < ctx_.threads(); ++block) kept_[block + 1] += kept_[block];
  }

  const context<host>& ctx_;
  coo_pattern_view<I, host> pairs_;
  array<std::int64_t, host> kept_;
};

}  // namespace

namespace detail {

template <index_type O, index_type I, class Space>
graph<I, O, Space> build_wide(const context<Space>& ctx, const coo_pattern_view<I, Space>& edges,
                              const graph_options& options) {
  const pair_filter<I> filter(ctx, edges);
  if (options.direction == direction_kind::directed && filter.kept() == edges.nnz()) {
    return graph_of_pairs<O>(ctx, edges, options);
  }
  const auto pairs = filter.copy(options.direction);
  return graph_of_pairs<O, I, Space>(ctx, pairs.view(), options);
}

#define INSTANTIATE(I, O)                                                                                   \
  template graph<I, O, host> build_wide<O, I, host>(const context<host>&, const coo_pattern_view<I, host>&, \
                                                    const graph_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace detail

}  // namespace spargo

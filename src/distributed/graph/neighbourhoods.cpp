// Own rows are renumbered; the entries that lead to ghosts are transposed into the ghosts' rows.
#include "distributed/graph/neighbourhoods.hpp"
#include "core/instantiate.hpp"
#include "distributed/graph/deal.hpp"
#include "graph/graph/build.hpp"

#include <algorithm>
#include <atomic>

namespace spargo::detail::distributed {

namespace {

template <class I>
using host_rows = csr_pattern_view<I, std::int64_t, host>;

// The rows of both sides merged, without loops.
template <class I>
csr_matrix<pattern, I, std::int64_t, host> joined(const context<host>& ctx, const std::vector<host_rows<I>>& sides,
                                                  std::int64_t first) {
  const std::int64_t n = sides[0].rows;
  const auto for_each_entry = [&](std::int64_t v, auto&& f) {
    for (const host_rows<I>& side : sides) {
      for (std::int64_t e = side.offsets[v]; e < side.offsets[v + 1]; ++e) {
        if (side.indices[e] != first + v) f(side.indices[e]);
      }
    }
  };
  array<std::int64_t, host> offsets(ctx, n + 1);
  offsets[0] = 0;
  parallel_for(ctx.threads(), n, grain::rows, [&](std::int64_t v) {
    std::int64_t size = 0;
    for_each_entry(v, [&](I) { ++size; });
    offsets[v + 1] = size;
  });
  for (std::int64_t v = 0; v < n; ++v) offsets[v + 1] += offsets[v];
  array<I, host> indices(ctx, offsets[n]);
  parallel_for(ctx.threads(), n, grain::rows, [&](std::int64_t v) {
    I* const begin = indices.data() + offsets[v];
    I* to = begin;
    for_each_entry(v, [&](I u) { *to++ = u; });
    std::inplace_merge(begin, std::is_sorted_until(begin, to), to);
  });
  return {sides[0].rows, sides[0].cols, std::move(offsets), std::move(indices), {}};
}

}  // namespace

template <class I>
neighbourhoods neighbourhoods_of(const context<host>& ctx, const distributed_graph<I>& g, int rank) {
  const std::int64_t first = g.parts().first(rank);
  std::vector<host_rows<I>> sides{g.out()};
  if (g.direction() == direction_kind::directed) sides.push_back(g.in());
  csr_matrix<pattern, I, std::int64_t, host> copied;
  if (sides.size() > 1 || count_loops(ctx, g.out(), first) > 0) copied = joined(ctx, sides, first);
  const host_rows<I> rows = copied.offsets().empty() ? g.out() : std::as_const(copied).view();

  local_columns columns = number_columns<I>(ctx, rows.indices, g.parts(), rank);
  const std::int64_t own = columns.own;
  neighbourhoods made{std::move(columns.ghosts), own, {}, {}};
  made.offsets = {ctx, made.size() + 1};
  const int threads = ctx.threads();
  std::copy_n(rows.offsets.data(), own + 1, made.offsets.data());
  std::int64_t* const next = made.offsets.data() + own;  // [ghost] where its next entry goes; before: their number
  std::fill(next + 1, made.offsets.end(), 0);
  const auto for_each_cut = [&](auto&& f) {
    parallel_for(threads, own, grain::rows, [&](std::int64_t v) {
      for (std::int64_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
        if (columns.indices[e] >= own) f(v, columns.indices[e] - own);
      }
    });
  };
  for_each_cut([&](std::int64_t, std::int64_t ghost) {
    std::atomic_ref<std::int64_t>(next[ghost + 1]).fetch_add(1, std::memory_order_relaxed);
  });
  for (std::int64_t k = own; k < made.size(); ++k) made.offsets[k + 1] += made.offsets[k];
  made.indices = {ctx, made.offsets[made.size()]};
  std::copy_n(columns.indices.data(), columns.indices.size(), made.indices.data());
  for_each_cut([&](std::int64_t v, std::int64_t ghost) {
    const std::int64_t to = std::atomic_ref<std::int64_t>(next[ghost]).fetch_add(1, std::memory_order_relaxed);
    made.indices[to] = static_cast<std::int32_t>(v);
  });
  // Each is now at the next one's begin.
  std::copy_backward(next, made.offsets.end() - 1, made.offsets.end());
  next[0] = rows.nnz();
  return made;
}

#define INSTANTIATE(I) \
  template neighbourhoods neighbourhoods_of(const context<host>&, const distributed_graph<I>&, int);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed

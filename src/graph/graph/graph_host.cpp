// Building graphs on the host: the pairs that are edges become matrix entries and are converted from COO.
//
// The pairs are partitioned and read in order: each part's loops are counted, then its edges are written at the sum of
// the counts before it. Invariant: the order of the pairs is kept, so the result is the same for any thread count.
// Cost: O(pairs + vertices); memory besides the pairs at most 24 bytes per pair, result included (I = int32). A
// directed graph's pairs are not copied: the conversion drops its loops, unless they are kept.
#include "core/parallel.hpp"
#include "graph/graph/build.hpp"

#include "core/instantiate.hpp"
#include "core/parts.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace spargo::detail {

namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

// Loops per part; the first pair that names no vertex, -1 if none.
struct pair_facts {
  parts shares;
  std::vector<std::int64_t> loops;
  std::int64_t first_bad = -1;

  [[nodiscard]] std::int64_t all_loops() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : loops) sum += count;
    return sum;
  }
};

template <class I>
pair_facts inspect(const context<host>& ctx, const coo_pattern_view<I, host>& pairs) {
  using bits = std::make_unsigned_t<I>;
  pair_facts facts{split(pairs.nnz(), ctx.threads(), grain::elements), {}, -1};
  facts.loops.resize(static_cast<std::size_t>(facts.shares.count));
  const auto n = static_cast<bits>(pairs.rows);
  const I* const rows = pairs.row_indices.data();
  const I* const cols = pairs.col_indices.data();
  const auto is_bad = [&](std::int64_t k) {  // negative values wrap to large ones
    return (static_cast<bits>(rows[k]) >= n) | (static_cast<bits>(cols[k]) >= n);
  };
  std::atomic<std::int64_t> first_bad{none};
  parallel_parts(ctx.threads(), facts.shares.count, [&](std::int64_t p) {
    std::int64_t loops = 0;
    bool bad = false;
    for (std::int64_t k = facts.shares.first(p); k < facts.shares.last(p); ++k) {
      loops += rows[k] == cols[k] ? 1 : 0;
      bad |= is_bad(k);
    }
    facts.loops[static_cast<std::size_t>(p)] = loops;
    std::int64_t at = facts.shares.first(p);
    while (bad && !is_bad(at)) ++at;
    if (bad) lower_to(first_bad, at);
  });
  if (first_bad.load() != none) facts.first_bad = first_bad.load();
  return facts;
}

template <class I>
void expect_vertices(std::int64_t k, const char* operation, const coo_pattern_view<I, host>& pairs) {
  if (k >= 0) {
    throw_bad_pair(operation, k, pairs.row_indices[k], pairs.col_indices[k], pairs.rows);
  }
}

template <class W, class I>
coo_matrix<weight_carrier<W>, I, host> pick(const context<host>& ctx, const coo_pattern_view<I, host>& pairs,
                                            span<const W, host> weights, const pair_facts& facts,
                                            const pair_rules& rules) {
  const bool drops = rules.loops == self_loops::drop && facts.all_loops() > 0;
  const bool turns = rules.direction == direction_kind::undirected;
  const I* const rows = pairs.row_indices.data();
  const I* const cols = pairs.col_indices.data();
  const parts& shares = facts.shares;
  coo_matrix<weight_carrier<W>, I, host> to(ctx, pairs.rows, pairs.cols, pairs.nnz() - (drops ? facts.all_loops() : 0));
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    std::int64_t at = shares.first(p);
    for (std::int64_t before = 0; drops && before < p; ++before) at -= facts.loops[static_cast<std::size_t>(before)];
    I* const to_rows = to.row_indices().data();
    I* const to_cols = to.col_indices().data();
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) {
      const I u = rows[k];
      const I v = cols[k];
      if (drops && u == v) continue;
      to_rows[at] = turns ? std::min(u, v) : u;
      to_cols[at] = turns ? std::max(u, v) : v;
      if constexpr (!is_pattern<W>) to.values()[at] = std::bit_cast<weight_carrier<W>>(weights[k]);
      ++at;
    }
  });
  return to;
}

template <class O, class T, class I>
graph<I, O, host> build_through(const context<host>& ctx, const coo_pattern_view<I, host>& pairs,
                                const graph_options& options) {
  constexpr const char* operation = "build_graph";
  const bool directed = options.direction == direction_kind::directed;
  const bool keeps_loops = options.loops == self_loops::keep;
  csr_matrix<pattern, I, T, host> entries;
  if (directed) {
    const convert::coo_facts order = convert::examine(ctx, pairs);
    expect_vertices(order.first_invalid, operation, pairs);
    entries = convert::coo_to_csr<T>(ctx, coo_view<const pattern, I, host>{pairs, {}}, order, duplicates::sum,
                                     symmetry_kind::general,
                                     keeps_loops ? convert::diagonal_entries::keep : convert::diagonal_entries::drop);
  } else {
    const pair_facts facts = inspect(ctx, pairs);
    expect_vertices(facts.first_bad, operation, pairs);
    const auto proper = pick<pattern, I>(ctx, pairs, {}, facts, {options.direction, options.loops});
    const coo_view<const pattern, I, host> view = proper.view();
    entries = convert::coo_to_csr<T>(ctx, view, convert::examine<I>(ctx, view), duplicates::sum);
  }
  const std::int64_t loops = keeps_loops ? count_loops<I, T>(ctx, std::as_const(entries).view()) : 0;
  if (!directed) entries = mirrored(ctx, std::move(entries));
  graph<I, O, host> g(structure_of<O>(ctx, operation, std::move(entries.offsets()), std::move(entries.indices())), {},
                      options.direction, loops);
  if (options.in_edges) add_in_edges(ctx, g);
  return g;
}

}  // namespace

template <class I, class O>
std::int64_t count_loops(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows, std::int64_t first) {
  return parallel_reduce(
      ctx.threads(), rows.rows, grain::rows, std::int64_t{0},
      [&](std::int64_t begin, std::int64_t end) {
        std::int64_t loops = 0;
        for (std::int64_t r = begin; r < end; ++r) {
          for (O e = rows.offsets[r]; e < rows.offsets[r + 1]; ++e) loops += rows.indices[e] == first + r ? 1 : 0;
        }
        return loops;
      },
      std::plus<>());
}

template <class W, class I, class Space>
coo_matrix<weight_carrier<W>, I, Space> proper_pairs(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                                     span<const W, Space> weights, const pair_rules& rules) {
  const pair_facts facts = inspect(ctx, pairs);
  expect_vertices(facts.first_bad, "build_weighted_graph", pairs);
  return pick<W, I>(ctx, pairs, weights, facts, rules);
}

template <index_type O, index_type I>
graph<I, O, host> build_from_pairs(const context<host>& ctx, const coo_pattern_view<I, host>& pairs,
                                   const graph_options& options) {
  // Intermediate offsets use the result's type if it can hold all pairs and their mirror images.
  if (pairs.nnz() <= std::numeric_limits<O>::max() / 2) return build_through<O, O>(ctx, pairs, options);
  return build_through<O, std::int64_t>(ctx, pairs, options);
}

#define INSTANTIATE_W(W, I)                                                 \
  template coo_matrix<weight_carrier<W>, I, host> proper_pairs<W, I, host>( \
      const context<host>&, const coo_pattern_view<I, host>&, span<const W, host>, const pair_rules&);
SPARGO_FOR_EACH_WEIGHT_INDEX(INSTANTIATE_W)

#define INSTANTIATE(I, O)                                                                                   \
  template graph<I, O, host> build_from_pairs<O, I>(const context<host>&, const coo_pattern_view<I, host>&, \
                                                    const graph_options&);                                  \
  template std::int64_t count_loops(const context<host>&, const csr_pattern_view<I, O, host>&, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail

// Host steps of building a weighted graph; see common.hpp for the idea.
//
// Both steps partition the entries, not the rows: each part is counted, then written at the sum of the counts before.
// Invariant: entries keep their order: one result for any thread count. Cost: O(entries + vertices), two passes each.
#include "core/parallel.hpp"
#include "graph/weighted/common.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace spargo::detail {

namespace {

// Exclusive prefix sum in place; returns the total.
std::int64_t sum_before(std::vector<std::int64_t>& counts) {
  std::int64_t total = 0;
  for (std::int64_t& count : counts) total += std::exchange(count, total);
  return total;
}

// Calls row(r) for each row that starts in [first, last), and run(k, end) for each run of equal columns that starts
// there; `end` is the end of its row.
template <class I, class Row, class Run>
void for_each_run(const csr_pattern_view<I, std::int64_t, host>& m, std::int64_t first, std::int64_t last, Row row,
                  Run run) {
  const std::int64_t* const offsets = m.offsets.data();
  std::int64_t next = std::lower_bound(offsets, offsets + m.rows, first) - offsets;
  for (std::int64_t k = first; k < last; ++k) {
    bool begins = false;
    for (; next <= m.rows && offsets[next] <= k; ++next) {
      row(next);
      begins = true;
    }
    if (begins || m.indices[k] != m.indices[k - 1]) run(k, offsets[next]);
  }
}

// Folds the entries of one part into `to` from `at`. Returns the first entry whose run overflows.
template <class W, class I>
std::int64_t fold_part(const csr_view<const weight_carrier<W>, I, std::int64_t, host>& from, std::int64_t first,
                       std::int64_t last, duplicate_weights rule, std::int64_t at,
                       csr_matrix<weight_carrier<W>, I, std::int64_t, host>& to) {
  const weight_fold<W> fold{rule};
  std::int64_t bad = std::numeric_limits<std::int64_t>::max();
  for_each_run<I>(
      from, first, last, [&](std::int64_t r) { to.offsets()[r] = at; },
      [&](std::int64_t k, std::int64_t end) {
        W weight = std::bit_cast<W>(from.values[k]);
        for (std::int64_t j = k + 1; j < end && from.indices[j] == from.indices[k]; ++j) {
          const W later = std::bit_cast<W>(from.values[j]);
          const W folded = fold(weight, later);
          if (fold.overflows(weight, later, folded)) bad = std::min(bad, k);
          weight = folded;
        }
        to.indices()[at] = from.indices[k];
        to.values()[at] = std::bit_cast<weight_carrier<W>>(weight);
        ++at;
      });
  return bad;
}

}  // namespace

template <class W, class I, class Space>
csr_matrix<weight_carrier<W>, I, std::int64_t, Space> fold_duplicates(
    const context<Space>& ctx, csr_matrix<weight_carrier<W>, I, std::int64_t, Space> entries, duplicate_weights rule) {
  const auto from = std::as_const(entries).view();
  const parts shares = split(from.nnz(), ctx.threads(), grain::elements);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(shares.count));
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    std::int64_t runs = 0;
    for_each_run<I>(
        from, shares.first(p), shares.last(p), [](std::int64_t) {}, [&](std::int64_t, std::int64_t) { ++runs; });
    starts[static_cast<std::size_t>(p)] = runs;
  });
  const std::int64_t total = sum_before(starts);
  if (total == from.nnz()) return entries;

  csr_matrix<weight_carrier<W>, I, std::int64_t, host> to(from.rows, from.cols, {ctx, from.offsets.size()},
                                                          {ctx, total}, {ctx, total});
  std::atomic<std::int64_t> first_bad{std::numeric_limits<std::int64_t>::max()};
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    lower_to(first_bad,
             fold_part<W, I>(from, shares.first(p), shares.last(p), rule, starts[static_cast<std::size_t>(p)], to));
  });
  std::int64_t* const ends = to.offsets().data();
  const auto last = std::lower_bound(from.offsets.begin(), from.offsets.end(), from.nnz()) - from.offsets.begin();
  std::fill(ends + last, ends + to.offsets().size(), total);
  if (const std::int64_t bad = first_bad.load(); bad < from.nnz()) {
    const auto row = std::upper_bound(from.offsets.begin(), from.offsets.end(), bad) - from.offsets.begin() - 1;
    throw_weight_overflow(row, from.indices[bad], sizeof(W));
  }
  return to;
}

#define INSTANTIATE(W, I)                                                                    \
  template csr_matrix<weight_carrier<W>, I, std::int64_t, host> fold_duplicates<W, I, host>( \
      const context<host>&, csr_matrix<weight_carrier<W>, I, std::int64_t, host>, duplicate_weights);
SPARGO_FOR_EACH_WEIGHT_INDEX(INSTANTIATE)

}  // namespace spargo::detail

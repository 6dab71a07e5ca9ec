// Device steps of building a weighted graph; see common.hpp for the idea.
//
// Pairs to keep and starts of runs of duplicates are selected. Runs are folded left to right: short ones by a thread
// each, long ones by a warp that loads 32 weights at once. Invariant: entries keep their order, and sums are formed in
// it. O(entries + vertices); scratch 9 bytes per pair, then 9 and an index per entry.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/device/words.cuh"
#include "core/instantiate.hpp"
#include "core/search.hpp"
#include "formats/convert/backend.hpp"
#include "graph/weighted/common.hpp"
#include "primitives/element.hpp"
#include "primitives/select/select.hpp"

namespace spargo::detail {

namespace {

constexpr std::int64_t short_run = 32;  // entries that one thread folds

// Reinterprets the values as W.
template <class W>
const W* weights_in(const array<weight_carrier<W>, device>& values) {
  return reinterpret_cast<const W*>(values.data());
}
template <class W>
W* weights_in(array<weight_carrier<W>, device>& values) {
  return reinterpret_cast<W*>(values.data());
}

// A run's folded weight so far, and whether it overflowed.
template <class W>
struct run_weight {
  W value;
  bool overflowed = false;

  __device__ void add(const weight_fold<W>& fold, W later) {
    const W folded = fold(value, later);
    overflowed |= fold.overflows(value, later, folded);
    value = folded;
  }
};

// folded[s]: weights[starts[s]] to weights[starts[s + 1] - 1], folded in order; first_bad: the first run to overflow.
template <class W>
__global__ void __launch_bounds__(block_threads)
    fold_runs(const W* weights, const std::int64_t* starts, std::int64_t runs, weight_fold<W> fold, W* folded,
              unsigned long long* first_bad) {
  const int lane = lane_id();
  // The loop bound is uniform across the warp, so that all lanes reach every collective.
  for (std::int64_t base = global_thread() - lane; base < runs; base += grid_threads()) {
    const std::int64_t run = base + lane;
    const std::int64_t begin = run < runs ? starts[run] : 0;
    const std::int64_t end = run < runs ? starts[run + 1] : 0;
    run_weight<W> mine{run < runs ? weights[begin] : W{}};
    if (end - begin <= short_run) {
      for (std::int64_t k = begin + 1; k < end; ++k) mine.add(fold, weights[k]);
    }
    for (unsigned rest = __ballot_sync(full_mask, end - begin > short_run); rest != 0; rest &= rest - 1) {
      const int of = __ffs(static_cast<int>(rest)) - 1;
      const std::int64_t last = shuffle(end, of);
      run_weight<W> all{shuffle(mine.value, of)};
      for (std::int64_t k = shuffle(begin, of) + 1; k < last; k += warp_size) {
        const W loaded = k + lane < last ? weights[k + lane] : W{};
        const int count = static_cast<int>(last - k < warp_size ? last - k : warp_size);
        for (int j = 0; j < count; ++j) all.add(fold, shuffle(loaded, j));
      }
      if (lane == of) mine = all;
    }
    if (run >= runs) continue;
    folded[run] = mine.value;
    if (mine.overflowed) atomicMin(first_bad, static_cast<unsigned long long>(run));
  }
}

}  // namespace

template <class W, class I, class Space>
coo_matrix<weight_carrier<W>, I, Space> proper_pairs(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                                     span<const W, Space> weights, const pair_rules& rules) {
  const bool drops = rules.loops == self_loops::drop;
  const bool turns = rules.direction == direction_kind::undirected;
  const std::int64_t size = pairs.nnz();
  const I* rows = pairs.row_indices.data();
  const I* cols = pairs.col_indices.data();
  array<std::uint8_t, device> flags(ctx, size);
  std::uint8_t* const flag = flags.data();
  for_each(ctx, size, [=] __device__(std::int64_t k) { flag[k] = drops && rows[k] == cols[k] ? 0 : 1; });
  const array<std::int64_t, device> kept = positions_of(ctx, flags.view());
  const std::int64_t* const place = kept.data();
  coo_matrix<weight_carrier<W>, I, device> to(ctx, pairs.rows, pairs.cols, kept.size());
  I* to_rows = to.row_indices().data();
  I* to_cols = to.col_indices().data();
  W* to_weights = weights_in<W>(to.values());
  const W* weight = weights.data();
  for_each(ctx, kept.size(), [=] __device__(std::int64_t k) {
    const I u = rows[place[k]];
    const I v = cols[place[k]];
    to_rows[k] = turns && v < u ? v : u;
    to_cols[k] = turns && v < u ? u : v;
    to_weights[k] = weight[place[k]];
  });
  return to;
}

template <class W, class I, class Space>
csr_matrix<weight_carrier<W>, I, std::int64_t, Space> fold_duplicates(
    const context<Space>& ctx, csr_matrix<weight_carrier<W>, I, std::int64_t, Space> entries, duplicate_weights rule) {
  const std::int64_t size = entries.nnz();
  if (size == 0) return entries;
  array<I, device> rows(ctx, size);
  convert::expand_rows<I, std::int64_t>(ctx, std::as_const(entries).offsets().view(), rows.view());
  const array<std::int64_t, device> starts =
      convert::run_starts<I>(ctx, std::as_const(rows).view(), std::as_const(entries).indices().view());
  if (starts.empty()) return entries;

  const std::int64_t runs = starts.size() - 1;
  array<std::int64_t, device> offsets(ctx, entries.offsets().size());
  const std::int64_t* const start = starts.data();
  std::int64_t* const to_offset = offsets.data();
  const std::int64_t* const offset = entries.offsets().data();
  for_each(ctx, offsets.size(),
           [=] __device__(std::int64_t r) { to_offset[r] = lower_bound(start, runs + 1, offset[r]); });

  const span<const std::int64_t, device> firsts = starts.view().subspan(0, runs);
  const span<const I, device> columns = std::as_const(entries).indices().view();
  array<I, device> indices = gathered(ctx, columns, firsts);
  array<weight_carrier<W>, device> values(ctx, runs);
  array<unsigned long long, device> first_bad(ctx, 1);
  fill_bytes(ctx, first_bad.data(), 0xff, sizeof(unsigned long long));
  const device_guard guard(ctx);
  launch_kernel(ctx, grid_stride(ctx, runs), fold_runs<W>, weights_in<W>(std::as_const(entries).values()),
                starts.data(), runs, weight_fold<W>{rule}, weights_in<W>(values), first_bad.data());
  const auto bad = element<unsigned long long>(ctx, first_bad.view(), 0);
  if (bad < static_cast<unsigned long long>(runs)) {
    const auto k = element<std::int64_t>(ctx, starts.view(), static_cast<std::int64_t>(bad));
    throw_weight_overflow(element<I>(ctx, rows.view(), k), element<I>(ctx, entries.indices().view(), k), sizeof(W));
  }
  return {entries.rows(), entries.cols(), std::move(offsets), std::move(indices), std::move(values)};
}

#define INSTANTIATE(W, I)                                                                                    \
  template coo_matrix<weight_carrier<W>, I, device> proper_pairs<W, I, device>(                              \
      const context<device>&, const coo_pattern_view<I, device>&, span<const W, device>, const pair_rules&); \
  template csr_matrix<weight_carrier<W>, I, std::int64_t, device> fold_duplicates<W, I, device>(             \
      const context<device>&, csr_matrix<weight_carrier<W>, I, std::int64_t, device>, duplicate_weights);
SPARGO_FOR_EACH_WEIGHT_INDEX(INSTANTIATE)

}  // namespace spargo::detail

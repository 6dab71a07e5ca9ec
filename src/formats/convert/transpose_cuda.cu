// The order of a transpose's entries, by counting: for columns of which none is long.
//
// An entry takes a slot of its column by an atomic increment, so that entries of a column lie side by side in any
// order. Its place among them is then the number of those before it in the matrix, which does not depend on the slots.
// Cost: 5 passes over words of 4 bytes and the sum of the squares of the columns' lengths, in reads of the L1 cache; a
// sort of 32 bits takes 3 or more passes over 8 bytes. Long columns would be quadratic, and their increments wait for
// each other: a sample of the entries finds the longest before anything is counted.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/device/words.cuh"
#include "core/instantiate.hpp"
#include "formats/convert/backend.hpp"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace spargo::detail::convert {

namespace {

struct counting_tuning {
  static constexpr int sample = 8192;         // entries
  static constexpr int bins = 8192;           // of columns, by the lowest bits of their products with an odd number
  static constexpr std::uint32_t share = 24;  // of the sample in one bin: some .3 percent
  static constexpr std::int64_t longest = 1024;
  static constexpr std::int64_t mean_square = 64;  // lengths seen by an entry, in the mean
  static constexpr int threads = 1024;
};

// largest: entries of the sample in one bin. By one block.
template <class I>
__global__ void __launch_bounds__(counting_tuning::threads)
    sample_kernel(const I* columns, std::int64_t nnz, int sample, std::uint32_t* largest) {
  __shared__ std::uint32_t bins[counting_tuning::bins];
  for (int b = static_cast<int>(threadIdx.x); b < counting_tuning::bins; b += counting_tuning::threads) bins[b] = 0;
  __syncthreads();
  std::uint32_t mine = 0;
  for (std::int64_t s = threadIdx.x; s < sample; s += counting_tuning::threads) {
    const auto column = static_cast<std::uint32_t>(columns[s * nnz / sample]);
    mine = max(mine, atomicAdd(bins + (column * 2654435769U >> 19), 1U) + 1);
  }
  mine = warp_max(mine);
  if (lane_id() == 0) atomicMax(largest, mine);
}

struct column_facts {
  count64 outside;  // entries out of range
  count64 squares;  // sum of squares of lengths; of long ones only that there are some
  count64 long_ones;
};

// slots[k]: how many entries of the same column took one before.
template <class I, class W>
__global__ void __launch_bounds__(block_threads) slots_kernel(const I* columns, std::int64_t nnz, std::int64_t cols,
                                                              W* lengths, std::uint32_t* slots, column_facts* facts) {
  for (std::int64_t k = global_thread(); k < nnz; k += grid_threads()) {
    const auto column = static_cast<std::int64_t>(columns[k]);
    if (column < 0 || column >= cols) {
      facts->outside = 1;
      continue;
    }
    slots[k] = static_cast<std::uint32_t>(atomicAdd(lengths + column, W{1}));
  }
}

template <class W>
__global__ void __launch_bounds__(block_threads)
    facts_kernel(const W* lengths, std::int64_t cols, column_facts* facts) {
  count64 squares = 0, long_ones = 0;
  for (std::int64_t c = global_thread(); c < cols; c += grid_threads()) {
    const W length = lengths[c];
    if (length > counting_tuning::longest) {
      ++long_ones;
    } else {
      squares += static_cast<count64>(length) * static_cast<count64>(length);
    }
  }
  squares = warp_sum(squares);
  long_ones = warp_sum(long_ones);
  if (lane_id() != 0) return;
  if (squares != 0) atomicAdd(&facts->squares, squares);
  if (long_ones != 0) atomicAdd(&facts->long_ones, long_ones);
}

template <class O>
using counter_word = std::conditional_t<sizeof(O) == 4, std::uint32_t, count64>;

// The entries by column, in each column in the order of the matrix.
template <class O>
struct counted_order {
  array<O, device> offsets;
  array<std::uint32_t, device> order;  // none: not found, because of long columns, or of entries out of range
};

template <class I, class O>
counted_order<O> order_by_counting(const context<device>& ctx, const csr_pattern_view<I, O, device>& m) {
  using W = counter_word<O>;
  const std::int64_t nnz = m.nnz();
  const std::int64_t cols = m.cols;
  if (nnz == 0 || nnz > std::int64_t{std::numeric_limits<std::uint32_t>::max()} || cols / 4 > nnz) return {};
  const device_guard guard(ctx);
  const I* const column = m.indices.data();
  const auto sample = static_cast<int>(std::min<std::int64_t>(nnz, counting_tuning::sample));
  array<std::uint32_t, device> largest(ctx, 1);
  fill_zero(ctx, largest.view());
  launch_kernel(ctx, {1, counting_tuning::threads}, sample_kernel<I>, column, nnz, sample, largest.data());
  if (to_host(ctx, std::as_const(largest).view())[0] > counting_tuning::share) return {};

  counted_order<O> made{{ctx, cols + 1}, {}};
  fill_zero(ctx, made.offsets.view());
  array<std::uint32_t, device> slots(ctx, nnz);
  array<column_facts, device> facts(ctx, 1);
  fill_zero(ctx, facts.view());
  W* const lengths = reinterpret_cast<W*>(made.offsets.data()) + 1;
  launch_kernel(ctx, grid_stride(ctx, nnz), slots_kernel<I, W>, column, nnz, cols, lengths, slots.data(), facts.data());
  launch_kernel(ctx, grid_stride(ctx, cols), facts_kernel<W>, lengths, cols, facts.data());
  const column_facts found = to_host(ctx, std::as_const(facts).view())[0];
  const auto most_squares = static_cast<count64>(counting_tuning::mean_square * nnz);
  if (found.outside != 0 || found.long_ones != 0 || found.squares > most_squares) return {};
  inclusive_scan<O, device>(ctx, std::as_const(made.offsets).view(), made.offsets.view());

  array<std::uint32_t, device> unordered(ctx, nnz);
  made.order = {ctx, nnz};
  const O* const first = made.offsets.data();
  const std::uint32_t* const slot = slots.data();
  std::uint32_t* const entry = unordered.data();
  std::uint32_t* const order = made.order.data();
  for_each(ctx, nnz, [=] __device__(std::int64_t k) {
    entry[first[column[k]] + static_cast<O>(slot[k])] = static_cast<std::uint32_t>(k);
  });
  for_each(ctx, nnz, [=] __device__(std::int64_t p) {
    const std::uint32_t own = entry[p];
    const std::int64_t c = column[own];
    const std::int64_t last = first[c + 1];
    std::int64_t place = first[c];
    for (std::int64_t q = place; q < last; ++q) place += entry[q] < own ? 1 : 0;
    order[place] = own;
  });
  return made;
}

}  // namespace

template <entry_type V, index_type I, index_type O>
std::optional<csr_matrix<V, I, O, device>> transpose_by_counting(const context<device>& ctx,
                                                                 const csr_view<const V, I, O, device>& m) {
  counted_order<O> found = order_by_counting<I, O>(ctx, m);
  if (found.order.empty()) return std::nullopt;
  const span<const std::uint32_t, device> order = std::as_const(found.order).view();
  array<I, device> rows(ctx, m.nnz());
  expand_rows<I, O>(ctx, m.offsets, rows.view());
  array<I, device> indices = gathered(ctx, std::as_const(rows).view(), order);
  array<V, device> values;
  if constexpr (!is_pattern<V>) values = gathered(ctx, m.values, order);
  ctx.synchronize();
  return csr_matrix<V, I, O, device>(m.cols, m.rows, std::move(found.offsets), std::move(indices), std::move(values));
}

#define INSTANTIATE(V, I, O)                                                                        \
  template std::optional<csr_matrix<V, I, O, device>> transpose_by_counting(const context<device>&, \
                                                                            const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::convert

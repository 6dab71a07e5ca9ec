// Symbolic phase: a row's columns are a set, so the order in which they are found does not matter. They are kept as
// words of 32 columns, in a hash table in shared memory or, for long rows, in a bitmap of a window of columns. Where
// B's rows have several columns in a word, they are made words once. Rows are found twice, first counted and then
// written, so that nothing but C's own arrays is needed.
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "primitives/element.hpp"
#include "sparse/spgemm/device/analysis.cuh"
#include "sparse/spgemm/device/words.cuh"
#include "sparse/spgemm/executor.hpp"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::spgemm {

namespace {

// Where a kernel's results go: lengths of rows or, once there are offsets, columns.
template <class I, class O>
struct pattern_output {
  O* lengths;
  const O* offsets;
  I* columns;
};

template <bool Write, class I, class O, class P>
__device__ __forceinline__ void write_tiny_row(const P& mine, I row, const pattern_output<I, O>& to) {
  const unsigned peers = lanes_of_column(mine);  // by all lanes
  const bool leads = mine.active && (peers & lanes_below()) == 0;
  const unsigned leaders = __ballot_sync(full_mask, leads);
  if constexpr (Write) {
    int smaller = 0;
    for (unsigned left = leaders; left != 0; left &= left - 1) {
      smaller += shuffle(mine.column, __ffs(static_cast<int>(left)) - 1) < mine.column;
    }
    if (leads) to.columns[to.offsets[row] + smaller] = mine.column;
  } else if (lane_id() == 0) {
    to.lengths[row] = static_cast<O>(__popc(leaders));
  }
}

template <bool Write, class I, class O>
__global__ void __launch_bounds__(block_threads)
    tiny_rows_kernel(const device_factors<I, O> f, const I* rows, std::int64_t count, const pattern_output<I, O> to) {
  const std::int64_t k = global_thread() / warp_size;
  if (k >= count) return;
  const I row = rows[k];
  write_tiny_row<Write>(load_tiny_row(f, no_values{}, row), row, to);
}

// One row per warp, or per block.
template <bool Write, bool Block, product_walk Walk, class I, class O, class Values>
__global__ void __launch_bounds__(analysis_tuning::block_hash_threads)
    hashed_rows_kernel(const device_factors<I, O> f, const Values values, const mask_rows<I, O> mask, const I* rows,
                       std::int64_t count, int log_size, const pattern_output<I, O> to) {
  using key = key_of<I>;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ unsigned found;
  const int teams = Block ? 1 : static_cast<int>(blockDim.x) / warp_size;
  const int team = Block ? 0 : static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t k = std::int64_t{blockIdx.x} * teams + team;
  if (k >= count) return;
  const std::int64_t all = std::int64_t{teams} << log_size;
  word_table<I> table{reinterpret_cast<key*>(memory) + (std::int64_t{team} << log_size), nullptr, nullptr, log_size};
  table.bits = reinterpret_cast<unsigned*>(reinterpret_cast<key*>(memory) + all) + (std::int64_t{team} << log_size);
  table.allowed = table.bits + all;
  const I row = rows[k];
  for (int s = team_rank<Block>(); s < table.size(); s += team_size<Block>()) {
    table.keys[s] = table.empty;
    table.bits[s] = 0;
    if (mask.offsets != nullptr) table.allowed[s] = 0;
  }
  if (threadIdx.x == 0) found = 0;
  synchronize<Block>();
  if (mask.offsets == nullptr) {
    for_each_of_row<Block, false, Walk>(f, values, row, {}, [&](const auto& p) {
      if (p.active) table.add(word_of(p));
    });
  } else {
    for (O q = mask.offsets[row] + team_rank<Block>(); q < mask.offsets[row + 1]; q += team_size<Block>()) {
      table.allow(mask.columns[q]);
    }
    synchronize<Block>();
    for_each_of_row<Block, false, Walk>(f, values, row, {}, [&](const auto& p) {
      if (p.active) table.add_if_allowed(word_of(p));
    });
  }
  synchronize<Block>();
  if constexpr (Write) {
    const int words = compact<Block>(table, &found);
    sort_words<Block>(table, words);
    write_words<Block>(
        table.bits, words, [&](int w) { return table.keys[w]; }, to.columns + to.offsets[row]);
  } else {
    unsigned size = 0;
    for (int s = team_rank<Block>(); s < table.size(); s += team_size<Block>()) {
      size += static_cast<unsigned>(__popc(table.bits[s]));
    }
    size = warp_sum(size);
    if constexpr (Block) {
      if (lane_id() == 0) atomicAdd(&found, size);
      __syncthreads();
      size = found;
    }
    if (team_rank<Block>() == 0) to.lengths[row] = static_cast<O>(size);
  }
}

// Equal windows of columns, and the sizes of rows within them.
struct column_windows {
  int count;
  std::int64_t width;    // columns, a multiple of 32
  std::int64_t columns;  // of C
  std::int64_t* sizes;   // per row of the bin and window
};

// One block per row and window.
template <bool Write, product_walk Walk, class I, class O, class Values>
__global__ void __launch_bounds__(analysis_tuning::window_threads)
    window_rows_kernel(const device_factors<I, O> f, const Values values, const mask_rows<I, O> mask, const I* rows,
                       std::int64_t count, const column_windows windows, const pattern_output<I, O> to) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ unsigned found;
  auto* const bits = reinterpret_cast<unsigned*>(memory);
  unsigned* const allowed = bits + windows.width / 32;
  for (std::int64_t k = blockIdx.x; k < count * windows.count; k += gridDim.x) {
    const std::int64_t which = k / windows.count;
    const int number = static_cast<int>(k % windows.count);
    const I row = rows[which];
    const std::int64_t low = number * windows.width;
    const std::int64_t high = min(low + windows.width, windows.columns) - 1;
    const int words = low > high ? 0 : static_cast<int>((high - low) / 32 + 1);
    for (int w = static_cast<int>(threadIdx.x); w < words; w += static_cast<int>(blockDim.x)) {
      bits[w] = 0;
      if (mask.offsets != nullptr) allowed[w] = 0;
    }
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (mask.offsets != nullptr) {
      for (std::int64_t q = std::int64_t{mask.offsets[row]} + threadIdx.x; q < mask.offsets[row + 1]; q += blockDim.x) {
        const std::int64_t at = mask.columns[q] - low;
        if (at >= 0 && mask.columns[q] <= high) atomicOr(allowed + at / 32, 1U << (at % 32));
      }
      __syncthreads();
    }
    const auto use = [&](const auto& p) {
      if (!p.active) return;
      const column_word<I> word = word_of(p);
      const auto at = static_cast<unsigned>(word.number - low / 32);
      set_bits(bits + at, mask.offsets == nullptr ? word.bits : word.bits & allowed[at]);
    };
    constexpr int columns_per_key = std::is_same_v<Values, word_bits> ? 32 : 1;
    if (windows.count == 1) {
      for_each_of_row<true, false, Walk>(f, values, row, {}, use);
    } else if (words > 0) {
      for_each_of_row<true, true, Walk>(
          f, values, row, {static_cast<I>(low / columns_per_key), static_cast<I>(high / columns_per_key)}, use);
    }
    __syncthreads();
    if constexpr (Write) {
      O at = to.offsets[row];
      for (int w = 0; w < number; ++w) at += static_cast<O>(windows.sizes[which * windows.count + w]);
      write_words<true>(
          bits, words, [&](int w) { return low / 32 + w; }, to.columns + at);
    } else {
      unsigned size = 0;
      for (int w = static_cast<int>(threadIdx.x); w < words; w += static_cast<int>(blockDim.x)) {
        size += static_cast<unsigned>(__popc(bits[w]));
      }
      size = warp_sum(size);
      if (lane_id() == 0) atomicAdd(&found, size);
      __syncthreads();
      if (threadIdx.x == 0) {
        if (windows.count == 1) {
          to.lengths[row] = static_cast<O>(found);
        } else {
          windows.sizes[k] = found;
          atomicAdd(reinterpret_cast<key_of<O>*>(to.lengths + row), static_cast<key_of<O>>(found));
        }
      }
    }
    __syncthreads();
  }
}

template <class O>
std::int64_t sum_of(const context<device>& ctx, const O* lengths, std::int64_t rows) {
  if (rows == 0) return 0;
  array<count64, device> total(ctx, 1);
  fill_zero(ctx, total);
  launch_kernel(ctx, grid_stride(ctx, rows), sum_kernel<O>, lengths, rows, total.data());
  return static_cast<std::int64_t>(to_host(ctx, std::as_const(total).view())[0]);
}

// Rows as words of 32 columns.
template <class I, class O>
struct row_words {
  array<O, device> offsets;
  array<I, device> numbers;
  array<unsigned, device> bits;
};

template <class I, class O>
row_words<I, O> find_words(const context<device>& ctx, const csr_pattern_view<I, O, device>& b,
                           const array<unsigned, device>& sizes, std::int64_t words) {
  row_words<I, O> found{{ctx, std::int64_t{b.rows} + 1}, {ctx, words}, {ctx, words}};
  const unsigned* const from = sizes.data();
  O* const to = found.offsets.data();
  for_each(ctx, std::int64_t{b.rows} + 1,
           [=] __device__(std::int64_t r) { to[r] = r == 0 ? O{0} : static_cast<O>(from[r - 1]); });
  inclusive_scan<O, device>(ctx, std::as_const(found.offsets).view(), found.offsets.view());
  fill_zero(ctx, found.bits);
  launch_kernel(ctx, grid_stride(ctx, std::int64_t{b.rows} * row_lanes), write_words_kernel<I, O>, b.offsets.data(),
                b.indices.data(), b.rows, to, found.numbers.data(), found.bits.data());
  return found;
}

// The rows of C in bins, and the launches for them.
template <class I, class O>
class row_finder {
 public:
  row_finder(const context<device>& ctx, const csr_pattern_view<I, O, device>& a,
             const csr_pattern_view<I, O, device>& b, const csr_pattern_view<I, O, device>* mask,
             const spgemm_options& options)
      : ctx_(ctx),
        guard_(ctx),
        rows_((options.last_row < 0 ? a.rows : options.last_row) - options.first_row),
        cols_(b.cols),
        a_entries_(a.nnz()),
        factors_{a.offsets.data() + options.first_row, a.indices.data(), b.offsets.data(), b.indices.data(), true} {
    if (mask != nullptr) mask_ = {mask->offsets.data() + options.first_row, mask->indices.data()};
    if (rows_ < a.rows) {
      a_entries_ = element(ctx, a.offsets, options.first_row + rows_) - element(ctx, a.offsets, options.first_row);
    }
    bins_ = {ctx, rows_};
    analyse(b);
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t products() const { return products_; }
  [[nodiscard]] const device_factors<I, O>& factors() const { return factors_; }
  // Of each row; rewritten by the caller for the numeric phase.
  [[nodiscard]] span<std::uint8_t, device> bins() { return bins_; }

  // Merged, tiny and ranked rows, whose bins the numeric phase keeps.
  [[nodiscard]] bool has_short_rows_only() const { return grouped_.first.back() == grouped_.first[warp_128]; }
  [[nodiscard]] row_bins<I> take_short_rows() {
    row_bins<I> kept;
    kept.rows = std::move(grouped_.rows);
    for (int b = 0; b <= row_bins<I>::most - numeric_bins::first_kept; ++b) {
      kept.first[numeric_bins::first_kept + b] = grouped_.first[b];
    }
    return kept;
  }

  // Rows of B that are used are long, and ascend.
  [[nodiscard]] bool has_long_rows() const { return has_long_rows_; }

  // Lengths of rows, or with `Write` the columns but of merged and ranked rows. Rows without entries keep length 0.
  template <bool Write>
  void find(const pattern_output<I, O>& to) {
    find_short<Write>(to);
    if (!words_.offsets.empty()) {
      device_factors<I, O> words = factors_;
      words.b_offsets = words_.offsets.data();
      words.b_columns = words_.numbers.data();
      words.b_ascends = is_sorted_;
      find_longer<Write, product_walk::flattened>(words, word_bits{words_.bits.data()}, to);
    } else if (has_long_rows_) {
      find_longer<Write, product_walk::by_rows>(factors_, no_values{}, to);
    } else {
      find_longer<Write, product_walk::flattened>(factors_, no_values{}, to);
    }
  }

 private:
  // 2^14 words where shared memory has room.
  [[nodiscard]] int log_of_large() const {
    int log = 14;
    while (word_table<I>::bytes(log, is_masked()) + 1024 > ctx_.properties().shared_memory_per_block) --log;
    return log;
  }
  [[nodiscard]] bool is_masked() const { return mask_.offsets != nullptr; }

  void analyse(const csr_pattern_view<I, O, device>& b) {
    if (rows_ == 0) return;
    array<unsigned, device> b_words(ctx_, b.rows);
    array<unsigned, device> mask_words(ctx_, is_masked() ? rows_ : 0);
    array<count64, device> products(ctx_, 1);
    array<row_order, device> order(ctx_, 1);
    fill_zero(ctx_, products);
    fill_bytes(ctx_, order.data(), 1, sizeof(row_order));
    count_words(b.offsets.data(), b.indices.data(), b.rows, b_words.data(), order.data());
    if (is_masked()) count_words(mask_.offsets, mask_.columns, rows_, mask_words.data(), nullptr);
    const bin_rule rule{cols_ / 32 + 1, cols_ <= analysis_tuning::narrow, is_masked(), log_of_large()};
    launch_kernel(ctx_, grid_stride(ctx_, rows_ * row_lanes), find_bins_kernel<I, O>, factors_, rows_, b_words.data(),
                  mask_words.data(), order.data(), rule, bins_.data(), products.data());
    grouped_ = group_rows<I>(ctx_, std::as_const(bins_).view());
    products_ = static_cast<std::int64_t>(to_host(ctx_, std::as_const(products).view())[0]);
    const row_order found = to_host(ctx_, std::as_const(order).view())[0];
    factors_.b_ascends = found.ascends != 0;
    is_sorted_ = found.is_sorted != 0;
    has_long_rows_ = factors_.b_ascends && products_ >= analysis_tuning::long_row * a_entries_;
    if (has_short_rows_only()) return;
    const std::int64_t words = sum_of(ctx_, b_words.data(), b.rows);
    if (b.nnz() >= analysis_tuning::entries_of_word * words) words_ = find_words(ctx_, b, b_words, words);
  }
  void count_words(const O* offsets, const I* columns, std::int64_t rows, unsigned* words, row_order* order) const {
    if (rows == 0) return;
    launch_kernel(ctx_, grid_stride(ctx_, rows * row_lanes), count_words_kernel<I, O>, offsets, columns, rows, words,
                  order);
  }

  template <bool Write>
  void find_short(const pattern_output<I, O>& to) {
    if constexpr (!Write) {
      for (const int bin : {merged_few, merged}) {
        const std::int64_t count = grouped_.count(bin);
        if (count == 0) continue;
        launch_kernel(ctx_, one_thread_each(count, merge_tuning::threads), count_merged_kernel<I, O>, factors_,
                      grouped_.rows_of(bin), count, to.lengths);
      }
      if (const std::int64_t count = grouped_.count(ranked); count > 0) {
        launch_kernel(ctx_, one_thread_each(count * warp_size, ranked_tuning::threads), count_ranked_kernel<I, O>,
                      factors_, grouped_.rows_of(ranked), count, to.lengths);
      }
    }
    if (const std::int64_t count = grouped_.count(tiny); count > 0) {
      launch_kernel(ctx_, one_thread_each(count * warp_size, block_threads), tiny_rows_kernel<Write, I, O>, factors_,
                    grouped_.rows_of(tiny), count, to);
    }
  }

  // `f` and `values`: B's entries, or its words.
  template <bool Write, product_walk Walk, class Values>
  void find_longer(const device_factors<I, O>& f, const Values& values, const pattern_output<I, O>& to) {
    find_in_windows<Write, Walk>(f, values, window, 1, sizes_[0], to);
    find_in_windows<Write, Walk>(f, values, windows, analysis_tuning::blocks_of_long_row, sizes_[1], to);
    find_hashed<Write, true, Walk>(f, values, block_large, log_of_large(), analysis_tuning::block_hash_threads, to);
    find_hashed<Write, true, Walk>(f, values, block_4096, 12, analysis_tuning::warp_threads, to);
    for (int bin = warp_1024; bin >= warp_128; --bin) {
      find_hashed<Write, false, Walk>(f, values, bin, log_of_warp[bin], analysis_tuning::warp_threads, to);
    }
  }

  template <bool Write, bool Block, product_walk Walk, class Values>
  void find_hashed(const device_factors<I, O>& f, const Values& values, int bin, int log_size, int threads,
                   const pattern_output<I, O>& to) {
    const std::int64_t count = grouped_.count(bin);
    if (count == 0) return;
    const std::int64_t of_team = word_table<I>::bytes(log_size, is_masked());
    std::int64_t teams = 1;
    if (!Block) {
      teams = std::clamp<std::int64_t>(ctx_.properties().shared_memory_per_block / 2 / of_team, 1, threads / warp_size);
      threads = static_cast<int>(teams) * warp_size;
    }
    const auto kernel = hashed_rows_kernel<Write, Block, Walk, I, O, Values>;
    allow_shared(kernel, static_cast<std::size_t>(teams * of_team));
    launch_kernel(ctx_, {div_up(count, teams), threads, static_cast<std::size_t>(teams * of_team)}, kernel, f, values,
                  mask_, grouped_.rows_of(bin), count, log_size, to);
  }

  template <bool Write, product_walk Walk, class Values>
  void find_in_windows(const device_factors<I, O>& f, const Values& values, int bin, int least,
                       array<std::int64_t, device>& sizes, const pattern_output<I, O>& to) {
    const std::int64_t count = grouped_.count(bin);
    if (count == 0) return;
    const int per_word = is_masked() ? 8 : 4;
    const std::int64_t widest = std::min<std::int64_t>(
        analysis_tuning::widest, (ctx_.properties().shared_memory_per_block - 1024) / per_word * 32);
    column_windows windows{};
    windows.columns = cols_;
    windows.count = static_cast<int>(std::max<std::int64_t>(div_up(cols_, widest), least));
    windows.width = div_up(div_up(cols_, std::int64_t{windows.count}), std::int64_t{32}) * 32;
    if (sizes.empty() && windows.count > 1) sizes = {ctx_, count * windows.count};
    windows.sizes = sizes.data();
    const auto kernel = window_rows_kernel<Write, Walk, I, O, Values>;
    const auto bytes = static_cast<std::size_t>(windows.width / 32 * per_word);
    allow_shared(kernel, bytes);
    const std::int64_t blocks = std::min<std::int64_t>(count * windows.count, 1 << 24);
    launch_kernel(ctx_, {blocks, analysis_tuning::window_threads, bytes}, kernel, f, values, mask_,
                  grouped_.rows_of(bin), count, windows, to);
  }

  const context<device>& ctx_;
  device_guard guard_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t a_entries_;
  device_factors<I, O> factors_;
  mask_rows<I, O> mask_;
  array<std::uint8_t, device> bins_;
  row_bins<I> grouped_;
  std::int64_t products_ = 0;
  bool has_long_rows_ = false;
  bool is_sorted_ = false;
  row_words<I, O> words_;                             // of B; none: entries are traversed
  std::array<array<std::int64_t, device>, 2> sizes_;  // of the rows of `window` and `windows` in their windows
};

// Bins of the numeric phase by the lengths of C's rows; merged, tiny and ranked rows stay together.
template <class I, class O>
void group_for_values(const context<device>& ctx, span<std::uint8_t, device> bins, device_pattern<I, O>& found) {
  const O* const offsets = found.result.offsets().data();
  std::uint8_t* const of_rows = bins.data();
  for_each(ctx, bins.size(), [=] __device__(std::int64_t r) {
    const std::int64_t length = static_cast<std::int64_t>(offsets[r + 1]) - offsets[r];
    static_assert(numeric_bins::ranked == numeric_bins::first_kept + ranked);
    int bin = numeric_bins::first_kept + of_rows[r];
    if (length == 0) {
      bin = no_bin;
    } else if (of_rows[r] > ranked) {
      bin = 0;
      while (bin < numeric_bins::hashed && length > (std::int64_t{48} << bin)) ++bin;
    }
    of_rows[r] = static_cast<std::uint8_t>(bin);
  });
  found.bins = group_rows<I>(ctx, bins);
  const std::int64_t longer = found.bins.count(numeric_bins::segments);
  if (longer == 0) return;
  found.segments_upto = {ctx, longer};
  const I* const rows = found.bins.rows_of(numeric_bins::segments);
  std::int64_t* const segments = found.segments_upto.data();
  for_each(ctx, longer, [=] __device__(std::int64_t k) {
    const I row = rows[k];
    segments[k] = div_up(static_cast<std::int64_t>(offsets[row + 1]) - offsets[row], numeric_bins::segment);
  });
  inclusive_scan<std::int64_t, device>(ctx, std::as_const(found.segments_upto).view(), found.segments_upto.view());
  found.segments = to_host(ctx, std::as_const(found.segments_upto).view().subspan(longer - 1, 1))[0];
}

}  // namespace

template <class I, class O>
std::int64_t device_pattern<I, O>::bytes() const {
  return result.offsets().size() * static_cast<std::int64_t>(sizeof(O)) +
         (result.nnz() + bins.rows.size()) * static_cast<std::int64_t>(sizeof(I)) +
         segments_upto.size() * static_cast<std::int64_t>(sizeof(std::int64_t));
}

template <index_type I, index_type O>
device_pattern<I, O> find_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& a,
                                  const csr_pattern_view<I, O, device>& b, const csr_pattern_view<I, O, device>* mask,
                                  const spgemm_options& options, std::int64_t value_bytes) {
  row_finder<I, O> finder(ctx, a, b, mask, options);
  device_pattern<I, O> found;
  found.products = finder.products();
  found.b_ascends = finder.factors().b_ascends;
  found.has_long_rows = finder.has_long_rows();
  array<O, device> offsets(ctx, finder.rows() + 1);
  fill_zero(ctx, offsets);
  finder.template find<false>({offsets.data() + 1, nullptr, nullptr});
  const std::int64_t nnz = sum_of(ctx, offsets.data() + 1, finder.rows());
  expect_result_fits(nnz, options, static_cast<std::int64_t>(sizeof(I)) + value_bytes, sizeof(O));
  inclusive_scan<O, device>(ctx, std::as_const(offsets).view(), offsets.view());
  found.result = {static_cast<I>(finder.rows()), b.cols, std::move(offsets), {ctx, nnz}, {}};
  finder.template find<true>({nullptr, found.result.offsets().data(), found.result.indices().data()});
  if (finder.has_short_rows_only()) {
    found.bins = finder.take_short_rows();
  } else {
    group_for_values(ctx, finder.bins(), found);
  }
  return found;
}

#define INSTANTIATE(I, O)                                                                                   \
  template struct device_pattern<I, O>;                                                                     \
  template device_pattern<I, O> find_pattern(                                                               \
      const context<device>&, const csr_pattern_view<I, O, device>&, const csr_pattern_view<I, O, device>&, \
      const csr_pattern_view<I, O, device>*, const spgemm_options&, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spgemm

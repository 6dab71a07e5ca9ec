// Which kernel finds a row of C: bins by an upper bound of the row's words, the sum of those of B's rows. Scattered
// rows are ranked even if they could be merged.
//   merged    at most 8 entries of A, and B's rows are sorted: a thread merges them
//   tiny      at most 32 products: a lane each, compared in registers
//   ranked    at most 128 products in scattered columns: a warp compares all with all
//   warp      a warp and a hash table of 128 to 1024 words
//   block     a block and a hash table of 4096, or what fits
//   window    a block per window of columns, and a bitmap
#pragma once

#include "core/device/launch.cuh"
#include "core/device/row_groups.cuh"
#include "sparse/spgemm/device/bins.hpp"
#include "sparse/spgemm/device/merge.cuh"
#include "sparse/spgemm/device/ranked.cuh"
#include "sparse/spgemm/device/tables.cuh"

namespace spargo::detail::spgemm {

struct analysis_tuning {
  // Untuned.
  static constexpr std::int64_t products_of_warp = 8192;                    // beyond it a row takes a block
  static constexpr std::int64_t products_of_block = std::int64_t{1} << 20;  // beyond it several
  static constexpr int blocks_of_long_row = 8;
  static constexpr std::int64_t long_row = 16;  // mean entries of B's rows that are used, for product_walk::by_rows
  static constexpr std::int64_t entries_of_word = 2;  // of B; from here on the symbolic phase traverses words
  static constexpr std::int64_t narrow = 1 << 18;     // columns whose bitmap leaves room for several blocks
  static constexpr std::int64_t widest = 1 << 20;     // columns of a window
  static constexpr int warp_threads = 128;            // of a block whose warps have rows of their own
  static constexpr int block_hash_threads = 512;
  static constexpr int window_threads = 512;
};

enum row_kind : std::uint8_t {
  merged_few,
  merged,
  tiny,
  ranked,
  warp_128,
  warp_256,
  warp_512,
  warp_1024,
  block_4096,
  block_large,
  window,
  windows
};
constexpr int log_of_warp[] = {0, 0, 0, 0, 7, 8, 9, 10};

// Tables of 2^log_size words are filled to three quarters.
constexpr std::int64_t room_of(int log_size) { return (std::int64_t{3} << log_size) / 4; }

template <class I, class O>
struct mask_rows {
  const O* offsets = nullptr;  // null: no mask
  const I* columns = nullptr;
};

struct bin_rule {
  std::int64_t all_words;  // of a full row
  bool is_narrow;
  bool is_masked;
  int log_of_large;

  // For `ranked`: most words have one column, as those of structured matrices have not. (Of rows of B that are not
  // sorted, a word counts once more for each return to it.)
  __device__ static bool is_scattered(std::int64_t products, std::int64_t words) {
    return products > warp_size && products <= ranked_tuning::most_products && 8 * words >= 7 * products;
  }
  __device__ std::uint8_t operator()(std::int64_t products, std::int64_t words, std::int64_t a_length,
                                     bool is_sorted) const {
    if (products == 0 || words == 0) return no_bin;
    if (!is_masked && is_scattered(products, words) && a_length <= ranked_tuning::most_entries) return ranked;
    if (!is_masked && is_sorted && a_length <= merge_tuning::lists && products <= merge_tuning::most_products) {
      return products <= merge_tuning::few_products ? merged_few : merged;
    }
    if (!is_masked && products <= warp_size && a_length <= warp_size) return tiny;
    if (words > all_words) words = all_words;
    if (products <= analysis_tuning::products_of_warp && words <= room_of(10)) {
      return words <= room_of(7)   ? warp_128
             : words <= room_of(8) ? warp_256
             : words <= room_of(9) ? warp_512
                                   : warp_1024;
    }
    if (!is_narrow && products <= analysis_tuning::products_of_block) {
      if (words <= room_of(12)) return block_4096;
      if (words <= room_of(log_of_large)) return block_large;
    }
    return products <= analysis_tuning::products_of_block ? window : windows;
  }
};

// Whether the columns of all rows are sorted; and whether they are distinct, too.
struct row_order {
  int is_sorted;
  int ascends;
};

// The words of each row, counted again where an unsorted row returns to one; clears what does not hold in *order.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_words_kernel(const O* offsets, const I* columns, std::int64_t rows, unsigned* words, row_order* order) {
  for_each_row(rows, [&](std::int64_t row, int lane) {
    const bool valid = row < rows;
    const O first = valid ? offsets[row] : O{0};
    const O last = valid ? offsets[row + 1] : O{0};
    unsigned count = 0;
    bool sorted = true;
    bool ascends = true;
    for (std::int64_t q = std::int64_t{first} + lane; q < last; q += row_lanes) {
      const I column = columns[q];
      const I before = q == first ? I{-1} : columns[q - 1];
      count += (column >> 5) != (before >> 5);
      sorted = sorted && column >= before;
      ascends = ascends && column > before;
    }
    count = group_sum(count, row_lanes);
    if (valid && lane == 0) words[row] = count;
    if (order == nullptr) return;
    if (!sorted) order->is_sorted = 0;
    if (!ascends) order->ascends = 0;
  });
}

// The words of each row, as the kernel above counts them, and their bits, which are zero before.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    write_words_kernel(const O* offsets, const I* columns, std::int64_t rows, const O* word_offsets, I* words,
                       unsigned* bits) {
  for_each_row(rows, [&](std::int64_t row, int lane) {
    const bool valid = row < rows;
    const std::int64_t first = valid ? offsets[row] : O{0};
    const std::int64_t last = valid ? offsets[row + 1] : O{0};
    O to = valid ? word_offsets[row] : O{0};
    for (std::int64_t from = first; __any_sync(full_mask, from < last) != 0; from += row_lanes) {
      const std::int64_t q = from + lane;
      const bool is_entry = q < last;
      const I column = is_entry ? columns[q] : I{0};
      const bool opens = is_entry && (q == first || columns[q - 1] >> 5 != column >> 5);
      const unsigned opened = group_ballot(opens);
      if (is_entry) {
        const O place = to + static_cast<O>(__popc(opened & ((2U << lane) - 1))) - 1;
        if (opens) words[place] = static_cast<I>(column >> 5);
        atomicOr(bits + place, 1U << (static_cast<unsigned>(column) & 31));
      }
      to += static_cast<O>(__popc(opened));
    }
  });
}

// Each row's bin, and the number of products.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    find_bins_kernel(const device_factors<I, O> f, std::int64_t rows, const unsigned* b_words,
                     const unsigned* mask_words, const row_order* b_order, const bin_rule rule, std::uint8_t* bins,
                     count64* products) {
  const bool is_sorted = b_order->is_sorted != 0;
  count64 mine = 0;
  for_each_row(rows, [&](std::int64_t row, int lane) {
    const bool valid = row < rows;
    const O first = valid ? f.a_offsets[row] : O{0};
    const O last = valid ? f.a_offsets[row + 1] : O{0};
    std::int64_t found = 0;
    std::int64_t words = 0;
    for (std::int64_t q = std::int64_t{first} + lane; q < last; q += row_lanes) {
      const I j = f.a_columns[q];
      found += static_cast<std::int64_t>(f.b_offsets[j + 1]) - f.b_offsets[j];
      words += b_words[j];
    }
    found = group_sum(found, row_lanes);
    words = group_sum(words, row_lanes);
    if (!valid || lane != 0) return;
    bins[row] = rule(found, mask_words == nullptr ? words : mask_words[row], last - first, is_sorted);
    mine += static_cast<count64>(found);
  });
  mine = warp_sum(mine);
  if (lane_id() == 0 && mine != 0) atomicAdd(products, mine);
}

template <class O>
__global__ void __launch_bounds__(block_threads) sum_kernel(const O* lengths, std::int64_t rows, count64* total) {
  count64 mine = 0;
  for (std::int64_t r = global_thread(); r < rows; r += grid_threads()) mine += static_cast<count64>(lengths[r]);
  mine = warp_sum(mine);
  if (lane_id() == 0 && mine != 0) atomicAdd(total, mine);
}

}  // namespace spargo::detail::spgemm

// Rows of C of few products in scattered columns, one per warp: the products are loaded into shared memory, each is
// compared with all others, and the number of those before it is its place in the order of columns, those of one column
// in the order of products. Loads are whole rows of B, where a thread that merges asks for one entry at a time; no
// table is kept between the phases, and B's rows need not be sorted.
// Cost of a row: products^2 / 32 comparisons a lane, and two passes over the products.
#pragma once

#include "core/device/launch.cuh"
#include "sparse/spgemm/device/tables.cuh"

#include <limits>

namespace spargo::detail::spgemm {

struct ranked_tuning {
  static constexpr int most_products = 128;  // four a lane
  static constexpr int most_entries = 32;    // of A's row
  static constexpr int log_of_table = 8;
  static constexpr int threads = 128;
  static constexpr int warps = threads / warp_size;
};

// use(lane_product) for the row's products, 32 at a time in their order.
template <class I, class O, class Values, class Use>
__device__ __forceinline__ void for_each_of_few(const device_factors<I, O>& f, const Values& values, I row, Use use) {
  const O first = f.a_offsets[row];
  const auto lane = static_cast<O>(lane_id());
  selected_row<O, typename Values::value> mine;
  if (lane < f.a_offsets[row + 1] - first) mine = select_row<false>(f, values, first + lane, column_range<I>{});
  for_each_product_of<false>(f, values, mine, column_range<I>{}, use);
}

// Whether the key is new to the table, which has room.
template <class K>
__device__ __forceinline__ bool adds_key(K* keys, K key, K empty, int log_size) {
  unsigned place = first_place(key, log_size);
  while (true) {
    const K now = atomicCAS(keys + place, empty, key);
    if (now == empty || now == key) return now == empty;
    place = (place + 1) & ((1U << log_size) - 1);
  }
}

// Lengths of the rows.
template <class I, class O>
__global__ void __launch_bounds__(ranked_tuning::threads)
    count_ranked_kernel(const device_factors<I, O> f, const I* rows, std::int64_t count, O* lengths) {
  using key = key_of<I>;
  constexpr int log_size = ranked_tuning::log_of_table;
  constexpr key empty = ~key{0};
  __shared__ key tables[ranked_tuning::warps][1 << log_size];
  const std::int64_t k = global_thread() / warp_size;
  if (k >= count) return;
  key* const keys = tables[threadIdx.x / warp_size];
  for (int s = lane_id(); s < 1 << log_size; s += warp_size) keys[s] = empty;
  __syncwarp();
  const I row = rows[k];
  unsigned distinct = 0;
  for_each_of_few(f, no_values{}, row, [&](const auto& p) {
    if (p.active && adds_key(keys, static_cast<key>(p.column), empty, log_size)) ++distinct;
  });
  distinct = warp_sum(distinct);
  if (lane_id() == 0) lengths[row] = static_cast<O>(distinct);
}

// A row's products in shared memory.
template <class I, class D>
struct ranked_row {
  I* columns;
  D* products;
  int count = 0;
};

// Puts the products in the order of columns. Slots: of 32 products, as many as there are.
template <int Slots, bool HasValues, class I, class D>
__device__ __forceinline__ void rank_products(const ranked_row<I, D>& row) {
  constexpr int at_once = 16 / sizeof(I);
  struct alignas(16) some_columns {
    I v[at_once];
  };
  I mine[Slots];
  D value[Slots];
  int place[Slots];
#pragma unroll
  for (int s = 0; s < Slots; ++s) {
    const int p = s * warp_size + lane_id();
    const bool is_product = p < row.count;
    mine[s] = is_product ? row.columns[p] : std::numeric_limits<I>::max();
    if constexpr (HasValues) value[s] = is_product ? row.products[p] : D{};
    place[s] = __popc(__match_any_sync(full_mask, mine[s]) & lanes_below());
  }
  const auto* const all = reinterpret_cast<const some_columns*>(row.columns);
#pragma unroll
  for (int of = 0; of < Slots; ++of) {
    if (of * warp_size >= row.count) break;
#pragma unroll
    for (int q = 0; q < warp_size / at_once; ++q) {
      const some_columns others = all[of * (warp_size / at_once) + q];
#pragma unroll
      for (int e = 0; e < at_once; ++e) {
#pragma unroll
        for (int s = 0; s < Slots; ++s) {
          place[s] += static_cast<int>(of < s ? others.v[e] <= mine[s] : others.v[e] < mine[s]);
        }
      }
    }
  }
  __syncwarp();  // everything is read
#pragma unroll
  for (int s = 0; s < Slots; ++s) {
    if (s * warp_size + lane_id() >= row.count) continue;
    row.columns[place[s]] = mine[s];
    if constexpr (HasValues) row.products[place[s]] = value[s];
  }
  __syncwarp();
}

// Columns (null: not) and values.
template <class I, class O, class Values>
__global__ void __launch_bounds__(ranked_tuning::threads)
    write_ranked_kernel(const device_factors<I, O> f, const Values values, const I* rows, std::int64_t count,
                        const O* offsets, I* columns, typename Values::value* sums) {
  using D = typename Values::value;
  constexpr bool has_values = has_factors<Values>;
  constexpr int most = ranked_tuning::most_products;
  __shared__ __align__(16) I shared_columns[ranked_tuning::warps][most];
  __shared__ D shared_products[ranked_tuning::warps][has_values ? most : 1];
  const std::int64_t k = global_thread() / warp_size;
  if (k >= count) return;
  const I r = rows[k];
  ranked_row<I, D> row{shared_columns[threadIdx.x / warp_size], shared_products[threadIdx.x / warp_size]};
  int loaded = 0;
  for_each_of_few(f, values, r, [&](const auto& p) {
    // Places after the last product have a column that is before none.
    row.columns[loaded + lane_id()] = p.active ? p.column : std::numeric_limits<I>::max();
    if constexpr (has_values) row.products[loaded + lane_id()] = p.value;
    loaded += warp_size;
    row.count += __popc(__ballot_sync(full_mask, p.active));
  });
  __syncwarp();
  if (row.count <= 2 * warp_size) {
    rank_products<2, has_values>(row);
  } else {
    rank_products<4, has_values>(row);
  }
  O to = offsets[r];
  for (int first = 0; first < row.count; first += warp_size) {
    const int p = first + lane_id();
    const bool is_product = p < row.count;
    const I column = is_product ? row.columns[p] : I{0};
    const bool opens = is_product && (p == 0 || row.columns[p - 1] != column);
    const unsigned opened = __ballot_sync(full_mask, opens);
    if (opens) {
      const O at = to + static_cast<O>(__popc(opened & lanes_below()));
      if (columns != nullptr) columns[at] = column;
      if constexpr (has_values) {
        D sum = rounded_sum(D{}, row.products[p]);
        for (int q = p + 1; q < row.count && row.columns[q] == column; ++q) sum = rounded_sum(sum, row.products[q]);
        sums[at] = sum;
      }
    }
    to += static_cast<O>(__popc(opened));
  }
}

}  // namespace spargo::detail::spgemm

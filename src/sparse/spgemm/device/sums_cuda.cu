// Numeric phase: C's columns are known, and a warp adds up a row's products, or those of a segment of a long row, in a
// hash table in shared memory. Products come in the order of A's row and B's rows; where several of 32 fall on one
// column, they are added one after the other. So sums have the host's bits.
#include "core/device/launch.cuh"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "sparse/spgemm/device/merge.cuh"
#include "sparse/spgemm/device/pattern.hpp"
#include "sparse/spgemm/device/ranked.cuh"
#include "sparse/spgemm/device/tables.cuh"
#include "sparse/spgemm/executor.hpp"

namespace spargo::detail::spgemm {

namespace {

constexpr int threads = 128;  // of a block; each warp has a table

template <class D, class I, class O>
struct sums_output {
  const O* offsets;
  const I* columns;
  D* values;
};

template <class D, class I, class O>
__device__ __forceinline__ void add_up_tiny_row(const lane_product<I, D>& mine, I row, const sums_output<D, I, O>& to) {
  const unsigned peers = lanes_of_column(mine);
  const bool leads = mine.active && (peers & lanes_below()) == 0;
  D sum = rounded_sum(D{}, mine.value);
  unsigned others = leads ? peers & (peers - 1) : 0;  // without this lane, the lowest
  while (__any_sync(full_mask, others != 0)) {
    const D value = shuffle(mine.value, others != 0 ? __ffs(static_cast<int>(others)) - 1 : lane_id());
    if (others == 0) continue;
    sum = rounded_sum(sum, value);
    others &= others - 1;
  }
  const O first = to.offsets[row];
  const O size = to.offsets[row + 1] - first;
  const I column = lane_id() < size ? to.columns[first + lane_id()] : I{-1};
  int place = 0;
#pragma unroll
  for (int step = warp_size / 2; step > 0; step /= 2) {
    const I other = shuffle(column, place + step - 1);
    if (place + step <= size && other < mine.column) place += step;
  }
  if (leads) to.values[first + place] = sum;
}

template <class D, class I, class O>
__global__ void __launch_bounds__(block_threads)
    tiny_sums_kernel(const device_factors<I, O> f, const factor_values<D> values, const I* rows, std::int64_t count,
                     const sums_output<D, I, O> to) {
  const std::int64_t k = global_thread() / warp_size;
  if (k >= count) return;
  add_up_tiny_row(load_tiny_row(f, values, rows[k]), rows[k], to);
}

// The entries [first, first + size) of a row of C.
template <class I, class O>
struct row_segment {
  I row;
  O first;
  int size;
};

template <class I, class O>
__device__ __forceinline__ row_segment<I, O> segment_of(const I* rows, std::int64_t count, const std::int64_t* upto,
                                                        std::int64_t k, const O* offsets) {
  const std::int64_t which = first_where(std::int64_t{0}, count, [&](std::int64_t i) { return upto[i] > k; });
  const std::int64_t number = k - (which > 0 ? upto[which - 1] : 0);
  const I row = rows[which];
  const O first = offsets[row] + static_cast<O>(number * numeric_bins::segment);
  return {row, first,
          static_cast<int>(min(static_cast<std::int64_t>(offsets[row + 1]) - first, numeric_bins::segment))};
}

// Sums of a row by column. Columns that fit the table are their own places.
template <class D, class I>
struct sum_table {
  using key = key_of<I>;
  static constexpr key empty = ~key{0};
  D* sums;
  key* keys;
  int log_size;
  I low;
  bool direct;

  [[nodiscard]] __device__ unsigned place_of(I column) const {
    if (direct) return static_cast<unsigned>(column - low);
    return find_key(keys, static_cast<key>(column), empty, log_size);
  }
  // Not for a column outside the mask, which has an empty place, or one that no entry reads.
  [[nodiscard]] __device__ bool has(unsigned place, I column) const {
    return direct || keys[place] == static_cast<key>(column);
  }

  __device__ void load(const I* columns, int size) {
    low = columns[0];
    direct = columns[size - 1] - low < (I{1} << log_size);
    for (int s = lane_id(); s < 1 << log_size; s += warp_size) {
      sums[s] = D{};
      if (!direct) keys[s] = empty;
    }
    __syncwarp();
    if (!direct) {
      for (int q = lane_id(); q < size; q += warp_size) insert_key(keys, static_cast<key>(columns[q]), empty, log_size);
    }
    __syncwarp();
  }
  __device__ void add(const lane_product<I, D>& p) {
    const unsigned place = p.active ? place_of(p.column) : 0;
    const bool adds = p.active && has(place, p.column);
    if (p.distinct) {
      if (adds) sums[place] = rounded_sum(sums[place], p.value);
      __syncwarp();
      return;
    }
    const unsigned peers = __match_any_sync(full_mask, adds ? static_cast<int>(place) : -1 - lane_id());
    const int turn = adds ? __popc(peers & lanes_below()) : -1;
    for (int k = 0; __any_sync(full_mask, turn >= k); ++k) {
      if (turn == k) sums[place] = rounded_sum(sums[place], p.value);
      __syncwarp();
    }
  }
};

template <bool Segments, product_walk Walk, class D, class I, class O>
__global__ void __launch_bounds__(threads)
    sums_kernel(const device_factors<I, O> f, const factor_values<D> values, bool masked, const I* rows,
                std::int64_t count, const std::int64_t* segments_upto, std::int64_t segments, int log_size,
                const sums_output<D, I, O> to) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int warps = static_cast<int>(blockDim.x) / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t k = std::int64_t{blockIdx.x} * warps + warp;
  if (k >= (Segments ? segments : count)) return;
  row_segment<I, O> segment;
  if constexpr (Segments) {
    segment = segment_of(rows, count, segments_upto, k, to.offsets);
  } else {
    const I row = rows[k];
    segment = {row, to.offsets[row], static_cast<int>(to.offsets[row + 1] - to.offsets[row])};
  }
  D* const sums = reinterpret_cast<D*>(memory);
  sum_table<D, I> table{sums + (warp << log_size),
                        reinterpret_cast<key_of<I>*>(sums + (warps << log_size)) + (warp << log_size), log_size, I{0},
                        false};
  const I* const columns = to.columns + segment.first;
  table.load(columns, segment.size);
  const column_range<I> range{columns[0], columns[segment.size - 1]};
  const auto use = [&](const lane_product<I, D>& p) { table.add(p); };
  // With a mask a row's products may lie outside of its columns.
  if (Segments || (Walk == product_walk::flattened && masked)) {
    for_each_product<true, Walk>(f, values, f.a_offsets[segment.row], f.a_offsets[segment.row + 1], range, use);
  } else {
    for_each_product<false, Walk>(f, values, f.a_offsets[segment.row], f.a_offsets[segment.row + 1], range, use);
  }
  __syncwarp();
  for (int q = lane_id(); q < segment.size; q += warp_size) {
    to.values[segment.first + q] = table.sums[table.place_of(columns[q])];
  }
}

template <class V, class I, class O>
class device_executor final : public executor<V, I, O, device> {
 public:
  device_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& a,
                  const csr_view<const V, I, O, device>& b, const csr_pattern_view<I, O, device>* mask,
                  const spgemm_options& options)
      : ctx_(ctx),
        found_(find_pattern<I, O>(ctx, a, b, mask, options, is_pattern<V> ? 0 : static_cast<std::int64_t>(sizeof(V)))),
        factors_{a.offsets.data() + options.first_row, a.indices.data(), b.offsets.data(), b.indices.data(),
                 found_.b_ascends},
        a_values_(a.values.data()),
        b_values_(b.values.data()),
        is_masked_(mask != nullptr) {}

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return found_.bytes(); }
  [[nodiscard]] std::int64_t products() const noexcept override { return found_.products; }
  [[nodiscard]] std::int64_t nnz() const noexcept override { return found_.result.nnz(); }
  [[nodiscard]] csr_matrix<pattern, I, O, device>& result() override {
    if (!has_columns_) {
      const device_guard guard(ctx_);
      write_short(no_values{}, nullptr);
    }
    return found_.result;
  }
  void fill(V* values) override {
    if constexpr (!is_pattern<V>) add_up(device_cast(values));
  }

 private:
  template <class D>
  void add_up(D* values) {
    const device_guard guard(ctx_);
    const sums_output<D, I, O> to{found_.result.offsets().data(), found_.result.indices().data(), values};
    const factor_values<D> from{device_cast(a_values_), device_cast(b_values_)};
    const auto& bins = found_.bins;
    if (bins.count(numeric_bins::segments) > 0) {
      launch<true, product_walk::flattened>(numeric_bins::segments, numeric_bins::segment_table, from, to);
    }
    const bool by_rows = found_.has_long_rows && !is_masked_;
    for (int bin = numeric_bins::hashed - 1; bin >= 0; --bin) {
      if (bins.count(bin) == 0) continue;
      if (by_rows) {
        launch<false, product_walk::by_rows>(bin, bin, from, to);
      } else {
        launch<false, product_walk::flattened>(bin, bin, from, to);
      }
    }
    if (const std::int64_t count = bins.count(numeric_bins::tiny); count > 0) {
      launch_kernel(ctx_, one_thread_each(count * warp_size, block_threads), tiny_sums_kernel<D, I, O>, factors_, from,
                    bins.rows_of(numeric_bins::tiny), count, to);
    }
    write_short(from, values);
  }

  // Values of merged and ranked rows, and columns if they are not yet written.
  template <class Values>
  void write_short(const Values& from, typename Values::value* values) {
    auto& c = found_.result;
    I* const columns = has_columns_ ? nullptr : c.indices().data();
    for (const int bin : {numeric_bins::merged_few, numeric_bins::merged}) {
      const std::int64_t count = found_.bins.count(bin);
      if (count == 0) continue;
      launch_kernel(ctx_, one_thread_each(count, merge_tuning::threads), write_merged_kernel<I, O, Values>, factors_,
                    from, found_.bins.rows_of(bin), count, c.offsets().data(), columns, values);
    }
    if (const std::int64_t count = found_.bins.count(numeric_bins::ranked); count > 0) {
      launch_kernel(ctx_, one_thread_each(count * warp_size, ranked_tuning::threads), write_ranked_kernel<I, O, Values>,
                    factors_, from, found_.bins.rows_of(numeric_bins::ranked), count, c.offsets().data(), columns,
                    values);
    }
    has_columns_ = true;
  }

  // The rows of `bin`, with the tables of `size`.
  template <bool Segments, product_walk Walk, class D>
  void launch(int bin, int size, const factor_values<D>& from, const sums_output<D, I, O>& to) const {
    const int log_size = 6 + size;
    const std::int64_t of_warp = static_cast<std::int64_t>(sizeof(D) + sizeof(key_of<I>)) << log_size;
    const std::int64_t warps =
        std::clamp<std::int64_t>(ctx_.properties().shared_memory_per_block / 2 / of_warp, 1, threads / warp_size);
    const auto bytes = static_cast<std::size_t>(warps * of_warp);
    const auto kernel = sums_kernel<Segments, Walk, D, I, O>;
    allow_shared(kernel, bytes);
    const std::int64_t count = found_.bins.count(bin);
    launch_kernel(ctx_, {div_up(Segments ? found_.segments : count, warps), static_cast<int>(warps) * warp_size, bytes},
                  kernel, factors_, from, is_masked_, found_.bins.rows_of(bin), count, found_.segments_upto.data(),
                  found_.segments, log_size, to);
  }

  context<device> ctx_;
  device_pattern<I, O> found_;
  device_factors<I, O> factors_;
  const V* a_values_;
  const V* b_values_;
  bool is_masked_;
  bool has_columns_ = false;  // of merged and ranked rows
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V, I, O, device> make_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& a,
                                            const csr_view<const V, I, O, device>& b,
                                            const csr_pattern_view<I, O, device>* mask, const spgemm_options& options) {
  return std::make_unique<device_executor<V, I, O>>(ctx, a, b, mask, options);
}

#define INSTANTIATE(V, I, O)                                                                                           \
  template executor_ptr<V, I, O, device> make_executor(const context<device>&, const csr_view<const V, I, O, device>&, \
                                                       const csr_view<const V, I, O, device>&,                         \
                                                       const csr_pattern_view<I, O, device>*, const spgemm_options&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spgemm

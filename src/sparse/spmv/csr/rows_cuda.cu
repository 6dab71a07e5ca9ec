// Device CSR products in which a thread or a group of threads owns whole rows.
//
// row_per_thread: one thread per row. Neighbouring threads load a row's length apart, but for short rows these loads
// soon hit the same cache lines; a kernel per row length keeps all entries of its row in flight. row_per_warp: 2 to 32
// lanes per row, so that loads are coalesced and few are dependent, which dominates for matrices in cache. Rows far too
// long for their group get a block each; the plan lists them, and the kernel's first blocks process them, so that they
// start first. Rows that would outlast all others are cut into parts, one block each; the block that finishes last adds
// the parts' sums in order. Large matrices of long rows use one warp per row with 16-byte loads. One writer per
// element, fixed order: deterministic. Workspace: 36 bytes and one value per listed row or part.
#include "core/device/block.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/csr/column_passes.hpp"
#include "sparse/spmv/device.cuh"

#include <spargo/core/device_features.cuh>

#include <algorithm>
#include <type_traits>

namespace spargo::detail::spmv {

namespace {

template <class D, class I, class O>
struct csr_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
};

struct tuning {
  // If groups do not all run at once, a group is widened only from this many entries per lane on: a band of 27, 32768
  // rows, with 8 and 16 lanes 3.3 and 5.0 us; ego-Twitter with 16 and 32 12.5 and 20.2 (more in sparse_tuning.txt).
  static constexpr double entries_per_lane = 4.0;
  // Entries in flight per lane. With 8: uniform 200k x 16 25.4, not 25.0; rajat01 2.8, not 2.6.
  static constexpr int in_flight = 4;
  // A row gets its own block above this many entries per lane (if all groups run at once, or otherwise) and this many
  // entries. Groebner with 4, 8 and 16: 2.8, 2.9 and 3.6 us; R-MAT 16 with 8 and 16: 8.9, 8.7.
  static constexpr int entries_of_a_round = 4;
  static constexpr int entries_of_rounds = 16;
  static constexpr std::int64_t least_long_row = 64;
  // Such rows are cut into parts, which synchronise, above this many entries and this part of all entries: rajat01
  // (longest row 1442) in parts of 1024 3.07 us, whole 2.1; a row of 9000 among 72 thousand entries 3.7 and 5.6.
  static constexpr std::int64_t whole_row = 4096;
  static constexpr std::int64_t whole_row_part = 128;
  // Entries per part, doubled until there are at most this many parts per SM. A row of a million among 2.9 million
  // entries with 512, 1024 and without parts: 20.4, 18.1 and 395 us (more in sparse_tuning.txt).
  static constexpr std::int64_t least_part = 1024;
  static constexpr std::int64_t parts_per_sm = 6;
  // From this mean length on, in matrices of this many entries, a whole warp uses 16-byte loads: two full rounds.
  static constexpr double wide_mean = 96.0;
  static constexpr std::int64_t wide_entries = std::int64_t{1} << 21;
  // Rows of more entries would outlast the other warps.
  static constexpr std::int64_t widest_row = 4096;
  // Entries in flight per row, one kernel each, at least the rows' length. 5-point Laplacian 4096 x 4096 with 4, 5, 6,
  // 7, 8, ms on an H200: fp32 0.238, 0.209, 0.222, 0.240, 0.243; fp64 0.378, 0.315, 0.362, 0.327, 0.321.
  static constexpr int least_unrolled = 3;
  static constexpr int most_unrolled = 8;
};

// Blocks per SM: as many as the threads allow, if a row's entries fit 32 registers.
template <class D, class I, class O>
inline constexpr int row_blocks_resident = sizeof(D) + sizeof(I) > 12 ? 3 : (sizeof(O) == 4 ? 8 : 6);

template <int Unroll, class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block, resident_blocks(row_blocks_resident<D, I, O>, threads_per_block))
    row_per_thread_kernel(csr_arguments<D, I, O> a, const D* __restrict__ x, D alpha, D beta, D* __restrict__ y) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (row >= a.rows) return;
  const O end = a.offsets[row + 1];
  D sum{};
#pragma unroll 1
  for (O e = a.offsets[row]; e < end; e += Unroll) {
    const I* const indices = a.entries.indices + e;
    const D* const values = a.entries.values + e;
    const int loaded = end - e < Unroll ? static_cast<int>(end - e) : Unroll;
    D value[Unroll];
    I index[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      index[u] = u < loaded ? __ldg(indices + u) : I{-1};
      value[u] = u < loaded ? read(values + u) : D{};
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      if (index[u] >= 0) sum = multiply_add(value[u], read(x + index[u]), sum);
    }
  }
  update(y[row], alpha, sum, beta);
}

// A part of a row too long for its group; its block finds the entries with one load. Parts of a row are adjacent.
struct long_part {
  std::int64_t row;
  std::int64_t begin;
  std::int64_t end;
  int first;  // index of the row's first part
  int parts;  // parts of the row
};

// Whether the kernel supports rows in parts: this costs matrices without them 0.1 to 0.3 microseconds (JohnsHopkins55
// 3.7 and 3.6, in fp64 4.3 and 4.1).
enum class long_rows { whole, in_parts };

template <class D, class I, class O>
struct group_arguments {
  csr_arguments<D, I, O> csr;
  int width;                    // lanes per row, a power of two
  std::int64_t longest;         // longest row that its group sums
  const long_part* long_parts;  // the longer rows, in any order
  int long_count;
  D* part_sums;
  unsigned* parts_done;  // at a row's first part; 0 between runs
};

// The sum over entries first, first + step, ... below last, tuning::in_flight at a time.
template <class D, class I, class Count>
__device__ D strided_dot(const device_entries<D, I>& a, Count first, Count last, Count step, const D* x) {
  constexpr int in_flight = tuning::in_flight;
  D sum{};
#pragma unroll 1
  for (Count e = first; e < last; e += in_flight * step) {
    D value[in_flight];
    I index[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
      const bool inside = e + u * step < last;
      index[u] = inside ? __ldg(a.indices + e + u * step) : I{-1};
      value[u] = inside ? read(a.values + e + u * step) : D{};
    }
#pragma unroll
    for (int u = 0; u < in_flight; ++u) {
      if (index[u] >= 0) sum = multiply_add(value[u], read(x + index[u]), sum);
    }
  }
  return sum;
}

// A block sums a part of a long row, or all of it. The block that finds all other parts done finishes the row.
template <long_rows Rows, class D, class I, class O>
__device__ void sum_long_part(const group_arguments<D, I, O>& a, int place, const D* x, D alpha, D beta, D* y) {
  using count = std::make_unsigned_t<O>;
  __shared__ D warp_sums[threads_per_block / warp_size];
  const int thread = static_cast<int>(threadIdx.x);
  const long_part part = a.long_parts[place];
  const auto sum_of_block = [&](D mine) { return block_reduce_tree(mine, warp_sums, plus{}, D{}); };
  D sum = sum_of_block(strided_dot(a.csr.entries, static_cast<count>(part.begin + thread), static_cast<count>(part.end),
                                   count{threads_per_block}, x));
  if (Rows == long_rows::in_parts && part.parts > 1) {
    if (thread == 0) a.part_sums[place] = sum;
    if (!block_arrives_last(a.parts_done + part.first, static_cast<unsigned>(part.parts))) return;
    sum = D{};
    for (int k = thread; k < part.parts; k += threads_per_block) sum += a.part_sums[part.first + k];
    sum = sum_of_block(sum);
  }
  if (thread == 0) update(y[part.row], alpha, sum, beta);
}

// The first blocks take a long row or a part of one each, the others threads_per_block / width rows. Lanes without a
// row take part in the reductions. Width: lanes per row as a compile-time constant; 0: a.width.
template <int Width, long_rows Rows, class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    row_per_group_kernel(group_arguments<D, I, O> a, const D* __restrict__ x, D alpha, D beta, D* __restrict__ y) {
  using count = std::make_unsigned_t<O>;  // holds an entry's position plus a few steps
  const int thread = static_cast<int>(threadIdx.x);
  const int block = static_cast<int>(blockIdx.x);
  if (block < a.long_count) {
    sum_long_part<Rows>(a, block, x, alpha, beta, y);
    return;
  }
  const int width = Width == 0 ? a.width : Width;
  const std::int64_t row =
      static_cast<std::int64_t>(block - a.long_count) * (threads_per_block / width) + thread / width;
  const int lane = thread & (width - 1);
  const bool inside = row < a.csr.rows;
  const auto begin = inside ? static_cast<count>(a.csr.offsets[row]) : count{};
  const auto end = inside ? static_cast<count>(a.csr.offsets[row + 1]) : count{};
  const bool mine = inside && end - begin <= static_cast<count>(a.longest);
  const D sum = group_sum(
      strided_dot(a.csr.entries, begin + static_cast<count>(lane), mine ? end : begin, static_cast<count>(width), x),
      width);
  if (lane == 0 && mine) update(y[row], alpha, sum, beta);
}

// Which rows are listed, and how.
struct cut_limits {
  std::int64_t longest;  // longer rows are listed
  std::int64_t whole;    // longer ones of these are cut
  std::int64_t size;     // entries per part
};

struct part_counts {
  int parts;  // including whole rows
  int full;   // parts of tuning::least_part entries in cut rows
};

// Lists long rows and parts of rows, if there is a list.
template <class O>
__global__ void __launch_bounds__(threads_per_block)
    long_parts_kernel(const O* offsets, std::int64_t rows, cut_limits limits, part_counts* counts, long_part* list) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (row >= rows) return;
  const auto begin = static_cast<std::int64_t>(offsets[row]);
  const auto end = static_cast<std::int64_t>(offsets[row + 1]);
  if (end - begin <= limits.longest) return;
  const bool whole = end - begin <= limits.whole;
  const auto parts = whole ? 1 : static_cast<int>((end - begin + limits.size - 1) / limits.size);
  const int first = atomicAdd(&counts->parts, parts);
  if (!whole) atomicAdd(&counts->full, static_cast<int>((end - begin) / tuning::least_part));
  if (list == nullptr) return;
  for (int k = 0; k < parts; ++k) {
    list[first + k] = {row, begin + k * limits.size, k + 1 < parts ? begin + (k + 1) * limits.size : end, first, parts};
  }
}

// One warp per row, four entries per lane and load; entries of other rows in the first and last load are skipped.
template <class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    row_per_warp_kernel(csr_arguments<D, I, O> a, const D* x, D alpha, D beta, D* y) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (threads_per_block / warp_size) + threadIdx.x / warp_size;
  if (row >= a.rows) return;  // uniform per warp
  const std::int64_t begin = a.offsets[row];
  const std::int64_t end = a.offsets[row + 1];
  D sum{};
#pragma unroll 2
  for (std::int64_t e = (begin & ~std::int64_t{3}) + 4 * lane; e < end; e += 4 * warp_size) {
    quad<D> values;
    quad<I> indices;
    load_entries(a.entries, e, values, indices);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (e + j >= begin && e + j < end) sum = multiply_add(values.v[j], read(x + indices.v[j]), sum);
    }
  }
  sum = group_sum(sum, warp_size);
  if (lane == 0) update(y[row], alpha, sum, beta);
}

template <class V, class I, class O>
class device_rows final : public executor<V> {
  using D = device_value_t<V>;
  using kernel = void (*)(csr_arguments<D, I, O>, const D*, D, D, D*);
  using group_kernel = void (*)(group_arguments<D, I, O>, const D*, D, D, D*);

 public:
  device_rows(const context<device>& ctx, const csr_view<const V, I, O, device>& a, spmv_algorithm algorithm,
              const row_profile& profile)
      : ctx_(ctx), arguments_{entries_of(a.values.data(), a.indices.data(), a.nnz()), a.offsets.data(), a.rows} {
    if (algorithm == spmv_algorithm::row_per_thread) {
      kernel_ = row_kernel_for(profile.longest);
      return;
    }
    const double mean = static_cast<double>(a.nnz()) / static_cast<double>(a.rows);
    if (mean >= tuning::wide_mean && a.nnz() >= tuning::wide_entries &&
        cut_long_rows({tuning::widest_row, tuning::widest_row, tuning::least_part}, nullptr).parts == 0) {
      rows_per_block_ = threads_per_block / warp_size;
      kernel_ = &row_per_warp_kernel<D, I, O>;
      return;
    }
    groups_.csr = arguments_;
    choose_width(mean);
    group_kernel_ = list_long_rows() == long_rows::whole ? group_kernel_for<long_rows::whole>(groups_.width)
                                                         : group_kernel_for<long_rows::in_parts>(groups_.width);
  }

  void run(V alpha_value, const V* x_values, V beta_value, V* y_values) const override {
    const device_guard guard(ctx_);
    const D* const x = device_cast(x_values);
    D* const y = device_cast(y_values);
    const D alpha = to_device_value(alpha_value);
    const D beta = to_device_value(beta_value);
    if (kernel_ != nullptr) {
      launch_kernel(ctx_, {div_up(arguments_.rows, rows_per_block_), threads_per_block}, kernel_, arguments_, x, alpha,
                    beta, y);
    } else {
      const std::int64_t blocks = groups_.long_count + div_up(arguments_.rows, threads_per_block / groups_.width);
      launch_kernel(ctx_, {blocks, threads_per_block}, group_kernel_, groups_, x, alpha, beta, y);
    }
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(long_part) + sizeof(V) + sizeof(unsigned)) * long_parts_.size();
  }

 private:
  // The kernel whose limit is the longest row's length; the largest for longer rows or unknown length (0).
  template <int Unroll = tuning::least_unrolled>
  [[nodiscard]] static kernel row_kernel_for(std::int64_t longest) {
    if constexpr (complex_type<V>) {
      return &row_per_thread_kernel<4, D, I, O>;
    } else if constexpr (Unroll == tuning::most_unrolled) {
      return &row_per_thread_kernel<Unroll, D, I, O>;
    } else {
      if (longest > 0 && longest <= Unroll) return &row_per_thread_kernel<Unroll, D, I, O>;
      return row_kernel_for<Unroll + 1>(longest);
    }
  }

  // As many lanes per row as have enough entries; more, up to one lane per entry, if all still run at once.
  void choose_width(double mean) {
    const std::int64_t lanes = std::int64_t{2048} * ctx_.properties().multiprocessors;
    int width = 2;
    while (width < warp_size && mean >= tuning::entries_per_lane * width) width *= 2;
    while (width < warp_size && mean > width && arguments_.rows <= lanes / (2 * width)) width *= 2;
    const int most = arguments_.rows <= lanes / width ? tuning::entries_of_a_round : tuning::entries_of_rounds;
    groups_.width = width;
    groups_.longest = std::max(std::int64_t{most} * width, tuning::least_long_row);
  }

  // Specialised by width for the most important types.
  template <long_rows Rows>
  [[nodiscard]] static group_kernel group_kernel_for(int width) {
    if constexpr (complex_type<V> || sizeof(I) + sizeof(O) > 8) {
      return &row_per_group_kernel<0, Rows, D, I, O>;
    } else {
      switch (width) {
        case 2:
          return &row_per_group_kernel<2, Rows, D, I, O>;
        case 4:
          return &row_per_group_kernel<4, Rows, D, I, O>;
        case 8:
          return &row_per_group_kernel<8, Rows, D, I, O>;
        case 16:
          return &row_per_group_kernel<16, Rows, D, I, O>;
        default:
          return &row_per_group_kernel<warp_size, Rows, D, I, O>;
      }
    }
  }

  // Synchronises the stream.
  long_rows list_long_rows() {
    const std::int64_t whole = std::max(tuning::whole_row, arguments_.entries.nnz / tuning::whole_row_part);
    cut_limits limits{groups_.longest, whole, tuning::least_part};
    part_counts counts = cut_long_rows(limits, nullptr);
    if (counts.parts == 0) return long_rows::whole;
    const std::int64_t most = tuning::parts_per_sm * ctx_.properties().multiprocessors;
    while (counts.full > most * (limits.size / tuning::least_part)) limits.size *= 2;
    if (limits.size != tuning::least_part) counts = cut_long_rows(limits, nullptr);
    long_parts_ = {ctx_, counts.parts};
    part_sums_ = {ctx_, counts.parts};
    parts_done_ = {ctx_, counts.parts};
    fill_zero(ctx_, parts_done_.view());
    groups_.long_count = counts.parts;
    groups_.long_parts = long_parts_.data();
    groups_.part_sums = device_cast(part_sums_.data());
    groups_.parts_done = parts_done_.data();
    (void)cut_long_rows(limits, long_parts_.data());
    return counts.full == 0 ? long_rows::whole : long_rows::in_parts;
  }

  // Returns the kernel's counts. Synchronises the stream.
  [[nodiscard]] part_counts cut_long_rows(const cut_limits& limits, long_part* list) const {
    const device_guard guard(ctx_);
    array<part_counts, device> counts(ctx_, 1);
    fill_zero(ctx_, counts.view());
    launch_kernel(ctx_, one_thread_each(arguments_.rows, threads_per_block), long_parts_kernel<O>, arguments_.offsets,
                  arguments_.rows, limits, counts.data(), list);
    return to_host(ctx_, std::as_const(counts).view())[0];
  }

  context<device> ctx_;
  csr_arguments<D, I, O> arguments_;
  int rows_per_block_ = threads_per_block;
  kernel kernel_ = nullptr;  // null: group_kernel_
  group_kernel group_kernel_ = nullptr;
  group_arguments<D, I, O> groups_{};
  array<long_part, device> long_parts_;
  array<V, device> part_sums_;
  array<unsigned, device> parts_done_;
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V> make_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                              spmv_algorithm algorithm, const row_profile& profile) {
  if (algorithm == spmv_algorithm::merge_path) return make_merge_executor<V, I, O>(ctx, matrix);
  if (algorithm == spmv_algorithm::column_passes) return make_passes_executor<V, I, O>(ctx, matrix);
  if (algorithm == spmv_algorithm::row_blocks) return make_blocks_executor<V, I, O>(ctx, matrix);
  return std::make_unique<device_rows<V, I, O>>(ctx, matrix, algorithm, profile);
}

#define INSTANTIATE(V, I, O)                                                                             \
  template executor_ptr<V> make_executor(const context<device>&, const csr_view<const V, I, O, device>&, \
                                         spmv_algorithm, const row_profile&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv

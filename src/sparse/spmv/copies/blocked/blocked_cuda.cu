// CSR products on the device from a copy that reads x from shared memory for most entries.
//
// If a row's columns are scattered over x, an entry costs a sector of x from L2: 32 bytes for one element. Two kinds of
// entries are cheaper. Hot columns: graphs gather a few elements again and again; columns are ranked by descending use,
// and the x of the first ones fits shared memory. Long rows: these have several entries in each block of columns that
// fits shared memory; such a cell (row, column block) is stored with those of the same block, with 16-bit columns, and
// gives one partial sum. Other entries are gathered as usual.
//
// The copy is cut into strips summed by one lane: up to 64 entries of a cell or of a row's other entries. Strips are
// sorted by length, and 32 of similar length share a warp, with interleaved entries (SELL-C-sigma), so lanes need not
// search for row ends. A thread block takes an equal share of the column blocks' chunks of strips and loads each
// block's part of x; the other chunks are distributed to all warps. Finally each row adds the sums of its strips in
// order: the same bits in every run and from every plan, but not those of row_per_thread. The caller never sees the
// ranks.
//
// Cost of a run in bytes from L2: an entry in a cell takes its value and 2 bytes, another entry its value and 4 bytes,
// plus 32 if its column is not hot; a strip about 40; with ranked columns about 44 per used column. Workspace: a value
// and 8 bytes per entry (6 in cells), x and 4 bytes per column if ranked, a value and 6 bytes per strip, 4 per row. A
// plan costs 20 to 45 products.
// Sources: vertices by degree (Zhang et al., "Making caches work for graph analytics", BigData 2017); column blocks
// (Nishtala et al., "When cache blocking of sparse matrix vector multiply works and why", AAECC 2007); SELL-C-sigma
// (Kreutzer et al., SIAM J. Sci. Comput. 36, 2014).
#include "core/bytes_of.hpp"
#include "core/device/async_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/copies/binned/device.cuh"
#include "sparse/spmv/copies/blocked/add.cuh"
#include "sparse/spmv/copies/blocked/device.cuh"
#include "sparse/spmv/device.cuh"

#include <algorithm>
#include <utility>

namespace spargo::detail::spmv {

namespace {

// ms per product on an H200, R-MAT 22; more in sparse_tuning.txt.
struct tuning {
  // One block per SM: fp32 0.221, with 216 KiB 0.265, since L1 then lacks space for loads in flight.
  static constexpr std::int64_t block_bytes = std::int64_t{192} * 1024;
  static constexpr std::int64_t most_blocks = 512;
  // fp32, 1024, 768, 512 threads: 0.263, 0.272, 0.305; fp64 0.609 (spills), 0.434, 0.477.
  static constexpr int narrow_threads = 1024;
  static constexpr int threads = 768;
  static constexpr int wide_threads = 512;
  // For a gather-only kernel, if no column is hot and values are wide: power law fp64 0.530, without 0.561.
  static constexpr int gather_threads = 512;
  static constexpr int gather_blocks = 2;
  // Elements of x per thread, to overlap their dependent loads.
  static constexpr int batch = 4;
};

template <class D>
inline constexpr std::int64_t part_columns = tuning::block_bytes / static_cast<std::int64_t>(sizeof(D));
template <class D>
inline constexpr int product_threads = sizeof(D) <= 4   ? tuning::narrow_threads
                                       : sizeof(D) <= 8 ? tuning::threads
                                                        : tuning::wide_threads;
static_assert(part_columns<float> <= 1 << 16);

template <class D>
struct blocked_arguments {
  std::int64_t used;  // number of ranks
  std::uint32_t popular;
  std::uint32_t groups;
  std::uint32_t chunks;
  std::uint32_t cell_chunks;
  const std::uint32_t* group_chunks;
  const std::uint32_t* shares;  // first chunk of cells of each thread block
  const std::uint32_t* chunk_starts;
  const std::uint16_t* strip_sizes;
  const std::uint16_t* cell_columns;
  const std::uint32_t* other_ranks;
  std::int64_t cell_slots;
  const D* values;
  D* sums;  // by place
};

// to[i] = from[places[i]], several per thread to overlap their dependent loads.
template <class D>
__global__ void __launch_bounds__(threads_per_block)
    gather_kernel(const D* from, const std::uint32_t* places, std::int64_t size, D* to) {
  constexpr int batch = tuning::batch;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (batch * threads_per_block) + threadIdx.x;
  std::uint32_t place[batch];
  D value[batch];
#pragma unroll
  for (int j = 0; j < batch; ++j)
    place[j] = first + j * threads_per_block < size ? places[first + j * threads_per_block] : 0;
#pragma unroll
  for (int j = 0; j < batch; ++j) value[j] = read(from + place[j]);
#pragma unroll
  for (int j = 0; j < batch; ++j) {
    if (first + j * threads_per_block < size) to[first + j * threads_per_block] = value[j];
  }
}

extern __shared__ int4 blocked_bytes[];

// The whole block must call it; `part` is then readable.
template <class D>
__device__ void load_part(const D* x, std::int64_t size, D* part) {
  __syncthreads();  // the previous part has been used
  for (std::int64_t c = threadIdx.x; c < size; c += blockDim.x) copy_async(part + c, x + c);
  wait_for_copies();
  __syncthreads();
}

// Four columns, 8 or 16 bytes.
__device__ inline quad<std::uint16_t> load_columns(const std::uint16_t* p) {
  const uint2 raw = __ldcs(reinterpret_cast<const uint2*>(p));
  quad<std::uint16_t> q;
  __builtin_memcpy(&q, &raw, sizeof(q));
  return q;
}
__device__ inline quad<std::uint32_t> load_columns(const std::uint32_t* p) { return load_quad(p); }

// A chunk, as one lane uses it.
struct lane_chunk {
  std::uint32_t number;
  std::uint32_t start;  // slots before it, divided by the warp size
  std::uint32_t size;   // entries of its longest strip; 0: no chunk
  std::uint32_t mine;   // entries of this lane's strip

  template <class D>
  __device__ static lane_chunk of(const blocked_arguments<D>& a, std::uint32_t number, std::uint32_t end, int lane) {
    if (number >= end) return {number, 0, 0, 0};
    const std::uint32_t start = a.chunk_starts[number];
    return {number, start, a.chunk_starts[number + 1] - start, a.strip_sizes[number * warp_size + lane]};
  }
};

// Up to four entries of a lane's strip, starting at a multiple of four.
template <class D, class C>
struct strip_step {
  quad<D> values;
  quad<C> columns;

  // `all_columns` points to slot 0.
  __device__ void load(const D* all_values, const C* all_columns, const lane_chunk& chunk, std::uint32_t k, int lane) {
    const std::int64_t slot = (static_cast<std::int64_t>(chunk.start) + k) * warp_size;
    if (k + 4 <= chunk.size) {
      values = load_quad(all_values + slot + 4 * lane);
      columns = load_columns(all_columns + slot + 4 * lane);
      return;
    }
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      if (k + j >= chunk.size) continue;
      values.v[j] = read_once(all_values + slot + j * warp_size + lane);
      columns.v[j] = __ldcs(all_columns + slot + j * warp_size + lane);
    }
  }
};

// Sums chunks first .. end - 1. Workers take them round-robin in alternating direction, so that all get equally many
// long ones. The next step is loaded while one is multiplied. `fetch` gives the element of x for a column.
template <class D, class C, class Fetch>
__device__ void sum_chunks(const blocked_arguments<D>& a, const C* columns, std::uint32_t first, std::uint32_t end,
                           std::uint32_t workers, std::uint32_t worker, int lane, Fetch fetch) {
  const auto chunk_of = [&](std::uint32_t round) {
    const std::uint32_t turn = (round & 1U) != 0 ? workers - 1 - worker : worker;
    return lane_chunk::of(a, first + round * workers + turn, end, lane);
  };
  std::uint32_t round = 0;
  lane_chunk chunk = chunk_of(0);
  if (chunk.size == 0) return;
  lane_chunk next = chunk_of(1);
  strip_step<D, C> now;
  now.load(a.values, columns, chunk, 0, lane);
  D sum{};
  for (std::uint32_t k = 0;;) {
    const bool last = k + 4 >= chunk.size;
    strip_step<D, C> ahead;
    if (!last) {
      ahead.load(a.values, columns, chunk, k + 4, lane);
    } else if (next.size > 0) {
      ahead.load(a.values, columns, next, 0, lane);
    }
    D elements[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) elements[j] = k + j < chunk.mine ? fetch(now.columns.v[j]) : D{};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (k + j < chunk.mine) sum = multiply_add(now.values.v[j], elements[j], sum);
    }
    k += 4;
    if (last) {
      a.sums[static_cast<std::int64_t>(chunk.number) * warp_size + lane] = sum;
      if (next.size == 0) return;
      sum = D{};
      k = 0;
      chunk = next;
      next = chunk_of(++round + 1);
    }
    now = ahead;
  }
}

template <class D>
__device__ void sum_cells(const blocked_arguments<D>& a, const D* x, D* part) {
  __shared__ std::uint32_t first_group;
  std::uint32_t first = a.shares[blockIdx.x];
  const std::uint32_t last = a.shares[blockIdx.x + 1];
  if (first >= last) return;
  for (std::uint32_t g = threadIdx.x; g < a.groups; g += product_threads<D>) {
    if (a.group_chunks[g] <= first && first < a.group_chunks[g + 1]) first_group = g;
  }
  __syncthreads();
  constexpr int warps = product_threads<D> / warp_size;
  for (std::uint32_t group = first_group; first < last; ++group) {
    const std::uint32_t end = min(a.group_chunks[group + 1], last);
    if (end <= first) continue;
    const std::int64_t begin = group * part_columns<D>;
    load_part(x + begin, min(part_columns<D>, a.used - begin), part);
    sum_chunks(a, a.cell_columns, first, end, warps, threadIdx.x / warp_size, static_cast<int>(threadIdx.x) % warp_size,
               [&](std::uint16_t c) { return part[c]; });
    first = end;
  }
}

// Elements with rank below `popular` are in `part`.
template <class D>
__device__ void sum_others(const blocked_arguments<D>& a, const D* x, const D* part, std::uint32_t popular) {
  const std::uint32_t warps = blockDim.x / warp_size;
  sum_chunks(a, a.other_ranks - a.cell_slots, a.cell_chunks, a.chunks, gridDim.x * warps,
             blockIdx.x * warps + threadIdx.x / warp_size, static_cast<int>(threadIdx.x) % warp_size,
             [&](std::uint32_t c) { return c < popular ? part[c] : read(x + c); });
}

template <class D>
__global__ void __launch_bounds__(product_threads<D>, 1) blocked_kernel(blocked_arguments<D> a, const D* x) {
  D* const part = reinterpret_cast<D*>(blocked_bytes);
  sum_cells(a, x, part);
  if (a.cell_chunks == a.chunks) return;
  load_part(x, a.popular, part);
  sum_others(a, x, part, a.popular);
}

// Strips outside cells if no column is hot: without x in shared memory more gathers are in flight.
template <class D>
__global__ void __launch_bounds__(tuning::gather_threads, tuning::gather_blocks)
    others_kernel(blocked_arguments<D> a, const D* x) {
  sum_others(a, x, static_cast<const D*>(nullptr), 0U);
}

template <class V>
class device_blocked final : public executor<V> {
  using D = device_value_t<V>;

 public:
  device_blocked(const context<device>& ctx, blocked_pattern pattern, const V* values)
      : ctx_(ctx),
        pattern_(std::move(pattern)),
        values_(ctx, pattern_.slots),
        x_(ctx, pattern_.columns.size()),
        sums_(ctx, pattern_.chunks * warp_size),
        part_sums_(ctx, pattern_.part_hubs.size()),
        arrived_(ctx, pattern_.hub_rows) {
    blocks_ = std::min<std::int64_t>(ctx.properties().multiprocessors, pattern_.chunks);
    shares_ = share_chunks(ctx, pattern_, blocks_);
    device_blocked::update_values(values);
    arguments_ = {.used = pattern_.used,
                  .popular = static_cast<std::uint32_t>(pattern_.popular),
                  .groups = static_cast<std::uint32_t>(pattern_.groups),
                  .chunks = static_cast<std::uint32_t>(pattern_.chunks),
                  .cell_chunks = static_cast<std::uint32_t>(pattern_.cell_chunks),
                  .group_chunks = pattern_.group_chunks.data(),
                  .shares = shares_.data(),
                  .chunk_starts = pattern_.chunk_starts.data(),
                  .strip_sizes = pattern_.strip_sizes.data(),
                  .cell_columns = pattern_.cell_columns.data(),
                  .other_ranks = pattern_.other_ranks.data(),
                  .cell_slots = pattern_.cell_slots,
                  .values = device_cast(values_.data()),
                  .sums = device_cast(sums_.data())};
    strips_ = {.rows = pattern_.rows,
               .row_strips = pattern_.row_strips.data(),
               .places = pattern_.places.data(),
               .sums = arguments_.sums,
               .long_rows = pattern_.long_rows.data(),
               .hub_rows = pattern_.hub_rows,
               .warp_rows = pattern_.warp_rows,
               .group_rows = pattern_.group_rows,
               .parts = pattern_.part_hubs.size(),
               .hub_parts = pattern_.hub_parts.data(),
               .part_hubs = pattern_.part_hubs.data(),
               .part_sums = device_cast(part_sums_.data()),
               .arrived = arrived_.data()};
    fill_zero(ctx, arrived_.view());
    shared_bytes_ = static_cast<std::size_t>(std::min(pattern_.used, part_columns<D>)) * sizeof(D);
    allow_shared(blocked_kernel<D>, tuning::block_bytes);
  }

  void run(V alpha, const V* x_values, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const D* x = device_cast(x_values);
    constexpr std::int64_t per_block = tuning::batch * threads_per_block;
    if (!x_.empty()) {
      D* const ranked = device_cast(x_.data());
      launch_kernel(ctx_, {div_up(x_.size(), per_block), threads_per_block}, gather_kernel<D>, x,
                    pattern_.columns.data(), x_.size(), ranked);
      x = ranked;
    }
    multiply(x);
    launch_kernel(ctx_, {strips_.blocks(), threads_per_block}, add_strips_kernel<D>, strips_, to_device_value(alpha),
                  to_device_value(beta), device_cast(y));
  }
  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override {
    D* const to = device_cast(values_.data());
    const D* const from = device_cast(values);
    const std::uint32_t* const sources = pattern_.sources.data();
    for_each(ctx_, pattern_.slots,
             [=] __device__(std::int64_t s) { to[s] = sources[s] == no_entry ? D{} : from[sources[s]]; });
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(pattern_.columns, pattern_.group_chunks, pattern_.chunk_starts, pattern_.strip_sizes,
                    pattern_.places, pattern_.row_strips, pattern_.sources, pattern_.cell_columns, pattern_.other_ranks,
                    pattern_.long_rows, pattern_.hub_parts, pattern_.part_hubs, values_, x_, sums_, part_sums_,
                    arrived_, shares_);
  }

 private:
  void multiply(const D* x) const {
    const bool apart = sizeof(D) > 4 && pattern_.popular == 0;
    blocked_arguments<D> a = arguments_;
    if (apart) a.chunks = a.cell_chunks;
    if (a.chunks > 0) launch_kernel(ctx_, {blocks_, product_threads<D>, shared_bytes_}, blocked_kernel<D>, a, x);
    if (apart && a.chunks < arguments_.chunks) {
      launch_kernel(ctx_, {blocks_ * tuning::gather_blocks, tuning::gather_threads}, others_kernel<D>, arguments_, x);
    }
  }

  context<device> ctx_;
  blocked_pattern pattern_;
  array<V, device> values_;        // by slot
  mutable array<V, device> x_;     // written by each run, by rank, if ranks differ from columns
  mutable array<V, device> sums_;  // written by each run, by place
  mutable array<V, device> part_sums_;
  mutable array<unsigned, device> arrived_;
  array<std::uint32_t, device> shares_;
  std::int64_t blocks_ = 0;
  std::size_t shared_bytes_ = 0;
  blocked_arguments<D> arguments_{};
  strip_arguments<D> strips_{};
};

}  // namespace

template <class V, class I, class O>
copy_attempt<V> block_columns(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                              copy_demand demand) {
  using D = device_value_t<V>;
  const device_guard guard(ctx);
  blocking_profile profile{.rows = matrix.rows,
                           .cols = matrix.cols,
                           .nnz = matrix.nnz(),
                           .value_bytes = static_cast<std::int64_t>(sizeof(V)),
                           .sectors = 1000,
                           .gathered = 0,
                           .strips = 0,
                           .ranked = 0};
  auto refused = reason_against_device(ctx.properties(), tuning::block_bytes);
  if (refused.empty()) refused = reason_against_blocking(profile, demand);  // before anything is measured
  if (!refused.empty()) return {nullptr, std::move(refused)};
  profile.sectors = sectors_per_1000(ctx, matrix.indices.data(), profile.nnz, profile.value_bytes);
  refused = reason_against_blocking(profile, demand);  // before columns are counted
  if (!refused.empty()) return {nullptr, std::move(refused)};
  const blocked_shape shape{part_columns<D>, tuning::most_blocks};
  auto order = order_columns<I>(ctx, matrix.indices, matrix.cols, shape);
  const auto cut = cut_rows<O>(ctx, matrix.offsets, order, shape);
  profile.gathered = cut.gathered;
  profile.strips = cut.strips;
  profile.ranked = order.columns.size();
  refused = reason_against_blocking(profile, demand);
  if (!refused.empty()) return {nullptr, std::move(refused)};
  auto pattern = arrange_entries(ctx, std::move(order), cut, shape, blocked_row_tuning::limits);
  const auto percent = 100 * (profile.nnz - profile.gathered) / profile.nnz;
  return {std::make_unique<device_blocked<V>>(ctx, std::move(pattern), matrix.values.data()),
          "x from shared memory for " + std::to_string(percent) + " percent of the entries, in " +
              std::to_string(profile.strips) + " strips"};
}

#define INSTANTIATE(V, I, O) \
  template copy_attempt<V> block_columns(const context<device>&, const csr_view<const V, I, O, device>&, copy_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv

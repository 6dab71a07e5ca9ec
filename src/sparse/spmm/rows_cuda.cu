// Device SpMM with a group of lanes per row: for rows of similar length.
//
// Consecutive groups process consecutive rows, so that a warp reads neighbouring rows of X if the matrix is banded, and
// writes contiguous rows of Y. Several groups (slots) share a long row, taking batches of entries round-robin and
// adding their sums by shuffles. No shared memory: L1 caches X, whose rows are shared by neighbouring rows of A. One
// writer per element, fixed order: deterministic. No workspace.
// Source: Yang, Buluc, Owens, "Design principles for sparse matrix multiplication on the GPU", Euro-Par 2018.
#include "core/instantiate.hpp"
#include "sparse/spmm/device.cuh"

namespace spargo::detail::spmm {

namespace {

struct tuning {
  // Least entries per lane of a row's slots.
  static constexpr std::int64_t entries_per_lane = 32;
  // If neighbouring rows use distant rows of X, up to 8 lanes read a row's entries together, at least 4 per slot:
  // uniform 8.4M x 16, k = 4: 2.72 ms, one slot 2.92; banded 0.68, 0.38.
  static constexpr int scattered_width_log2 = 3;
  static constexpr std::int64_t scattered_entries_per_slot = 4;
  // Sampled pairs of neighbouring rows, and the distance of their first columns that counts as far.
  static constexpr int sampled_pairs = 1024;
  static constexpr std::int64_t far = 1024;
  // Up to this mean length a group processes several rows, which saves block starts (k = 8, with one row per group:
  // 5-point 0.62, 0.66 ms; 27-point 0.45, 0.43).
  static constexpr std::int64_t rounds_mean = 20;
  static constexpr int rounds = 4;
  // From this many segments per row on, a lane takes two (5-point, k = 8: 0.53 ms, one 0.61; 27-point, fp64, k = 16:
  // 1.33, 1.21, k = 32: 1.86, 2.22). Four are slower in all cases of sparse_tuning.txt.
  static constexpr std::int64_t short_mean = 8;
  static constexpr std::int64_t two_segments_from_short = 2;
  static constexpr std::int64_t two_segments_from = 16;
};

struct neighbour_counts {
  unsigned long long pairs;  // pairs of rows that both have entries
  unsigned long long far;    // those whose first entries are far apart
};

// Integers only, so atomics are deterministic.
template <class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    count_neighbours_kernel(const O* offsets, const I* indices, std::int64_t rows, neighbour_counts* counts) {
  const int sample = static_cast<int>(blockIdx.x) * threads_per_block + static_cast<int>(threadIdx.x);
  const std::int64_t row =
      (rows - 1) / tuning::sampled_pairs * sample + (rows - 1) % tuning::sampled_pairs * sample / tuning::sampled_pairs;
  if (sample >= tuning::sampled_pairs || row + 1 >= rows) return;
  const O first = offsets[row];
  const O next = offsets[row + 1];
  if (first == next || next == offsets[row + 2]) return;
  const std::int64_t apart = static_cast<std::int64_t>(indices[next]) - static_cast<std::int64_t>(indices[first]);
  atomicAdd(&counts->pairs, 1ULL);
  if (apart > tuning::far || apart < -tuning::far) atomicAdd(&counts->far, 1ULL);
}

// Whether most sampled neighbouring rows start far apart in X. Synchronises the stream.
template <class V, class I, class O>
bool is_scattered(const context<device>& ctx, const csr_view<const V, I, O, device>& a) {
  const device_guard guard(ctx);
  array<neighbour_counts, device> counts(ctx, 1);
  fill_zero(ctx, counts.view());
  launch_kernel(ctx, {div_up(tuning::sampled_pairs, threads_per_block), threads_per_block},
                count_neighbours_kernel<I, O>, a.offsets.data(), a.indices.data(), a.rows, counts.data());
  const auto counted = to_host(ctx, std::as_const(counts).view());
  return 2 * counted[0].far > counted[0].pairs;
}

// Each group processes `rounds` rows, as far apart as the block has groups.
template <int L, int N, class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block, blocks_per_sm)
    row_groups_kernel(kernel_arguments<D, I, O> a, int slots_log2, int rounds) {
  const auto share = lane_share<N>::template of<L>(a);
  const int width_log2 = a.lanes_log2 + slots_log2;
  const int slot = (static_cast<int>(threadIdx.x) >> a.lanes_log2) & ((1 << slots_log2) - 1);
  const int groups = threads_per_block >> width_log2;
  std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * groups * rounds + (threadIdx.x >> width_log2);
  for (int round = 0; round < rounds; ++round, row += groups) {
    const bool inside = row < a.rows;
    const O begin = inside ? __ldg(a.offsets + row) : O{0};
    const O count = inside ? __ldg(a.offsets + row + 1) - begin : O{0};
    lane_sums<D, L, N> sums;
    if (slots_log2 == 0) {
      add_entries(a.indices + begin, a.values + begin, count, share, a.x_stride, sums);
    } else {
      add_slot(a.indices + begin, a.values + begin, count, slot, 1 << slots_log2, share, a.x_stride, sums);
      __syncwarp();
      add_groups(sums, 1 << a.lanes_log2, 1 << width_log2);
    }
    if (!inside || slot != 0) continue;  // all lanes of a warp take part in every round's shuffles
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if (share.owns(n, a.lanes_log2)) {
        update_segment(a.y + row * a.y_stride + share.segments[n] * L, a.alpha, sums.of[n], a.beta);
      }
    }
  }
}

template <class V, class I, class O>
class device_rows final : public executor<V, device> {
  using D = device_value_t<V>;

 public:
  device_rows(const context<device>& ctx, const csr_view<const V, I, O, device>& a)
      : ctx_(ctx), a_(a), scattered_(is_scattered(ctx, a)) {}

  void run(V alpha, const dense_view<const V, device>& x, V beta, const dense_view<V, device>& y) const override {
    const device_guard guard(ctx_);
    const kernel_arguments<D, I, O> arguments = arguments_of(a_, alpha, x, beta, y);
    const int values = segment_values<D>(x.data.data(), x.stride, y.data.data(), y.stride, x.cols);
    const std::int64_t mean = a_.nnz() / a_.rows;
    const int rounds = mean <= tuning::rounds_mean && !scattered_ ? tuning::rounds : 1;
    const std::int64_t two_from =
        mean <= tuning::short_mean ? tuning::two_segments_from_short : tuning::two_segments_from;
    for_each_panel(arguments, x.cols, values, two_from, [&](auto shape, const auto& panel, std::int64_t) {
      const int slots = slots_log2(panel.lanes_log2);
      const std::int64_t per_block = rounds * (threads_per_block >> (panel.lanes_log2 + slots));
      launch_kernel(ctx_, {div_up<std::int64_t>(a_.rows, per_block), threads_per_block},
                    row_groups_kernel<shape.values, shape.segments, D, I, O>, panel, slots, rounds);
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return 0; }

 private:
  [[nodiscard]] int slots_log2(int lanes_log2) const {
    const std::int64_t mean = a_.nnz() / a_.rows;
    int slots = 0;
    while (lanes_log2 + slots < 5 && (tuning::entries_per_lane << (lanes_log2 + slots + 1)) <= mean) ++slots;
    while (scattered_ && lanes_log2 + slots < tuning::scattered_width_log2 && slots < 2 &&
           (tuning::scattered_entries_per_slot << (slots + 1)) <= mean) {
      ++slots;
    }
    return slots;
  }

  context<device> ctx_;
  csr_view<const V, I, O, device> a_;
  bool scattered_;
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V, device> make_rows(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_rows<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V, I, O) \
  template executor_ptr<V, device> make_rows(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmm

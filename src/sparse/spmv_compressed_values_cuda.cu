// The values of a compressed matrix, from those of the CSR matrix in its order: for a new plan, and for new values.
#include "sparse/spmv_compressed_build.cuh"

namespace spargo::detail {

namespace {

// The sum of `v` over the lanes before this one.
__device__ std::int64_t lanes_before(int v, int lane) {
  int sum = v;
  for (int step = 1; step < warp_size; step *= 2) {
    const int other = __shfl_up_sync(full_mask, sum, step);
    if (lane >= step) sum += other;
  }
  return sum - v;
}

template <class Word>
__global__ void __launch_bounds__(compressed_threads)
    arrange_kernel(const compressed_slice* slices, const std::int64_t* first_entry, const std::uint16_t* lengths,
                   std::int64_t count, std::int64_t rows, const Word* values, Word* arranged) {
  const slice_place here;
  if (here.slice >= count) return;  // warps leave as a whole
  const int length = here.row < rows ? lengths[here.row] : 0;
  const Word* const from = values + first_entry[here.slice] + lanes_before(length, here.lane);
  Word* const to = arranged + std::int64_t{slices[here.slice].start} * slice_rows;
  for (int k = 0; k < length; ++k) to[value_place(k, here.lane)] = from[k];
}

}  // namespace

template <class Word>
void arrange_values(const context<device>& ctx, const compressed_pattern& pattern, const Word* values, Word* arranged) {
  const device_guard guard(ctx);
  arrange_kernel<<<compressed_grid(pattern.slices.size()), compressed_threads, 0, ctx.stream()>>>(
      pattern.slices.data(), pattern.first_entry.data(), pattern.lengths.data(), pattern.slices.size(), pattern.rows,
      values, arranged);
  SPARGO_CUDA_TRY(cudaGetLastError());
}

template void arrange_values(const context<device>&, const compressed_pattern&, const std::uint32_t*, std::uint32_t*);
template void arrange_values(const context<device>&, const compressed_pattern&, const std::uint64_t*, std::uint64_t*);
template void arrange_values(const context<device>&, const compressed_pattern&, const ulonglong2*, ulonglong2*);

}  // namespace spargo::detail

// PageRank's steps on devices: sums of device_rows.cuh over contributions, interior rows while the ghosts' travel; then
// one pass over the vertices, whose sums the host reads.
#include "core/instantiate.hpp"
#include "dist/device_rows.cuh"
#include "dist/pagerank_executor.hpp"
#include "graph/pagerank/device.cuh"
#include "primitives/element.hpp"

#include <optional>

namespace spargo::detail::dist {

namespace {

using pagerank::block_outcome;
using pagerank::step_outcome;

struct damped_into {
  double constant;
  double damping;
  double* ranks;
  __device__ void operator()(std::int64_t row, double sum) const { ranks[row] = constant + damping * sum; }
};

// `next` become the ranks. `sums`: of each block, in a fixed order.
__global__ void __launch_bounds__(block_threads)
    close_kernel(std::int64_t rows, const std::int64_t* out_offsets, const double* next, double* ranks,
                 double* contributions, pagerank_norm norm, step_outcome* sums) {
  step_outcome mine;
  for (std::int64_t v = global_thread(); v < rows; v += grid_threads()) {
    const double rank = next[v];
    const auto degree = static_cast<double>(out_offsets[v + 1] - out_offsets[v]);
    mine.add({fabs(rank - ranks[v]), degree == 0 ? rank : 0}, norm);
    ranks[v] = rank;
    contributions[v] = degree == 0 ? 0 : rank / degree;
  }
  mine = block_outcome(mine, norm);
  if (threadIdx.x == 0) sums[blockIdx.x] = mine;
}

__global__ void __launch_bounds__(block_threads)
    add_kernel(const step_outcome* sums, std::int64_t size, pagerank_norm norm, step_outcome* total) {
  step_outcome mine;
  for (std::int64_t k = threadIdx.x; k < size; k += block_threads) mine.add(sums[k], norm);
  mine = block_outcome(mine, norm);
  if (threadIdx.x == 0) *total = mine;
}

class device_pagerank final : public pagerank_executor<device> {
 public:
  // What it is made of, without the type of a vertex' number.
  struct rows_of_graph {
    span<const std::int64_t, host> in_offsets;
    span<const std::int64_t, host> out_offsets;
    const partition& parts;
  };

  device_pagerank(const communicator& comm, const context<device>& ctx, const rows_of_graph& g,
                  const local_columns& columns, const pagerank_options& options, const exchange_options& links)
      : ctx_(ctx), options_(options), rows_(g.parts.count(comm.rank())), ghosts_(std::ssize(columns.ghosts)) {
    comm.agree_on([&] {
      in_offsets_ = to_device(ctx, g.in_offsets);
      out_offsets_ = to_device(ctx, g.out_offsets);
      indices_ = to_device(ctx, columns.indices);
      split_ = split_rows(ctx, g.in_offsets, columns);
      ranks_ = {ctx, rows_};
      next_ = {ctx, rows_};
      contributions_ = {ctx, columns.size()};
      blocks_ = blocks_for(ctx, rows_, block_threads);
      sums_ = {ctx, std::int64_t{blocks_} + 1};
    });
    halo_.emplace(comm, ctx, g.parts, columns.ghosts, sizeof(double), links);
  }

  step_sums start(double rank) override {
    for_each(ctx_, rows_, [rank, next = next_.data(), ranks = ranks_.data()] __device__(std::int64_t v) {
      next[v] = ranks[v] = rank;
    });
    return close();
  }
  step_sums step(double constant) override {
    const damped_into finish{constant, options_.damping, next_.data()};
    const auto sum = [&](const row_work& rows) {
      sum_rows(ctx_, rows, in_offsets_.data(), indices_.data(), weights_of_one<double>{}, contributions_.data(),
               finish);
    };
    halo_->start(span<const double, device>(contributions_.view().subspan(0, rows_)));
    sum(split_.interior());
    halo_->finish(contributions_.view().subspan(rows_, ghosts_));
    sum(split_.boundary());
    return close();
  }
  [[nodiscard]] span<const double, device> ranks() const noexcept override { return ranks_.view(); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  // Synchronises.
  step_sums close() {
    if (rows_ == 0) return {};
    const device_guard guard(ctx_);
    close_kernel<<<blocks_, block_threads, 0, ctx_.stream()>>>(rows_, out_offsets_.data(), next_.data(), ranks_.data(),
                                                               contributions_.data(), options_.norm, sums_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    add_kernel<<<1, block_threads, 0, ctx_.stream()>>>(sums_.data(), blocks_, options_.norm, sums_.data() + blocks_);
    SPARGO_CUDA_TRY(cudaGetLastError());
    const auto total = element<step_outcome>(ctx_, sums_.view(), blocks_);
    return {total.change, total.dangling};
  }

  context<device> ctx_;
  pagerank_options options_;
  std::int64_t rows_;
  std::int64_t ghosts_;
  array<std::int64_t, device> in_offsets_;
  array<std::int64_t, device> out_offsets_;
  array<std::int32_t, device> indices_;
  split_rows split_;
  array<double, device> ranks_;
  array<double, device> next_;
  array<double, device> contributions_;  // with the ghosts'
  unsigned blocks_ = 0;
  array<step_outcome, device> sums_;
  std::optional<exchange<device>> halo_;
};

}  // namespace

template <class I>
std::unique_ptr<pagerank_executor<device>> make_pagerank_executor(const communicator& comm, const context<device>& ctx,
                                                                  const distributed_graph<I>& g, local_columns columns,
                                                                  const pagerank_options& options,
                                                                  const exchange_options& links) {
  const device_pagerank::rows_of_graph rows{g.in().offsets, g.out().offsets, g.parts()};
  return std::make_unique<device_pagerank>(comm, ctx, rows, columns, options, links);
}

#define INSTANTIATE(I)                                                                         \
  template std::unique_ptr<pagerank_executor<device>> make_pagerank_executor(                  \
      const communicator&, const context<device>&, const distributed_graph<I>&, local_columns, \
      const pagerank_options&, const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::dist

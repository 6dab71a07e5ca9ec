// Components' steps on devices: local trees by the single-device algorithm, then labels.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "distributed/components/executor.hpp"
#include "distributed/products/executor.hpp"
#include "primitives/element.hpp"

#include <optional>

namespace spargo::detail::distributed {

namespace {

__device__ void lower(std::int32_t* to, std::int32_t value) { atomicMin(to, value); }
__device__ void lower(std::int64_t* to, std::int64_t value) {
  atomicMin(reinterpret_cast<long long*>(to), static_cast<long long>(value));
}

// A ghost may be several steps below its root.
__device__ std::int32_t root_of(const std::int32_t* above, std::int64_t v) {
  std::int32_t r = above[v];
  while (above[r] != r) r = above[r];
  return r;
}

template <class I>
void take_trees(const context<device>& ctx, span<const std::int32_t, device> roots, std::int64_t first,
                span<I, device> labels) {
  for_each(ctx, labels.size(), [above = roots.data(), first, labels] __device__(std::int64_t v) {
    labels.data()[v] = static_cast<I>(first + above[v]);
  });
}

template <class I>
__global__ void __launch_bounds__(block_threads)
    summary_kernel(std::int64_t size, std::int64_t own, std::int64_t first, std::int64_t skipped,
                   const std::int32_t* above, const I* labels, components_summary* summary) {
  int roots = 0;
  int larger = 0;
  for (std::int64_t v = global_thread(); v < size; v += grid_threads()) {
    const I label = labels[v];
    if (v == skipped) summary->skipped = label;
    if (v < own) {
      roots += label == first + v ? 1 : 0;
    } else {
      larger += label > labels[root_of(above, v)] ? 1 : 0;
    }
  }
  roots = warp_sum(roots);
  larger = warp_sum(larger);
  if (lane_id() != 0) return;
  if (roots > 0) atomicAdd(reinterpret_cast<count64*>(&summary->count), static_cast<count64>(roots));
  if (larger > 0) atomicAdd(reinterpret_cast<count64*>(&summary->larger), static_cast<count64>(larger));
}

template <class I>
class device_components final : public components_executor<I, device> {
 public:
  device_components(const communicator& comm, const context<device>& ctx, const distributed_graph<I>& g,
                    local_columns&& columns, const exchange_options& links)
      : ctx_(ctx), first_(g.parts().first(comm.rank())), own_(columns.own), size_(columns.size()) {
    comm.agree_on([&] {
      const std::vector<std::int64_t> offsets = offsets_with_ghosts(g.out(), columns);
      put_own_first(host_of(comm, ctx).threads(), offsets, columns);
      offsets_ = to_device(ctx, offsets);
      indices_ = to_device(ctx, columns.indices);
      labels_ = {ctx, size_};
      changed_ = {ctx, 1};
      summary_ = {ctx, 1};
      trees_ = make_trees<device>(ctx, std::as_const(offsets_).view(), std::as_const(indices_).view());
    });
    halo_.emplace(comm, ctx, g.parts(), columns.ghosts, sizeof(I), links);
  }

  void start() override {
    trees_->run();
    take_trees(ctx_, trees_->labels(), first_, labels_.view().subspan(0, own_));
  }
  void start_with_all() override {
    trees_->join_skipped();
    take_trees(ctx_, trees_->labels(), first_, labels_.view().subspan(0, own_));
  }
  // Synchronises.
  bool spread() override {
    halo_->start(labels());
    halo_->finish(labels_.view().subspan(own_, size_ - own_));
    if (own_ == size_) return false;
    const std::int32_t* const above = trees_->labels().data();
    fill_zero(ctx_, changed_.view());
    for_each(ctx_, size_ - own_,
             [above, own = own_, labels = labels_.data(), changed = changed_.data()] __device__(std::int64_t ghost) {
               const I label = labels[own + ghost];
               I* const least = labels + root_of(above, own + ghost);
               if (label >= __ldcg(least)) return;
               lower(least, label);
               *changed = 1;
             });
    for_each(ctx_, own_, [above, labels = labels_.data(), changed = changed_.data()] __device__(std::int64_t v) {
      if (*changed == 0) return;
      const std::int32_t r = above[v];
      if (r != v) labels[v] = labels[r];
    });
    return element<count64>(ctx_, std::as_const(changed_).view(), 0) != 0;
  }
  // Synchronises.
  [[nodiscard]] components_summary summary() override {
    const bool cuts = own_ < size_;
    const std::int64_t skipped = cuts ? trees_->skipped() : -1;
    components_summary found{0, -1, 0};
    copy_to_device(ctx_, &found, summary_.data(), sizeof found);
    if (size_ > 0) {
      const device_guard guard(ctx_);
      launch_kernel(ctx_, grid_stride(ctx_, size_), summary_kernel<I>, size_, own_, first_, skipped,
                    trees_->labels().data(), labels_.data(), summary_.data());
    }
    copy<components_summary>(ctx_, std::as_const(summary_).view(), span<components_summary, host>(&found, 1));
    ctx_.synchronize();
    return found;
  }
  [[nodiscard]] span<const I, device> labels() const noexcept override { return labels_.view().subspan(0, own_); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  context<device> ctx_;
  std::int64_t first_;
  std::int64_t own_;
  std::int64_t size_;  // including ghosts
  array<std::int64_t, device> offsets_;
  array<std::int32_t, device> indices_;
  array<I, device> labels_;
  array<count64, device> changed_;
  array<components_summary, device> summary_;
  std::unique_ptr<components::executor<std::int32_t, device>> trees_;
  std::optional<exchange<device>> halo_;
};

}  // namespace

template <class I>
std::unique_ptr<components_executor<I, device>> make_components_executor(const communicator& comm,
                                                                         const context<device>& ctx,
                                                                         const distributed_graph<I>& g,
                                                                         local_columns columns,
                                                                         const exchange_options& links) {
  return std::make_unique<device_components<I>>(comm, ctx, g, std::move(columns), links);
}

#define INSTANTIATE(I)                                                                         \
  template std::unique_ptr<components_executor<I, device>> make_components_executor(           \
      const communicator&, const context<device>&, const distributed_graph<I>&, local_columns, \
      const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed

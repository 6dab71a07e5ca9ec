// Components' steps on devices: the components of a rank's own edges by the plan for one device, once a run; then
// labels.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "dist/components_executor.hpp"
#include "primitives/element.hpp"

#include <spargo/graph/components.hpp>

#include <optional>

namespace spargo::detail::dist {

namespace {

__device__ void lower(std::int32_t* to, std::int32_t value) { atomicMin(to, value); }
__device__ void lower(std::int64_t* to, std::int64_t value) {
  atomicMin(reinterpret_cast<long long*>(to), static_cast<long long>(value));
}

template <class I>
class device_components final : public components_executor<I, device> {
 public:
  device_components(const communicator& comm, const context<device>& ctx, const distributed_graph<I>& g,
                    const local_columns& columns, const exchange_options& links)
      : ctx_(ctx), first_(g.parts().first(comm.rank())), own_(columns.own), size_(columns.size()) {
    comm.agree_on([&] {
      const auto out = g.out();
      std::vector<std::int64_t> offsets(out.offsets.begin(), out.offsets.end());
      offsets.resize(static_cast<std::size_t>(size_) + 1, out.nnz());  // ghosts have no rows
      offsets_ = to_device(ctx, offsets);
      indices_ = to_device(ctx, columns.indices);
      ghost_ids_ = to_device(ctx, columns.ghosts);
      labels_ = {ctx, size_};
      counter_ = {ctx, 1};
      const auto n = static_cast<std::int32_t>(size_);
      const graph_view<std::int32_t, std::int64_t, device> here{
          {n, n, std::as_const(offsets_).view(), std::as_const(indices_).view()}, {}, direction_kind::directed};
      if (size_ > 0) trees_.emplace(ctx, here);
    });
    halo_.emplace(comm, ctx, g.parts(), columns.ghosts, sizeof(I), links);
  }

  void start() override {
    if (trees_) trees_->run();
    for_each(ctx_, size_,
             [own = own_, first = first_, ghosts = ghost_ids_.data(), labels = labels_.data()] __device__(
                 std::int64_t v) { labels[v] = static_cast<I>(v < own ? first + v : ghosts[v - own]); });
  }
  // Synchronises.
  bool spread() override {
    bool changes = false;
    if (trees_) {
      const std::int32_t* const root = trees_->labels().data();
      fill_zero(ctx_, counter_.view());
      for_each(ctx_, size_, [root, labels = labels_.data()] __device__(std::int64_t v) {
        const std::int32_t r = root[v];
        if (r != v && labels[v] < __ldcg(labels + r)) lower(labels + r, labels[v]);
      });
      for_each(ctx_, size_, [root, labels = labels_.data(), changed = counter_.data()] __device__(std::int64_t v) {
        const I least = labels[root[v]];
        if (labels[v] == least) return;
        labels[v] = least;
        *changed = 1;
      });
      changes = element<count64>(ctx_, std::as_const(counter_).view(), 0) != 0;
    }
    halo_->start(labels());
    halo_->finish(labels_.view().subspan(own_, size_ - own_));
    return changes;
  }
  [[nodiscard]] std::int64_t count() override {
    fill_zero(ctx_, counter_.view());
    for_each(ctx_, own_, [first = first_, labels = labels_.data(), count = counter_.data()] __device__(std::int64_t v) {
      if (labels[v] == first + v) atomicAdd(count, count64{1});
    });
    return static_cast<std::int64_t>(element<count64>(ctx_, std::as_const(counter_).view(), 0));
  }
  [[nodiscard]] span<const I, device> labels() const noexcept override { return labels_.view().subspan(0, own_); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  context<device> ctx_;
  std::int64_t first_;
  std::int64_t own_;
  std::int64_t size_;  // with ghosts
  array<std::int64_t, device> offsets_;
  array<std::int32_t, device> indices_;
  array<std::int64_t, device> ghost_ids_;
  array<I, device> labels_;
  array<count64, device> counter_;
  std::optional<components_plan<std::int32_t, std::int64_t, device>> trees_;
  std::optional<exchange<device>> halo_;
};

}  // namespace

template <class I>
std::unique_ptr<components_executor<I, device>> make_components_executor(const communicator& comm,
                                                                         const context<device>& ctx,
                                                                         const distributed_graph<I>& g,
                                                                         local_columns columns,
                                                                         const exchange_options& links) {
  return std::make_unique<device_components<I>>(comm, ctx, g, columns, links);
}

#define INSTANTIATE(I)                                                                         \
  template std::unique_ptr<components_executor<I, device>> make_components_executor(           \
      const communicator&, const context<device>&, const distributed_graph<I>&, local_columns, \
      const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::dist

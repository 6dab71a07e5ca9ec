// All-to-all exchange of partial sums over a device channel; with peer stores the kernel that reduces writes into the
// other ranks' inboxes. Cost: a message to each rank, and what a channel's round takes.
#include "distributed/products/device_sums.hpp"

#include <spargo/core/array.hpp>

namespace spargo::detail::distributed {

namespace {

class channel_sums final : public krylov::device_sums {
 public:
  channel_sums(const communicator& comm, const context<device>& ctx, device_link link, std::int64_t most)
      : ctx_(ctx), comm_(comm), choice_(choose_link(comm, ctx, link)), stride_(div_up(most, line) * line) {
    std::vector<device_message> others;
    for (int r = 0; r < comm.size(); ++r) {
      if (r != comm.rank()) others.push_back({r, bytes()});
    }
    channel_ = connect_devices(comm, ctx, choice_, others, others);
    comm.agree_on([&] {
      own_ = {ctx, stride_};
      for (int set = 0; set < device_channel::sets; ++set) {
        std::vector<double*> boxes{own_.data()};
        for (std::size_t m = 0; m < others.size(); ++m) {
          boxes.push_back(reinterpret_cast<double*>(channel_->outbox(m, set)));
        }
        boxes_[set] = to_device(ctx, boxes);
      }
    });
  }

  krylov::rank_boxes begin() override {
    channel_->begin(ctx_.stream());
    return {boxes_[channel_->set()].data(), comm_.size()};
  }
  krylov::rank_numbers end() override {
    channel_->start();
    channel_->finish(ctx_.stream());
    if (choice_.link != device_link::host_memory) comm_.add_traffic({(comm_.size() - 1) * bytes(), 0});
    return {own_.data(), reinterpret_cast<const double*>(channel_->inbox(0, channel_->set())), stride_, comm_.rank(),
            comm_.size()};
  }

 private:
  static constexpr std::int64_t line = 16;  // numbers; no two ranks write to one line of the L2 cache

  [[nodiscard]] std::int64_t bytes() const { return stride_ * static_cast<std::int64_t>(sizeof(double)); }

  context<device> ctx_;
  communicator comm_;
  link_choice choice_;
  std::int64_t stride_;
  array<double, device> own_;
  array<double*, device> boxes_[device_channel::sets];
  std::unique_ptr<device_channel> channel_;  // destroyed first: nothing is in flight afterwards
};

}  // namespace

std::unique_ptr<krylov::device_sums> connect_sums(const communicator& comm, const context<device>& ctx,
                                                  device_link link, std::int64_t most) {
  return std::make_unique<channel_sums>(comm, ctx, link, most);
}

}  // namespace spargo::detail::distributed

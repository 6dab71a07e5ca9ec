// Exchange between devices: one kernel packs for all receivers, directly into peer memory where possible.
#include "core/device/launch.cuh"
#include "distributed/exchange/device_channel.hpp"
#include "distributed/exchange/device_events.cuh"
#include "distributed/exchange/exchange_pattern.hpp"

#include <limits>

namespace spargo {

namespace {

using namespace detail;

// The sent elements from `first` to the next box's `first` go to `to`.
struct box {
  char* to;
  std::int64_t first;
};

// `per`: words of type T per element.
template <class T>
__global__ void __launch_bounds__(block_threads)
    pack_kernel(const T* own, const std::int32_t* wanted, std::int64_t size, std::int64_t per, const box* boxes,
                int count) {
  for (std::int64_t k = global_thread(); k < size * per; k += grid_threads()) {
    const std::int64_t element = k / per;
    const std::int64_t word = k % per;
    int b = 0;
    while (b + 1 < count && boxes[b + 1].first <= element) ++b;
    reinterpret_cast<T*>(boxes[b].to)[(element - boxes[b].first) * per + word] =
        own[static_cast<std::int64_t>(wanted[element]) * per + word];
  }
}

}  // namespace

struct exchange<device>::state {
  communicator comm;
  context<device> ctx;
  std::int64_t element = 1;
  std::int64_t ghosts = 0;
  detail::distributed::link_choice choice;
  array<std::int32_t, device> wanted;
  array<box, device> boxes[detail::distributed::device_channel::sets];
  int box_count = 0;
  std::unique_ptr<detail::distributed::device_channel> channel;
  detail::distributed::event done_aside;
  detail::distributed::side_stream side;  // destroyed first: waits for packing and reading

  state(const communicator& c, const context<device>& on) : comm(c), ctx(on), done_aside(on), side(on) {}

  [[nodiscard]] bool is_idle() const { return box_count == 0 && ghosts == 0; }

  template <class T>
  void pack(const void* own) const {
    const std::int64_t per = element / static_cast<std::int64_t>(sizeof(T));
    launch_kernel({ctx, side.get()}, grid_stride(ctx, wanted.size() * per), pack_kernel<T>, static_cast<const T*>(own),
                  wanted.data(), wanted.size(), per, boxes[channel->set()].data(), box_count);
  }

  // Work enqueued on `reading` afterwards sees the ghosts.
  void finish(void* to, std::int64_t count, std::size_t value, stream_handle reading) const {
    SPARGO_EXPECTS(count * static_cast<std::int64_t>(value) == ghosts * element,
                   "exchange: room for " + std::to_string(count) + " values of " + std::to_string(value) + " bytes");
    if (is_idle()) return;
    channel->finish(reading);
    if (count == 0) return;
    const device_guard guard(ctx);
    SPARGO_CUDA_TRY(cudaMemcpyAsync(to, channel->inbox(0, channel->set()), static_cast<std::size_t>(count) * value,
                                    cudaMemcpyDeviceToDevice, reading));
  }
};

exchange<device>::exchange(const communicator& comm, const context<device>& ctx, const partition& owners,
                           span<const std::int64_t, host> ghosts, std::size_t element_bytes,
                           const exchange_options& options) {
  SPARGO_EXPECTS(owners.parts() == comm.size(), "exchange: expected a partition with one part for each rank");
  const context<host> cpu({.threads = 1});
  state_ = comm.agree_on([&] {
    if (owners.count(comm.rank()) > std::numeric_limits<std::int32_t>::max()) {
      throw error(error_code::unsupported,
                  "exchange: a rank owns " + std::to_string(owners.count(comm.rank())) + " elements (2^31 or more)");
    }
    return new_state<state>(comm, ctx);
  });
  state& s = *state_;
  s.element = static_cast<std::int64_t>(element_bytes);
  s.ghosts = ghosts.size();
  s.choice = distributed::choose_link(comm, ctx, options.link);
  const distributed::exchange_pattern pattern = distributed::make_pattern(comm, cpu, owners, ghosts);
  const auto messages = [&](const std::vector<std::int64_t>& elements) {
    std::vector<distributed::device_message> made;
    for (int r = 0; r < comm.size(); ++r) {
      const std::int64_t bytes = elements[static_cast<std::size_t>(r)] * s.element;
      if (bytes > 0) made.push_back({r, bytes});
    }
    return made;
  };
  const std::vector<distributed::device_message> sends = messages(pattern.sends);
  s.channel = distributed::connect_devices(comm, ctx, s.choice, sends, messages(pattern.receives));
  comm.agree_on([&] {
    const std::vector<std::int32_t> places(pattern.wanted.begin(), pattern.wanted.end());
    s.wanted = to_device(ctx, places);
    s.box_count = static_cast<int>(sends.size());
    for (int set = 0; set < distributed::device_channel::sets; ++set) {
      std::vector<box> made;
      std::int64_t first = 0;
      for (std::size_t m = 0; m < sends.size(); ++m) {
        made.push_back({s.channel->outbox(m, set), first});
        first += sends[m].bytes / s.element;
      }
      s.boxes[set] = to_device(ctx, made);
    }
  });
}

void exchange<device>::own_are_at(span<const std::int32_t, device> places) {
  state& s = *state_;
  for_each(s.ctx, s.wanted.size(), [wanted = s.wanted.data(), place = places.data()] __device__(std::int64_t k) {
    wanted[k] = place[wanted[k]];
  });
}

void exchange<device>::start_bytes(const void* own, std::int64_t, std::size_t value) {
  state& s = *state_;
  SPARGO_EXPECTS(
      s.element % static_cast<std::int64_t>(value) == 0,
      "exchange: values of " + std::to_string(value) + " bytes (expected " + std::to_string(s.element) + ")");
  if (s.is_idle()) return;
  const device_guard guard(s.ctx);
  s.channel->begin(s.side.get());
  if (!s.wanted.empty()) {
    switch (value % 8 == 0 ? 8 : value % 4 == 0 ? 4 : 1) {
      case 8:
        s.pack<std::uint64_t>(own);
        break;
      case 4:
        s.pack<std::uint32_t>(own);
        break;
      default:
        s.pack<unsigned char>(own);
    }
  }
  s.channel->start();
  if (s.choice.link != device_link::host_memory) s.comm.add_traffic({s.wanted.size() * s.element, 0});
}

void exchange<device>::finish_bytes(void* ghosts, std::int64_t count, std::size_t value) {
  state_->finish(ghosts, count, value, state_->ctx.stream());
}

const void* exchange<device>::finish_in_place(std::int64_t& bytes) {
  const state& s = *state_;
  bytes = s.ghosts * s.element;
  if (s.is_idle()) return nullptr;
  s.channel->finish(s.ctx.stream());
  return bytes > 0 ? s.channel->inbox(0, s.channel->set()) : nullptr;
}

stream_handle exchange<device>::finish_bytes_aside(void* ghosts, std::int64_t count, std::size_t value) {
  const state& s = *state_;
  // With nothing to exchange, the side stream has not waited for the context's.
  const stream_handle reading = s.is_idle() ? s.ctx.stream() : s.side.get();
  s.finish(ghosts, count, value, reading);
  return reading;
}

void exchange<device>::join() {
  const state& s = *state_;
  if (s.is_idle()) return;
  const device_guard guard(s.ctx);
  s.done_aside.record(s.side.get());
  s.done_aside.hold(s.ctx.stream());
}

std::int64_t exchange<device>::sent() const noexcept { return state_->wanted.size(); }
device_link exchange<device>::link() const noexcept { return state_->choice.link; }
std::string_view exchange<device>::how() const noexcept { return state_->choice.how; }

}  // namespace spargo

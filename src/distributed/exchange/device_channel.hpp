// A repeated pattern of messages between the devices of ranks, used by exchanges and searches.
//
// A round: after `begin` the caller's kernels write each message to `outbox`, which may be another device's memory;
// `start` says that these kernels are enqueued; work enqueued on `finish`'s stream afterwards reads `inbox`. Nothing
// waits for work that is not enqueued: a stream waits only for events, and only after its host knows that they were
// recorded. So several ranks can share one device.
#pragma once

#include <spargo/distributed/exchange.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spargo::detail::distributed {

struct device_message {
  int rank = 0;
  std::int64_t bytes = 0;  // above 0
};

// The same on all ranks.
struct link_choice {
  device_link link = device_link::peer;
  std::string how;  // for people
};
// Collective. Throws unsupported if a rank does not support the requested link.
[[nodiscard]] link_choice choose_link(const communicator& comm, const context<device>& ctx, device_link asked);

// Lets the context's device access cudaMalloc memory on `other`, for the life of the process.
void enable_peer_access(const context<device>& ctx, int other);

class device_channel {
 public:
  // Sets of boxes; rounds alternate between them.
  static constexpr int sets = 2;

  device_channel() = default;
  device_channel(const device_channel&) = delete;
  device_channel& operator=(const device_channel&) = delete;
  virtual ~device_channel() = default;

  // `packing`: the stream of the kernels that write; it waits for what the context has enqueued. May be the context's.
  virtual void begin(stream_handle packing) = 0;
  virtual void start() = 0;
  // `reading`: the packing stream or the context's. Enqueue everything that reads the round's inboxes there before the
  // next `begin`. Also waits for the packing kernels.
  virtual void finish(stream_handle reading) = 0;
  void finish() { finish(packing_); }

  [[nodiscard]] int set() const noexcept { return set_; }  // of the current or the last round
  // The outboxes for one rank are contiguous; all inboxes are contiguous.
  [[nodiscard]] virtual char* outbox(std::size_t message, int set) const noexcept = 0;
  [[nodiscard]] virtual char* inbox(std::size_t message, int set) const noexcept = 0;

 protected:
  int set_ = sets - 1;
  stream_handle packing_ = nullptr;  // of the current or the last round
};

// Both sides list a pair's messages in the same order. Collective; if one rank is out of memory, all throw.
[[nodiscard]] std::unique_ptr<device_channel> connect_devices(const communicator& comm, const context<device>& ctx,
                                                              const link_choice& choice,
                                                              const std::vector<device_message>& sends,
                                                              const std::vector<device_message>& receives);

// --- Implementations ---

[[nodiscard]] std::unique_ptr<device_channel> connect_peers(const communicator& comm, const context<device>& ctx,
                                                            const std::vector<device_message>& sends,
                                                            const std::vector<device_message>& receives);
[[nodiscard]] std::unique_ptr<device_channel> connect_by_host(const communicator& comm, const context<device>& ctx,
                                                              const std::vector<device_message>& sends,
                                                              const std::vector<device_message>& receives);
[[nodiscard]] std::unique_ptr<device_channel> connect_by_nccl(const communicator& comm, const context<device>& ctx,
                                                              const std::vector<device_message>& sends,
                                                              const std::vector<device_message>& receives);
// Empty if NCCL can be loaded, else the reason.
[[nodiscard]] std::string reason_against_nccl();

// Offset of each message in a contiguous buffer, and the total.
[[nodiscard]] inline std::vector<std::int64_t> places_of(const std::vector<device_message>& messages) {
  std::vector<std::int64_t> places{0};
  for (const device_message& each : messages) places.push_back(places.back() + each.bytes);
  return places;
}

}  // namespace spargo::detail::distributed

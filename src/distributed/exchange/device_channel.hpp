// A pattern of messages between the devices of ranks, repeated: what exchanges and searches on devices send by.
//
// A round: after `begin` the caller's kernels write each message where `outbox` says, which may be another device's
// memory; `start` says that the kernels are enqueued, and what `finish`'s stream is given from then on reads `inbox`.
// Nobody waits for work that has not been enqueued: streams wait for events only, and only once the host of their rank
// has been told that these have been recorded. So any number of ranks may be on one device.
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
// Collective. Throws unsupported where a rank cannot do what was asked for.
[[nodiscard]] link_choice choose_link(const communicator& comm, const context<device>& ctx, device_link asked);

// For as long as the process lives, of the context's device to memory from cudaMalloc on `other`.
void enable_peer_access(const context<device>& ctx, int other);

class device_channel {
 public:
  // Boxes come in so many sets, which rounds use in turn.
  static constexpr int sets = 2;

  device_channel() = default;
  device_channel(const device_channel&) = delete;
  device_channel& operator=(const device_channel&) = delete;
  virtual ~device_channel() = default;

  // `packing`: the stream whose kernels will write; it waits for what the context has enqueued. It may be the context's
  // own.
  virtual void begin(stream_handle packing) = 0;
  virtual void start() = 0;
  // `reading`: the packing stream or the context's own. All that reads the round's inboxes is enqueued there before the
  // next `begin`. Waits for what was packed, too.
  virtual void finish(stream_handle reading) = 0;
  void finish() { finish(packing_); }

  [[nodiscard]] int set() const noexcept { return set_; }  // of the round under way, or the last one
  // One message's bytes follow those of the message before, within those of one rank; inboxes all follow each other.
  [[nodiscard]] virtual char* outbox(std::size_t message, int set) const noexcept = 0;
  [[nodiscard]] virtual char* inbox(std::size_t message, int set) const noexcept = 0;

 protected:
  int set_ = sets - 1;
  stream_handle packing_ = nullptr;  // of the round under way, or the last one
};

// Messages between two ranks are the same ones on both sides, in the same order. Collective; throws on all ranks where
// one has no memory. Borrows `comm`'s state by copy.
[[nodiscard]] std::unique_ptr<device_channel> connect_devices(const communicator& comm, const context<device>& ctx,
                                                              const link_choice& choice,
                                                              const std::vector<device_message>& sends,
                                                              const std::vector<device_message>& receives);

// --- For the ways ---

[[nodiscard]] std::unique_ptr<device_channel> connect_peers(const communicator& comm, const context<device>& ctx,
                                                            const std::vector<device_message>& sends,
                                                            const std::vector<device_message>& receives);
[[nodiscard]] std::unique_ptr<device_channel> connect_by_host(const communicator& comm, const context<device>& ctx,
                                                              const std::vector<device_message>& sends,
                                                              const std::vector<device_message>& receives);
[[nodiscard]] std::unique_ptr<device_channel> connect_by_nccl(const communicator& comm, const context<device>& ctx,
                                                              const std::vector<device_message>& sends,
                                                              const std::vector<device_message>& receives);
// Empty where NCCL can be loaded, else why not.
[[nodiscard]] std::string why_no_nccl();

// Where each message begins if they follow each other, and where the last one ends.
[[nodiscard]] inline std::vector<std::int64_t> places_of(const std::vector<device_message>& messages) {
  std::vector<std::int64_t> places{0};
  for (const device_message& each : messages) places.push_back(places.back() + each.bytes);
  return places;
}

}  // namespace spargo::detail::distributed

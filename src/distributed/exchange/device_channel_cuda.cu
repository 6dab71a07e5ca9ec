// How devices communicate: the choice of link, peer stores, and the way through the host. NCCL: nccl_cuda.cu.
//
// Peer stores. Each rank has two sets of inboxes, which rounds alternate between. A token (a host message) tells the
// neighbours that a rank's kernels of a round are enqueued. In round k a sender writes into set k % 2 of its receivers
// once they have finished reading round k - 2. The receivers record that (`consumed`, on the reading stream) when they
// begin round k - 1, before they send its token; the sender has received that token before it begins round k. An event
// is recorded again two rounds later, after the neighbours' next token but one, hence after they have waited for it.
// Mailboxes are shared by all who write to them, so a failing rank frees nothing that others store to.
#include "core/cuda.cuh"
#include "distributed/exchange/device_channel.hpp"
#include "distributed/exchange/device_events.cuh"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace spargo::detail::distributed {

namespace {

// Whether a device can address `other`'s memory, which may be its own.
bool can_access(int ordinal, int other) {
  if (ordinal == other) return true;
  int can = 0;
  SPARGO_CUDA_TRY(cudaDeviceCanAccessPeer(&can, ordinal, other));
  return can != 0;
}

// Memory written by other ranks. From cudaMalloc: pool memory belongs to its own device unless the pool says otherwise.
struct mailbox {
  int ordinal = 0;
  std::vector<device_message> messages;
  std::vector<std::int64_t> places;
  char* data[device_channel::sets] = {};
  event stored[device_channel::sets];    // recorded by this rank after its stores into others' boxes
  event consumed[device_channel::sets];  // recorded after these boxes were read

  mailbox(const context<device>& ctx, const std::vector<device_message>& receives)
      : ordinal(ctx.ordinal()), messages(receives), places(places_of(receives)) {
    const device_guard guard(ordinal);
    try {
      for (int s = 0; s < device_channel::sets; ++s) {
        stored[s] = event(ctx);
        consumed[s] = event(ctx);
        if (places.back() > 0) SPARGO_CUDA_TRY(cudaMalloc(&data[s], static_cast<std::size_t>(places.back())));
      }
    } catch (...) {
      release();
      throw;
    }
  }
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  ~mailbox() { release(); }

  void release() noexcept {
    const device_guard guard(ordinal, std::nothrow);
    for (char* each : data) {
      if (each != nullptr) cudaFree(each);
    }
  }
};

class peer_channel final : public device_channel {
 public:
  peer_channel(const communicator& comm, const context<device>& ctx, const std::vector<device_message>& sends,
               const std::vector<device_message>& receives)
      : ctx_(ctx), comm_(comm), reading_(ctx.stream()) {
    own_ = comm.agree_on([&] { return std::make_shared<mailbox>(ctx, receives); });
    std::set<int> neighbours;
    for (const device_message& each : sends) neighbours.insert(each.rank);
    for (const device_message& each : receives) neighbours.insert(each.rank);
    const auto mailboxes = comm.all_gather(&own_);
    comm.agree_on([&] {
      before_ = event(ctx);
      for (const int r : neighbours) boxes_.push_back({r, *mailboxes[static_cast<std::size_t>(r)]});
      for (const neighbour& each : boxes_) enable_peer_access(ctx, each.box->ordinal);
      std::vector<std::size_t> next(static_cast<std::size_t>(comm.size()));
      for (const device_message& each : sends) link(each, next[static_cast<std::size_t>(each.rank)]);
      for (const device_message& each : receives) senders_.insert(each.rank);
    });
    std::vector<message> tokens_out;
    std::vector<message> tokens_in;
    tokens_.resize(boxes_.size());
    for (std::size_t k = 0; k < boxes_.size(); ++k) {
      tokens_out.push_back({boxes_[k].rank, &token_, 1});
      tokens_in.push_back({boxes_[k].rank, &tokens_[k], 1});
    }
    host_ = comm.connect(std::move(tokens_out), std::move(tokens_in));
  }
  ~peer_channel() override {
    const device_guard guard(ctx_.ordinal(), std::nothrow);
    for (const event& each : own_->stored)
      cudaEventSynchronize(each.get());  // no stores into others' memory are in flight
  }

  void begin(stream_handle packing) override {
    const device_guard guard(ctx_);
    if (round_ > 0) own_->consumed[set_].record(reading_);
    set_ = 1 - set_;
    ++round_;
    packing_ = packing;
    if (packing != ctx_.stream()) {
      before_.record(ctx_.stream());
      before_.hold(packing);
    }
    if (round_ <= sets) return;
    for (const neighbour& each : boxes_) each.box->consumed[set_].hold(packing);
  }
  void start() override {
    const device_guard guard(ctx_);
    own_->stored[set_].record(packing_);
    host_->start();
  }
  void finish(stream_handle reading) override {
    host_->finish();
    const device_guard guard(ctx_);
    reading_ = reading;
    for (const neighbour& each : boxes_) {
      if (senders_.count(each.rank) != 0) each.box->stored[set_].hold(reading);
    }
    if (packing_ != reading) own_->stored[set_].hold(reading);
  }

  [[nodiscard]] char* outbox(std::size_t message, int set) const noexcept override { return outboxes_[set][message]; }
  [[nodiscard]] char* inbox(std::size_t message, int set) const noexcept override {
    return own_->data[set] + own_->places[message];
  }

 private:
  struct neighbour {
    int rank;
    std::shared_ptr<mailbox> box;
  };

  // The next message of the box from this rank, from index `at` on.
  void link(const device_message& sent, std::size_t& at) {
    const auto found =
        std::find_if(boxes_.begin(), boxes_.end(), [&](const neighbour& n) { return n.rank == sent.rank; });
    const mailbox& box = *found->box;
    while (box.messages[at].rank != comm_.rank()) ++at;
    for (int s = 0; s < sets; ++s) outboxes_[s].push_back(box.data[s] + box.places[at]);
    ++at;
  }

  context<device> ctx_;
  communicator comm_;
  std::shared_ptr<mailbox> own_;
  std::vector<neighbour> boxes_;
  std::set<int> senders_;
  std::vector<char*> outboxes_[sets];
  event before_;
  stream_handle reading_;  // of the last finished round
  std::int64_t round_ = 0;
  char token_ = 1;
  std::vector<char> tokens_;
  std::unique_ptr<channel> host_;
};

// Device -> page-locked memory -> communicator -> page-locked memory -> device.
class staged_channel final : public device_channel {
 public:
  staged_channel(const communicator& comm, const context<device>& ctx, const std::vector<device_message>& sends,
                 const std::vector<device_message>& receives)
      : ctx_(ctx), out_places_(places_of(sends)), in_places_(places_of(receives)) {
    comm.agree_on([&] {
      const context<host> pinned({.threads = 1, .resource = &pinned_host_resource()});
      outboxes_ = {ctx, out_places_.back()};
      inboxes_ = {ctx, in_places_.back()};
      sent_ = {pinned, out_places_.back()};
      received_ = {pinned, in_places_.back()};
      before_ = event(ctx);
      copied_ = event(ctx);
    });
    host_ = comm.connect(messages(sends, out_places_, sent_.data()), messages(receives, in_places_, received_.data()));
  }
  ~staged_channel() override {
    const device_guard guard(ctx_.ordinal(), std::nothrow);
    cudaEventSynchronize(copied_.get());
  }

  void begin(stream_handle packing) override {
    const device_guard guard(ctx_);
    packing_ = packing;
    if (packing == ctx_.stream()) return;
    before_.record(ctx_.stream());
    before_.hold(packing);
  }
  void start() override {
    const device_guard guard(ctx_);
    if (!sent_.empty()) {
      SPARGO_CUDA_TRY(cudaMemcpyAsync(sent_.data(), outboxes_.data(), static_cast<std::size_t>(sent_.size()),
                                      cudaMemcpyDeviceToHost, packing_));
    }
    copied_.record(packing_);
  }
  void finish(stream_handle reading) override {
    const device_guard guard(ctx_);
    SPARGO_CUDA_TRY(cudaEventSynchronize(copied_.get()));  // also the last round's copy to the device
    host_->start();
    host_->finish();
    if (!received_.empty()) {
      SPARGO_CUDA_TRY(cudaMemcpyAsync(inboxes_.data(), received_.data(), static_cast<std::size_t>(received_.size()),
                                      cudaMemcpyHostToDevice, packing_));
    }
    copied_.record(packing_);
    if (packing_ != reading) copied_.hold(reading);
  }

  [[nodiscard]] char* outbox(std::size_t message, int) const noexcept override {
    return const_cast<char*>(outboxes_.data()) + out_places_[message];
  }
  [[nodiscard]] char* inbox(std::size_t message, int) const noexcept override {
    return const_cast<char*>(inboxes_.data()) + in_places_[message];
  }

 private:
  static std::vector<message> messages(const std::vector<device_message>& all, const std::vector<std::int64_t>& places,
                                       char* data) {
    std::vector<message> made;
    for (std::size_t k = 0; k < all.size(); ++k) made.push_back({all[k].rank, data + places[k], all[k].bytes});
    return made;
  }

  context<device> ctx_;
  std::vector<std::int64_t> out_places_;
  std::vector<std::int64_t> in_places_;
  array<char, device> outboxes_;
  array<char, device> inboxes_;
  array<char, host> sent_;
  array<char, host> received_;
  event before_;
  event copied_;
  std::unique_ptr<channel> host_;
};

// Identifies a GPU among all, on any host.
struct gpu_id {
  char bytes[16];
};
gpu_id id_of(const context<device>& ctx) {
  cudaDeviceProp properties{};
  SPARGO_CUDA_TRY(cudaGetDeviceProperties(&properties, ctx.ordinal()));
  gpu_id id{};
  static_assert(sizeof(properties.uuid) == sizeof(id));
  std::memcpy(id.bytes, &properties.uuid, sizeof(id));
  return id;
}

// What a rank reports of itself.
struct abilities {
  bool addresses_all;
  bool has_nccl;
};

}  // namespace

void enable_peer_access(const context<device>& ctx, int other) {
  if (ctx.ordinal() == other) return;
  const device_guard guard(ctx);
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return;
  }
  SPARGO_CUDA_TRY(status);
}

link_choice choose_link(const communicator& comm, const context<device>& ctx, device_link asked) {
  const std::string_view ranks = comm.name();
  const bool one_process = ranks == "team" || ranks == "self";
  const std::vector<int> ordinals = comm.all_gather(ctx.ordinal());
  const std::string why_not =
      asked == device_link::peer || asked == device_link::host_memory ? "" : reason_against_nccl();
  const abilities mine = comm.agree_on([&] {
    const bool all = one_process && std::all_of(ordinals.begin(), ordinals.end(),
                                                [&](int other) { return can_access(ctx.ordinal(), other); });
    return abilities{all, why_not.empty()};
  });
  bool own_gpu = std::set<int>(ordinals.begin(), ordinals.end()).size() == ordinals.size();
  if (!one_process) {  // ordinals are per process
    std::set<std::string> ids;
    for (const gpu_id& each : comm.all_gather(comm.agree_on([&] { return id_of(ctx); }))) {
      ids.emplace(each.bytes, sizeof(each.bytes));
    }
    own_gpu = std::ssize(ids) == comm.size();
  }
  bool peers = true;
  bool nccl = own_gpu;
  for (const abilities& each : comm.all_gather(mine)) {
    peers = peers && each.addresses_all;
    nccl = nccl && each.has_nccl;
  }
  const std::string no_peers = one_process ? "the GPUs cannot address each other" : "the ranks are processes";
  const std::string no_nccl = !own_gpu ? "two ranks are on one GPU" : why_not.empty() ? "not on all ranks" : why_not;
  const auto refuse = [](const std::string& what, const std::string& why) {
    throw agreed_error(error_code::unsupported, "exchange: no " + what + ": " + why);
  };
  if (asked == device_link::peer && !peers) refuse("peer stores", no_peers);
  if (asked == device_link::nccl && !nccl) refuse("NCCL", no_nccl);
  const bool is_automatic = asked == device_link::automatic;
  if (asked == device_link::peer || (is_automatic && peers)) {
    return {device_link::peer, own_gpu ? "peer stores" : "peer stores, within one GPU"};
  }
  const std::string since = is_automatic ? " (" + no_peers + ")" : "";
  if (asked == device_link::nccl || (is_automatic && nccl)) return {device_link::nccl, "NCCL" + since};
  return {device_link::host_memory,
          "page-locked host memory" + (is_automatic ? " (" + no_peers + "; no NCCL: " + no_nccl + ")" : "")};
}

std::unique_ptr<device_channel> connect_devices(const communicator& comm, const context<device>& ctx,
                                                const link_choice& choice, const std::vector<device_message>& sends,
                                                const std::vector<device_message>& receives) {
  if (choice.link == device_link::peer) return connect_peers(comm, ctx, sends, receives);
  if (choice.link == device_link::nccl) return connect_by_nccl(comm, ctx, sends, receives);
  return connect_by_host(comm, ctx, sends, receives);
}

std::unique_ptr<device_channel> connect_peers(const communicator& comm, const context<device>& ctx,
                                              const std::vector<device_message>& sends,
                                              const std::vector<device_message>& receives) {
  return std::make_unique<peer_channel>(comm, ctx, sends, receives);
}
std::unique_ptr<device_channel> connect_by_host(const communicator& comm, const context<device>& ctx,
                                                const std::vector<device_message>& sends,
                                                const std::vector<device_message>& receives) {
  return std::make_unique<staged_channel>(comm, ctx, sends, receives);
}

}  // namespace spargo::detail::distributed

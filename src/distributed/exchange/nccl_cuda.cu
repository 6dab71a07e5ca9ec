// Messages between devices through NCCL, loaded at run time without its header. Its API is unchanged since 2.7 (2020).
#include "core/cuda.cuh"
#include "distributed/exchange/device_channel.hpp"
#include "distributed/exchange/device_events.cuh"

#include <spargo/core/array.hpp>

#include <dlfcn.h>

#include <map>

namespace spargo::detail::distributed {

namespace {

struct nccl_id {
  char bytes[128];
};
using nccl_handle = void*;
constexpr int nccl_bytes = 0;  // ncclInt8

struct nccl_functions {
  int (*get_unique_id)(nccl_id*);
  int (*init_rank)(nccl_handle*, int, nccl_id, int);
  int (*destroy)(nccl_handle);
  const char* (*error_string)(int);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void*, std::size_t, int, int, nccl_handle, cudaStream_t);
  int (*receive)(void*, std::size_t, int, int, nccl_handle, cudaStream_t);
  std::string missing;  // empty: complete
};

const nccl_functions& nccl() {
  static const nccl_functions loaded = [] {
    nccl_functions f{};
    void* library = nullptr;
    for (const char* name : {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"}) {
      if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) {
      f.missing = "libnccl.so.2 is not installed";
      return f;
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      if (function == nullptr) f.missing = std::string("libnccl.so.2 has no ") + name;
    };
    find(f.get_unique_id, "ncclGetUniqueId");
    find(f.init_rank, "ncclCommInitRank");
    find(f.destroy, "ncclCommDestroy");
    find(f.error_string, "ncclGetErrorString");
    find(f.group_start, "ncclGroupStart");
    find(f.group_end, "ncclGroupEnd");
    find(f.send, "ncclSend");
    find(f.receive, "ncclRecv");
    return f;
  }();
  return loaded;
}

void check(int status, const char* call) {
  if (status != 0) {
    throw error(error_code::device_failure, std::string("nccl: ") + nccl().error_string(status) + " in " + call);
  }
}

// NCCL's communicator of ranks with one device each. NCCL runs operations from several streams in call order. Calls on
// exchanges do not overlap, so this order is the same on all ranks, and several may be in flight.
class nccl_ranks {
 public:
  // Collective in NCCL.
  nccl_ranks(const communicator& comm, const context<device>& ctx, const nccl_id& id) : ordinal_(ctx.ordinal()) {
    const device_guard guard(ctx);
    check(nccl().init_rank(&handle_, comm.size(), id, comm.rank()), "ncclCommInitRank");
  }
  nccl_ranks(const nccl_ranks&) = delete;
  nccl_ranks& operator=(const nccl_ranks&) = delete;
  ~nccl_ranks() {
    const device_guard guard(ordinal_, std::nothrow);
    // If the communicator lives until program exit, CUDA may have shut down already.
    if (cudaFree(nullptr) == cudaSuccess) nccl().destroy(handle_);
  }
  [[nodiscard]] nccl_handle get() const noexcept { return handle_; }

 private:
  int ordinal_;
  nccl_handle handle_ = nullptr;
};

// The cached communicator, or a new one (0.4 s). Collective. All ranks cache the same; freed with the ranks' own.
std::shared_ptr<const nccl_ranks> ranks_of(const communicator& comm, const context<device>& ctx) {
  using known_ranks = std::map<std::vector<int>, std::shared_ptr<const nccl_ranks>>;  // by all ranks' devices
  const std::vector<int> ordinals = comm.all_gather(ctx.ordinal());
  std::shared_ptr<const nccl_ranks>* const known = comm.agree_on([&] {
    if (comm.kept() == nullptr) comm.kept() = std::make_shared<known_ranks>();
    return &(*static_cast<known_ranks*>(comm.kept().get()))[ordinals];
  });
  if (*known != nullptr) return *known;
  nccl_id id{};
  comm.agree_on([&] {
    if (comm.rank() == 0) check(nccl().get_unique_id(&id), "ncclGetUniqueId");
  });
  id = comm.all_gather(id).front();
  return *known = comm.agree_on([&] { return std::make_shared<const nccl_ranks>(comm, ctx, id); });
}

class nccl_channel final : public device_channel {
 public:
  nccl_channel(const communicator& comm, const context<device>& ctx, const std::vector<device_message>& sends,
               const std::vector<device_message>& receives)
      : ctx_(ctx), sends_(sends), receives_(receives), out_places_(places_of(sends)), in_places_(places_of(receives)) {
    comm.agree_on([&] {
      outboxes_ = {ctx, out_places_.back()};
      inboxes_ = {ctx, in_places_.back()};
      before_ = event(ctx);
      done_ = event(ctx);
    });
    ranks_ = ranks_of(comm, ctx);
  }
  ~nccl_channel() override {
    const device_guard guard(ctx_.ordinal(), std::nothrow);
    cudaEventSynchronize(done_.get());
  }

  void begin(stream_handle packing) override {
    packing_ = packing;
    if (packing == ctx_.stream()) return;
    const device_guard guard(ctx_);
    before_.record(ctx_.stream());
    before_.hold(packing);
  }
  void start() override {
    const device_guard guard(ctx_);
    check(nccl().group_start(), "ncclGroupStart");
    for (std::size_t k = 0; k < sends_.size(); ++k) {
      check(nccl().send(outbox(k, 0), static_cast<std::size_t>(sends_[k].bytes), nccl_bytes, sends_[k].rank,
                        ranks_->get(), packing_),
            "ncclSend");
    }
    for (std::size_t k = 0; k < receives_.size(); ++k) {
      check(nccl().receive(inbox(k, 0), static_cast<std::size_t>(receives_[k].bytes), nccl_bytes, receives_[k].rank,
                           ranks_->get(), packing_),
            "ncclRecv");
    }
    check(nccl().group_end(), "ncclGroupEnd");
    done_.record(packing_);
  }
  void finish(stream_handle reading) override {
    const device_guard guard(ctx_);
    if (packing_ != reading) done_.hold(reading);
  }

  [[nodiscard]] char* outbox(std::size_t message, int) const noexcept override {
    return const_cast<char*>(outboxes_.data()) + out_places_[message];
  }
  [[nodiscard]] char* inbox(std::size_t message, int) const noexcept override {
    return const_cast<char*>(inboxes_.data()) + in_places_[message];
  }

 private:
  context<device> ctx_;
  std::vector<device_message> sends_;
  std::vector<device_message> receives_;
  std::vector<std::int64_t> out_places_;
  std::vector<std::int64_t> in_places_;
  array<char, device> outboxes_;
  array<char, device> inboxes_;
  event before_;
  event done_;
  std::shared_ptr<const nccl_ranks> ranks_;
};

}  // namespace

std::string reason_against_nccl() { return nccl().missing; }

std::unique_ptr<device_channel> connect_by_nccl(const communicator& comm, const context<device>& ctx,
                                                const std::vector<device_message>& sends,
                                                const std::vector<device_message>& receives) {
  return std::make_unique<nccl_channel>(comm, ctx, sends, receives);
}

}  // namespace spargo::detail::distributed

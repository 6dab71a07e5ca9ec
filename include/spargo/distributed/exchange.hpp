// Ownership of a vector's elements in contiguous ranges, and the exchange of ghosts (elements owned by other ranks).
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/core/state_pointer.hpp>
#include <spargo/distributed/communicator.hpp>

#include <algorithm>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Part p owns elements [offsets[p], offsets[p + 1]), possibly none. Parts begin at multiples of `grain`, so that no
// bitmap word and no cache line of a vector straddles two parts.
struct SPARGO_EXPORT partition {
  static constexpr std::int64_t grain = 128;

  std::vector<std::int64_t> offsets{0, 0};

  [[nodiscard]] int parts() const { return static_cast<int>(offsets.size()) - 1; }
  [[nodiscard]] std::int64_t size() const { return offsets.back(); }
  [[nodiscard]] std::int64_t first(int part) const { return offsets[static_cast<std::size_t>(part)]; }
  [[nodiscard]] std::int64_t last(int part) const { return first(part + 1); }
  [[nodiscard]] std::int64_t count(int part) const { return last(part) - first(part); }
  // O(log parts).
  [[nodiscard]] int owner(std::int64_t element) const {
    return static_cast<int>(std::upper_bound(offsets.begin(), offsets.end() - 1, element) - offsets.begin()) - 1;
  }
  bool operator==(const partition&) const = default;
};

[[nodiscard]] SPARGO_EXPORT partition even_partition(std::int64_t size, int parts);

// One part per rank, balanced by elements plus entries. `entries[b]`: entries known to this rank in elements [b *
// grain, (b + 1) * grain). Collective; the same result on every rank.
[[nodiscard]] SPARGO_EXPORT partition balanced_partition(const communicator& comm, std::int64_t size,
                                                         span<const std::int64_t, host> entries);

// How the devices of several ranks communicate.
enum class device_link {
  automatic,  // the first of these that all ranks support
  // Stores into peer memory: the ranks are threads of one process and their GPUs can address each other. Enables peer
  // access (cudaDeviceEnablePeerAccess) to the neighbours for the life of the process.
  peer,
  // NCCL, if installed (libnccl.so.2) and every rank has its own GPU. The first exchange of a communicator creates an
  // NCCL communicator (0.4 s), which later exchanges on these devices share. It lives, with its device memory, as long
  // as the communicator or one of these exchanges; destroying the last of them may wait for the other ranks.
  nccl,
  host_memory,  // through page-locked host memory and the ranks' communicator
};
template <>
[[nodiscard]] SPARGO_EXPORT enum_table<device_link> enum_rows() noexcept;

struct SPARGO_EXPORT exchange_options {
  device_link link = device_link::automatic;  // for devices; throws unsupported on all ranks if one lacks it
};

// Repeated copies of ghosts from their owners. On the host: packs into host buffers.
template <class Space>
class exchange;

template <>
class SPARGO_EXPORT exchange<host> {
 public:
  // `ghosts`: elements owned by other ranks, each once, grouped by owner, in any order within an owner. Elements have
  // `element_bytes` bytes. Collective; if one rank is out of memory, all throw. O(ghosts + elements sent).
  exchange(const communicator& comm, const context<host>& ctx, const partition& owners,
           span<const std::int64_t, host> ghosts, std::size_t element_bytes);

  // T: an element, or one of the values that make up an element. Collective, one exchange round at a time. `own` may be
  // overwritten once `start` has returned. After `finish`, `ghosts` holds the values in the constructor's order.
  template <class T>
  void start(span<const T, host> own) {
    start_bytes(own.data(), own.size(), sizeof(T));
  }
  template <class T>
  void finish(span<T, host> ghosts) {
    finish_bytes(ghosts.data(), ghosts.size(), sizeof(T));
  }

  [[nodiscard]] std::int64_t sent() const noexcept;     // elements sent by this rank per round
  [[nodiscard]] std::string_view how() const noexcept;  // the transport: "host memory"

 private:
  struct [[gnu::visibility("hidden")]] state;
  void start_bytes(const void* own, std::int64_t count, std::size_t element);
  void finish_bytes(void* ghosts, std::int64_t count, std::size_t element);
  detail::state_pointer<state> state_;
};

// Between devices: each rank has its own context; two may share a GPU (for tests). No device waits for work that is not
// enqueued: with peer stores, the hosts of neighbours exchange one message per round for that.
template <>
class SPARGO_EXPORT exchange<device> {
 public:
  // As above, with ghosts in host memory. Also throws unsupported if a rank owns 2^31 elements or more.
  exchange(const communicator& comm, const context<device>& ctx, const partition& owners,
           span<const std::int64_t, host> ghosts, std::size_t element_bytes, const exchange_options& options = {});

  // From now on `start` reads own element e at places[e]. Enqueued on the context's stream.
  void own_are_at(span<const std::int32_t, device> places);

  // Runs on its own stream, after the context's earlier work. Between the two calls, enqueue nothing that writes `own`
  // or reads `ghosts`; later work sees the new ghosts. Through host memory `finish` waits for the copies of `own`.
  template <class T>
  void start(span<const T, device> own) {
    start_bytes(own.data(), own.size(), sizeof(T));
  }
  template <class T>
  void finish(span<T, device> ghosts) {
    finish_bytes(ghosts.data(), ghosts.size(), sizeof(T));
  }

  // Instead of `finish`, without a copy: the ghosts in the receive buffer, for work enqueued before the next `start`.
  template <class T>
  [[nodiscard]] span<const T, device> finish_in_place() {
    std::int64_t bytes = 0;
    const void* const ghosts = finish_in_place(bytes);
    return {static_cast<const T*>(ghosts), bytes / static_cast<std::int64_t>(sizeof(T))};
  }

  // Instead of `finish`: the ghosts arrive on the exchange's own stream, and work(stream) enqueues there what uses
  // them, concurrently with what the context has enqueued since `start`. The two must not write what the other reads or
  // writes, and none of this memory, ghosts included, may have been allocated since `start`. Work enqueued on the
  // context after `finish_aside` waits for both. If this rank neither sends nor receives, `stream` is the context's.
  template <class T, class Work>
  void finish_aside(span<T, device> ghosts, const Work& work) {
    work(finish_bytes_aside(ghosts.data(), ghosts.size(), sizeof(T)));
    join();
  }

  [[nodiscard]] std::int64_t sent() const noexcept;     // elements sent by this rank per round
  [[nodiscard]] device_link link() const noexcept;      // never `automatic`
  [[nodiscard]] std::string_view how() const noexcept;  // the link and why no better one: "peer stores"

 private:
  struct [[gnu::visibility("hidden")]] state;
  void start_bytes(const void* own, std::int64_t count, std::size_t element);
  void finish_bytes(void* ghosts, std::int64_t count, std::size_t element);
  [[nodiscard]] const void* finish_in_place(std::int64_t& bytes);
  [[nodiscard]] stream_handle finish_bytes_aside(void* ghosts, std::int64_t count, std::size_t element);
  void join();  // the context's stream waits for the exchange's
  detail::state_pointer<state> state_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

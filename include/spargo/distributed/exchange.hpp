// Who owns what, and values of others: contiguous ranges of a vector's elements, and a fixed pattern of copies.
#pragma once

#include <spargo/distributed/communicator.hpp>

#include <algorithm>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Elements [offsets[p], offsets[p + 1]) are part p's, which may be none. Parts begin at multiples of `grain`: no word
// of a bitmap, and no cache line of a vector, is in two of them.
struct SPARGO_EXPORT partition {
  static constexpr std::int64_t grain = 128;

  std::vector<std::int64_t> offsets{0, 0};

  [[nodiscard]] int parts() const { return static_cast<int>(offsets.size()) - 1; }
  [[nodiscard]] std::int64_t size() const { return offsets.back(); }
  [[nodiscard]] std::int64_t first(int part) const { return offsets[static_cast<std::size_t>(part)]; }
  [[nodiscard]] std::int64_t last(int part) const { return first(part + 1); }
  [[nodiscard]] std::int64_t count(int part) const { return last(part) - first(part); }
  // Of an element. O(log parts).
  [[nodiscard]] int owner(std::int64_t element) const {
    return static_cast<int>(std::upper_bound(offsets.begin(), offsets.end() - 1, element) - offsets.begin()) - 1;
  }
  bool operator==(const partition&) const = default;
};

// Parts of as many elements.
[[nodiscard]] SPARGO_EXPORT partition even_partition(std::int64_t size, int parts);

// Parts of about as many elements and entries together, one for each rank. `entries[b]`: how many this rank knows of in
// elements [b * grain, (b + 1) * grain). Collective; the same on every rank.
[[nodiscard]] SPARGO_EXPORT partition balanced_partition(const communicator& comm, std::int64_t size,
                                                         span<const std::int64_t, host> entries);

// How devices of several ranks send to each other.
enum class device_link {
  automatic,  // the first of these that all ranks can
  // Stores into each other's memory: ranks are threads of one process, whose GPUs address each other. Each is given
  // access to its neighbours' for as long as the process lives (cudaDeviceEnablePeerAccess).
  peer,
  // NCCL, where it is installed (libnccl.so.2); every rank has a GPU of its own. The first exchange of a communicator
  // makes one of NCCL's (0.4 s), which all others on these devices share. It lives, with its memory on them, as long as
  // the communicator or one of these exchanges; a rank that ends the last of them may wait for the others to do so.
  nccl,
  host_memory,  // through page-locked memory of the host, and from there as the ranks' communicator does
};
[[nodiscard]] SPARGO_EXPORT std::string_view to_string(device_link link);

struct SPARGO_EXPORT exchange_options {
  device_link link = device_link::automatic;  // of devices: throws unsupported, on all ranks, where one cannot
};

// Copies of elements that other ranks own, brought up to date again and again. This one packs into buffers of the host.
template <class Space>
class exchange;

template <>
class SPARGO_EXPORT exchange<host> {
 public:
  // `ghosts`: elements of others, each once; by owner, in any order within one. Elements are of `element_bytes` bytes.
  // Collective; throws on all ranks where one has no memory. O(ghosts + what others want).
  exchange(const communicator& comm, const context<host>& ctx, const partition& owners,
           span<const std::int64_t, host> ghosts, std::size_t element_bytes);
  exchange(exchange&&) noexcept;
  exchange& operator=(exchange&&) noexcept;
  ~exchange();

  // T: an element, or one of several values that make it up. Collective, in turn. `own` may be written again as soon
  // as `start` has returned; in `ghosts`, as many as at the beginning and in that order, the values are there when
  // `finish` has.
  template <class T>
  void start(span<const T, host> own) {
    start_bytes(own.data(), own.size(), sizeof(T));
  }
  template <class T>
  void finish(span<T, host> ghosts) {
    finish_bytes(ghosts.data(), ghosts.size(), sizeof(T));
  }

  [[nodiscard]] std::int64_t sent() const noexcept;     // elements, by this rank, each time
  [[nodiscard]] std::string_view how() const noexcept;  // what it goes by: "host memory"

 private:
  struct [[gnu::visibility("hidden")]] state;
  void start_bytes(const void* own, std::int64_t count, std::size_t element);
  void finish_bytes(void* ghosts, std::int64_t count, std::size_t element);
  std::unique_ptr<state> state_;
};

// Between devices: each rank has a context of its own, and two may be of one GPU (which is for tests). No device waits
// for work that is not enqueued yet: by peers the hosts of neighbours tell each other that it is, in a message each
// time.
template <>
class SPARGO_EXPORT exchange<device> {
 public:
  // As above; the ghosts are the host's. Throws unsupported, too, where a rank owns 2^31 elements or more.
  exchange(const communicator& comm, const context<device>& ctx, const partition& owners,
           span<const std::int64_t, host> ghosts, std::size_t element_bytes, const exchange_options& options = {});
  exchange(exchange&&) noexcept;
  exchange& operator=(exchange&&) noexcept;
  ~exchange();

  // From here on `start` finds own element e at place places[e]. Enqueued on the context's stream.
  void own_are_at(span<const std::int32_t, device> places);

  // On a stream of its own, after what the context has enqueued. Between the two calls nothing may be enqueued that
  // writes `own` or looks at `ghosts`; what is enqueued after `finish` finds them there. By host memory `finish` waits
  // for the copies of what is sent.
  template <class T>
  void start(span<const T, device> own) {
    start_bytes(own.data(), own.size(), sizeof(T));
  }
  template <class T>
  void finish(span<T, device> ghosts) {
    finish_bytes(ghosts.data(), ghosts.size(), sizeof(T));
  }

  // Instead of `finish`, without a copy: the ghosts, where they lie until `start` is called again. What is enqueued
  // from here on finds them there.
  template <class T>
  [[nodiscard]] span<const T, device> finish_in_place() {
    std::int64_t bytes = 0;
    const void* const ghosts = finish_in_place(bytes);
    return {static_cast<const T*>(ghosts), bytes / static_cast<std::int64_t>(sizeof(T))};
  }

  // Instead of `finish`: the ghosts arrive on the exchange's own stream, where what work(stream) enqueues finds them,
  // beside what the context has enqueued since `start`. That must not write what `work` reads, nor touch what it
  // writes, and none of this memory may have been allocated since then, the ghosts' included. What the context enqueues
  // after `finish_aside` waits for all of it. Where nothing travels to or from this rank, `stream` is the context's.
  template <class T, class Work>
  void finish_aside(span<T, device> ghosts, const Work& work) {
    work(finish_bytes_aside(ghosts.data(), ghosts.size(), sizeof(T)));
    join();
  }

  [[nodiscard]] std::int64_t sent() const noexcept;     // elements, by this rank, each time
  [[nodiscard]] device_link link() const noexcept;      // never `automatic`
  [[nodiscard]] std::string_view how() const noexcept;  // that, and why no better one: "peer stores"

 private:
  struct [[gnu::visibility("hidden")]] state;
  void start_bytes(const void* own, std::int64_t count, std::size_t element);
  void finish_bytes(void* ghosts, std::int64_t count, std::size_t element);
  [[nodiscard]] const void* finish_in_place(std::int64_t& bytes);
  [[nodiscard]] stream_handle finish_bytes_aside(void* ghosts, std::int64_t count, std::size_t element);
  void join();  // the context's stream waits for the exchange's
  std::unique_ptr<state> state_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

// Values of rows that depend on each other, on a device: places come in an order in which each needs earlier ones
// alone.
//
// Blocks claim places in topological order from an atomic counter, so every dependency is finished or held by a running
// block: this cannot deadlock, however many blocks are resident. `width` lanes have a place; each waits for the values
// that its entries need, up to `batch` at once. Lanes of a warp never wait for each other inside of a loop: all look,
// and those that have what they need go on. Each value is its own ready flag: slots start as an all-ones NaN, and a
// computed value with that bit pattern is stored as another NaN; a look is one load of each word, and needs no fence.
// Values of the same block pass through shared memory. Long rows get a warp each, in order. Cost: the longest chain of
// places, each a round trip through the L2 cache, or through shared memory within a block; or the traffic. Liu, Li,
// Hogg, Duff, Vinter, Euro-Par 2016; Su et al., ICPP 2020.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/resident.cuh"
#include "core/device/warp.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace spargo::detail::triangular {

struct waiting_tuning {
  static constexpr int threads = 128;
  static constexpr int batch = 4;
  static constexpr int long_row = 16;  // batches of a lane
  static constexpr int looks = 32;     // before a warp sleeps between two looks
  static constexpr unsigned sleep_ns = 32;
  static constexpr std::int64_t levels_in_flight = 6;  // estimated: the loads before a place waits take three levels
};

// --- Slots -----------------------------------------------------------------------------------------------------------

template <class T>
using slot_word = std::conditional_t<sizeof(T) == 4, std::uint32_t, unsigned long long>;
template <class T>
inline constexpr int slot_words = static_cast<int>(sizeof(T) / sizeof(slot_word<T>));

// Whether a slot has its value, and which. Past the L1 cache.
template <class T>
[[nodiscard]] __device__ __forceinline__ bool look(const T* slot, T& value) {
  using W = slot_word<T>;
  const auto* const from = reinterpret_cast<const volatile W*>(slot);
  W words[slot_words<T>];
  bool is_there = true;
#pragma unroll
  for (int k = 0; k < slot_words<T>; ++k) {
    words[k] = from[k];
    is_there = is_there && words[k] != ~W{0};
  }
  if (is_there) __builtin_memcpy(&value, words, sizeof(T));
  return is_there;
}
template <class T>
__device__ __forceinline__ void give(T* slot, T value) {
  using W = slot_word<T>;
  W words[slot_words<T>];
  __builtin_memcpy(words, &value, sizeof(T));
  auto* const to = reinterpret_cast<volatile W*>(slot);
#pragma unroll
  for (int k = 0; k < slot_words<T>; ++k) to[k] = words[k] == ~W{0} ? words[k] >> 1 : words[k];
}
template <class T>
__device__ __forceinline__ void clear(T* slot) {
  auto* const to = reinterpret_cast<volatile slot_word<T>*>(slot);
#pragma unroll
  for (int k = 0; k < slot_words<T>; ++k) to[k] = ~slot_word<T>{0};
}

// A slot for each place, and the counter behind them.
template <class T>
class slots {
 public:
  slots() = default;
  slots(const context<device>& ctx, std::int64_t size)
      : memory_(ctx, (bytes_before_counter(size) + 8 + std::int64_t{sizeof(T)} - 1) / std::int64_t{sizeof(T)}),
        size_(size) {}

  // Asynchronous.
  void clear_all(const context<device>& ctx) {
    fill_bytes(ctx, memory_.data(), 0xff, static_cast<std::size_t>(bytes_before_counter(size_)) + sizeof(count64));
  }
  [[nodiscard]] T* data() { return memory_.data(); }
  // Starts at all ones, one before 0.
  [[nodiscard]] count64* counter() {
    return reinterpret_cast<count64*>(reinterpret_cast<unsigned char*>(memory_.data()) + bytes_before_counter(size_));
  }
  [[nodiscard]] std::int64_t bytes() const noexcept { return memory_.size() * std::int64_t{sizeof(T)}; }
  [[nodiscard]] array<T, device>& memory() { return memory_; }

 private:
  [[nodiscard]] static std::int64_t bytes_before_counter(std::int64_t size) {
    return div_up(size * std::int64_t{sizeof(T)}, std::int64_t{8}) * 8;
  }

  array<T, device> memory_;
  std::int64_t size_ = 0;
};

// --- Rows ------------------------------------------------------------------------------------------------------------

// A rule has types value, weight and row_data, and
//   begin(place), end(place): its entries
//   load(place) -> row_data: what it needs besides, read before it waits
//   source(place, entry) -> the place that the entry needs, below this one; -1: none
//   weight(entry)
//   sum_type and add(sum_type&, weight, value), combine(sum_type, sum_type)
//   finish(row_data, sum_type) -> value, by one lane, which may store it elsewhere.

// By a warp: one place for every `width` lanes, a power of two, of which the first exists. `first`: of the block's
// places, whose values are in `near`, those before in `far`.
template <class Rule>
__device__ __forceinline__ void solve_places(const Rule& rule, std::int64_t place, bool exists, int width,
                                             std::int64_t first, typename Rule::value* far,
                                             typename Rule::value* near) {
  using T = typename Rule::value;
  constexpr int batch = waiting_tuning::batch;
  const int lane = lane_id() & (width - 1);
  const int leader = lane_id() - lane;
  const unsigned group = (width == warp_size ? full_mask : (1U << width) - 1) << leader;
  std::int64_t entry = exists ? rule.begin(place) + lane : 0;
  const std::int64_t end = exists ? rule.end(place) : 0;
  typename Rule::row_data row{};
  if (exists) row = rule.load(place);
  typename Rule::sum_type sum{};
  const T* from[batch];
  typename Rule::weight_type weights[batch];
  T values[batch];
  unsigned used = 0;   // of the batch
  unsigned waits = 0;  // for these
  const auto load_batch = [&] {
    used = 0;
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const std::int64_t at = entry + k * width;
      const std::int64_t source = at < end ? rule.source(place, at) : -1;
      if (source < 0) continue;
      from[k] = source >= first ? near + (source - first) : far + source;
      weights[k] = rule.weight(at);
      used |= 1U << k;
    }
    waits = used;
  };
  load_batch();
  bool has_all = false;
  bool is_stored = !exists;
  for (int looks = 0;; ++looks) {
    while (!has_all) {
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        if ((waits >> k & 1U) != 0 && look(from[k], values[k])) waits &= ~(1U << k);
      }
      if (waits != 0) break;
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        if ((used >> k & 1U) != 0) rule.add(sum, weights[k], values[k]);
      }
      entry += batch * width;
      has_all = entry >= end;
      if (!has_all) load_batch();
    }
    const unsigned complete = __ballot_sync(full_mask, has_all);
    const bool ends = !is_stored && (complete & group) == group;
    if (__any_sync(full_mask, ends) != 0) {
      const auto all = group_reduce(sum, width, [&](auto a, auto b) { return rule.combine(a, b); });
      if (ends && lane == 0) {
        const T value = rule.finish(row, all);
        give(near + (place - first), value);
        give(far + place, value);
      }
      is_stored = is_stored || ends;
      looks = 0;
      if (__all_sync(full_mask, is_stored) != 0) return;
    }
    if (looks >= waiting_tuning::looks) __nanosleep(waiting_tuning::sleep_ns);
  }
}

template <class Rule>
__global__ void __launch_bounds__(waiting_tuning::threads)
    in_order_kernel(Rule rule, std::int64_t places, int width, typename Rule::value* far, count64* taken,
                    const int* active) {
  __shared__ typename Rule::value near[waiting_tuning::threads];
  __shared__ count64 claimed;
  if (active != nullptr && *active == 0) return;
  const int per_block = waiting_tuning::threads / width;
  const int per_warp = warp_size / width;
  const auto thread = static_cast<int>(threadIdx.x);
  for (;;) {
    if (thread == 0) claimed = atomicAdd(taken, 1ULL) + 1;
    clear(near + thread);
    __syncthreads();
    const std::int64_t first = static_cast<std::int64_t>(claimed) * per_block;
    if (first >= places) return;
    const std::int64_t of_warp = first + thread / warp_size * per_warp;
    const std::int64_t mine = of_warp + lane_id() / width;
    const bool is_long = mine < places && rule.end(mine) - rule.begin(mine) >
                                              std::int64_t{waiting_tuning::long_row} * waiting_tuning::batch * width;
    if (of_warp >= places) {
      // Nothing for this warp.
    } else if (__any_sync(full_mask, is_long) == 0) {
      solve_places(rule, mine, mine < places, width, first, far, near);
    } else {
      for (std::int64_t place = of_warp; place < of_warp + per_warp && place < places; ++place) {
        solve_places(rule, place, true, warp_size, first, far, near);
      }
    }
    __syncthreads();
  }
}

// --- Launches --------------------------------------------------------------------------------------------------------

// Lanes of a place with so many entries: a batch each.
[[nodiscard]] inline int lanes_for(std::int64_t entries, std::int64_t places) {
  const std::int64_t mean = places == 0 ? 0 : div_up(entries, places);
  int lanes = 1;
  while (lanes < warp_size && std::int64_t{lanes} * waiting_tuning::batch < mean) lanes *= 2;
  return lanes;
}

// Blocks for the places that may be in flight, at least one per SM and no more than are resident.
template <class Rule>
[[nodiscard]] std::int64_t blocks_in_flight(const context<device>& ctx, std::int64_t places, int width,
                                            std::int64_t in_flight) {
  constexpr int threads = waiting_tuning::threads;
  const std::int64_t most = resident_grid(ctx, in_order_kernel<Rule>, threads);
  const std::int64_t least = ctx.properties().multiprocessors;
  const std::int64_t wanted = std::clamp(div_up(in_flight * width, std::int64_t{threads}), least, most);
  return std::clamp<std::int64_t>(div_up(places * width, std::int64_t{threads}), 1, wanted);
}

template <class Rule>
void launch_in_order(const context<device>& ctx, const Rule& rule, std::int64_t places, int width, std::int64_t blocks,
                     slots<typename Rule::value>& values, const int* active = nullptr) {
  values.clear_all(ctx);
  launch_kernel(ctx, {blocks, waiting_tuning::threads}, in_order_kernel<Rule>, rule, places, width, values.data(),
                values.counter(), active);
}

}  // namespace spargo::detail::triangular

// Warp shuffles, reductions and prefix sums, one value per lane. All lanes of the warp must call them.
//
// A reduction is a butterfly (__shfl_xor_sync), so every lane gets the result; for 4-byte integers warp_sum, warp_max
// and warp_or use "redux.sync" (PTX ISA) where the chip has it. Scans are Kogge and Stone's, log2(lanes) steps;
// combine(a, b) gets the lower lane's value first. A group is a power of two of neighbouring lanes; all groups of a
// warp run at once.
#pragma once

#include "core/cuda.cuh"

#include <spargo/core/device_features.cuh>

#include <concepts>
#include <type_traits>

namespace spargo::detail {

// For one-dimensional blocks.
__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x) % warp_size; }

struct plus {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct minimum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct maximum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct bit_or {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a | b;
  }
};

// Arithmetic types by one call of `shuffle_one`, others word by word.
template <class T, class F>
__device__ __forceinline__ T shuffle_words(const T& value, F shuffle_one) {
  if constexpr (std::is_arithmetic_v<T>) {
    return shuffle_one(value);
  } else {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(unsigned) == 0);
    unsigned words[sizeof(T) / sizeof(unsigned)];
    __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
    for (unsigned& word : words) word = shuffle_one(word);
    T shuffled;
    __builtin_memcpy(&shuffled, words, sizeof(T));
    return shuffled;
  }
}

template <class T>
__device__ __forceinline__ T shuffle(T value, int lane) {
  return shuffle_words(value, [lane](auto v) { return __shfl_sync(full_mask, v, lane); });
}
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int mask) {
  return shuffle_words(value, [mask](auto v) { return __shfl_xor_sync(full_mask, v, mask); });
}
template <class T>
__device__ __forceinline__ T shuffle_down(T value, int lanes) {
  return shuffle_words(value, [lanes](auto v) { return __shfl_down_sync(full_mask, v, lanes); });
}

// --- Reductions -----------------------------------------------------------

template <class T, class F>
__device__ __forceinline__ T group_reduce(T value, int lanes, F combine) {
  for (int step = lanes / 2; step > 0; step /= 2) value = combine(value, shuffle_xor(value, step));
  return value;
}
template <class T>
__device__ __forceinline__ T group_sum(T value, int lanes) {
  return group_reduce(value, lanes, plus{});
}

template <class T, class F>
__device__ __forceinline__ T warp_reduce(T value, F combine) {
  return group_reduce(value, warp_size, combine);
}

// The result is in lane 0 only. Combines halves, the lower lane's value first.
template <class T, class F>
__device__ __forceinline__ T warp_reduce_to_first(T value, F combine) {
#pragma unroll
  for (int step = warp_size / 2; step > 0; step /= 2) {
    value = combine(value, shuffle_down(value, step));
  }
  return value;
}

template <std::integral T>
__device__ __forceinline__ T warp_sum(T value) {
  if constexpr (has_warp_reductions && sizeof(T) == 4) {
    return __reduce_add_sync(full_mask, value);
  } else {
    return warp_reduce(value, plus{});
  }
}
template <std::integral T>
__device__ __forceinline__ T warp_max(T value) {
  if constexpr (has_warp_reductions && sizeof(T) == 4) {
    return __reduce_max_sync(full_mask, value);
  } else {
    return warp_reduce(value, maximum{});
  }
}
template <std::unsigned_integral T>
__device__ __forceinline__ T warp_or(T value) {
  if constexpr (has_warp_reductions && sizeof(T) == 4) {
    return __reduce_or_sync(full_mask, value);
  } else {
    return warp_reduce(value, bit_or{});
  }
}

// --- Scans ----------------------------------------------------------------

// Over the group's lanes up to this one.
template <class T, class F>
__device__ __forceinline__ T group_inclusive_scan(T value, int lanes, F combine) {
  const int in_group = static_cast<int>(threadIdx.x) & (lanes - 1);
  for (int step = 1; step < lanes; step *= 2) {
    const T before = __shfl_up_sync(full_mask, value, step, lanes);
    if (in_group >= step) value = combine(before, value);
  }
  return value;
}

// Over the group's lanes from this one on.
template <class T, class F>
__device__ __forceinline__ T group_suffix_scan(T value, int lanes, F combine) {
  const int in_group = static_cast<int>(threadIdx.x) & (lanes - 1);
  for (int step = 1; step < lanes; step *= 2) {
    const T after = __shfl_down_sync(full_mask, value, step, lanes);
    if (in_group + step < lanes) value = combine(value, after);
  }
  return value;
}

// A kernel that already has its lane number passes it, so that it is not computed twice.
template <class T, class F>
__device__ __forceinline__ T warp_inclusive_scan(T value, F combine, int lane = lane_id()) {
#pragma unroll
  for (int step = 1; step < warp_size; step *= 2) {
    const T before = __shfl_up_sync(full_mask, value, step);
    if (lane >= step) value = combine(before, value);
  }
  return value;
}
template <class T>
__device__ __forceinline__ T warp_inclusive_sum(T value, int lane = lane_id()) {
  return warp_inclusive_scan(value, plus{}, lane);
}
template <std::integral T>
__device__ __forceinline__ T warp_exclusive_sum(T value) {
  return warp_inclusive_sum(value) - value;
}

// Turns an inclusive scan into an exclusive one: the value of the lane below, `first` in lane 0.
template <class T>
__device__ __forceinline__ T shift_up(T scanned, T first) {
  const T before = __shfl_up_sync(full_mask, scanned, 1);
  return lane_id() == 0 ? first : before;
}

}  // namespace spargo::detail

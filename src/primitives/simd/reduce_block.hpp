// One block of a host reduction: 128 bytes of accumulators, in as many registers as needed.
//
// Chunks of 16 vectors of 128 bytes are combined lane by lane, then lanes by halves and chunks by neighbours. The
// pairing of elements depends on their index only, and products are not fused with additions, so all register widths
// give the same bits. Written once with the compiler's vector types and inlined into one function per instruction set.
// Cost: one operation per element, plus 128 bytes / sizeof(T) - 1 per chunk.
#pragma once

#include "primitives/simd/reduce.hpp"

namespace spargo::detail::reduce {

// A register of `Bytes` bytes; unsigned for integers that wrap.
template <class T, int Bytes>
struct reduce_register {
  using type [[gnu::vector_size(Bytes)]] = T;
};

template <class T>
struct wrapping {
  using type = T;
};
template <std::integral T>
struct wrapping<T> {
  using type = std::make_unsigned_t<T>;
};

// sum = Op::apply(sum, item_of<Source>(a, b)) lane by lane; signed: V, wrapping: W.
template <class Op, source_kind Source, class T, class V, class W>
[[gnu::always_inline]] inline void accumulate_lanes(V& sum, const V& a, const V& b) {
  V item = a;
  if constexpr (Source == source_kind::products) item = (V)((W)a * (W)b);
  if constexpr (Source == source_kind::differences && std::integral<T>) {
    item = (V)(a < b ? (W)b - (W)a : (W)a - (W)b);  // wraps if it does not fit, as item_of does
  } else if constexpr (Source == source_kind::differences) {
    const V difference = a - b;
    item = difference < 0 ? -difference : difference;
  }
  if constexpr (std::same_as<Op, sum_operation<T>>) {
    sum = (V)((W)sum + (W)item);
  } else if constexpr (std::same_as<Op, product_operation<T>>) {
    sum = (V)((W)sum * (W)item);
  } else if constexpr (std::same_as<Op, min_operation<T>>) {
    const V smaller = item < sum ? item : sum;
    sum = item != item ? item : smaller;  // NaN
  } else if constexpr (std::same_as<Op, max_operation<T>>) {
    const V larger = sum < item ? item : sum;
    sum = item != item ? item : larger;
  } else if constexpr (requires { requires std::same_as<Op, bit_and_operation<T>>; }) {
    sum = sum & item;
  } else {
    sum = sum | item;
  }
}

template <class Op, int Lanes, class T>
[[gnu::always_inline]] inline T combine_lanes(T* lane) {
  for (int half = Lanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] = Op::apply(lane[l], lane[l + half]);
  }
  return lane[0];
}

template <class Op, source_kind Source, class T, int Bytes>
[[gnu::always_inline]] inline T reduce_one_block(const T* a, const T* b, std::int64_t n) {
  constexpr bool pairs = Source != source_kind::values;
  using V = typename reduce_register<T, Bytes>::type;
  using W = typename reduce_register<typename wrapping<T>::type, Bytes>::type;
  constexpr int lanes = 128 / static_cast<int>(sizeof(T));
  constexpr int registers = 128 / Bytes;
  constexpr std::int64_t chunk = 16 * lanes;
  T of_chunk[block_size / chunk];
  T lane[lanes];
  std::int64_t chunks = 0;
  std::int64_t i = 0;
  while (i + chunk <= n) {
    V sum[registers];
    for (int r = 0; r < registers; ++r) sum[r] = V{} + Op::identity;
    for (const std::int64_t end = i + chunk; i < end; i += lanes) {
      for (int r = 0; r < registers; ++r) {
        V x;
        V y = {};
        __builtin_memcpy(&x, a + i + r * (lanes / registers), Bytes);
        if constexpr (pairs) __builtin_memcpy(&y, b + i + r * (lanes / registers), Bytes);
        accumulate_lanes<Op, Source, T, V, W>(sum[r], x, y);
      }
    }
    __builtin_memcpy(lane, sum, 128);
    of_chunk[chunks++] = combine_lanes<Op, lanes>(lane);
  }
  if (i < n) {
    for (T& each : lane) each = Op::identity;
    for (std::int64_t l = 0; i < n; ++i, l = (l + 1) % lanes) {
      lane[l] = Op::apply(lane[l], item_of<Source>(a[i], pairs ? b[i] : T{}));
    }
    of_chunk[chunks++] = combine_lanes<Op, lanes>(lane);
  }
  return combine_pairwise<Op>(of_chunk, chunks);
}

}  // namespace spargo::detail::reduce

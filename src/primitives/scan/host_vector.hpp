// Scan and fold of one block on the host in 16-byte vectors, in an order that depends on the block's length only. Uses
// the vector types of GCC and Clang, so it runs on any processor; every x86-64 and AArch64 has 16-byte vectors.
// Elements are regrouped, never reordered.
//
// Fold: a pairwise tree over neighbours. Scan: four vectors per step, each scanned in register by shifts; their four
// totals are folded separately, so that the dependence from step to step is one operation. Cost: 3 operations and 2
// shuffles per 4 elements.
#pragma once

#include "primitives/function_objects.hpp"
#include "primitives/scan/backend.hpp"

#include <algorithm>
#include <cstring>

namespace spargo::detail::scan {

template <class T>
struct vector_type {
  typedef T type __attribute__((vector_size(16)));  // NOLINT: an alias template drops the attribute
};
template <class T>
using vector = typename vector_type<T>::type;

template <class T>
inline constexpr int vector_lanes = 16 / static_cast<int>(sizeof(T));

template <class T>
vector<T> load_vector(const T* from) {
  vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class T>
void store_vector(T* to, vector<T> v) {
  std::memcpy(to, &v, sizeof v);
}

template <class T>
vector<T> all_lanes(T value) {
  vector<T> v{};
  for (int i = 0; i < vector_lanes<T>; ++i) v[i] = value;
  return v;
}

// The operation lane by lane, as in primitives/function_objects.hpp.
template <class Op, class T>
vector<T> combine(vector<T> a, vector<T> b) {
  if constexpr (std::same_as<Op, sum_operation<T>> || std::same_as<Op, product_operation<T>>) {
    constexpr bool is_sum = std::same_as<Op, sum_operation<T>>;
    if constexpr (std::integral<T>) {
      using wide = vector<std::make_unsigned_t<T>>;
      return is_sum ? (vector<T>)((wide)a + (wide)b) : (vector<T>)((wide)a * (wide)b);
    } else {
      return is_sum ? a + b : a * b;
    }
  } else if constexpr (std::same_as<Op, min_operation<T>> || std::same_as<Op, max_operation<T>>) {
    auto second = std::same_as<Op, min_operation<T>> ? b < a : a < b;
    if constexpr (std::floating_point<T>) second |= b != b;
    return second ? b : a;
  } else if constexpr (std::same_as<Op, bit_and_operation<T>>) {
    return a & b;
  } else {
    static_assert(std::same_as<Op, bit_or_operation<T>>);
    return a | b;
  }
}

// Lane i of the result is lane i-1 of v; lane 0 is the identity.
template <class T>
vector<T> shifted_by_one(vector<T> v, vector<T> identity) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_shufflevector(identity, v, 0, 4, 5, 6);
  } else {
    return __builtin_shufflevector(identity, v, 0, 2);
  }
}

template <class T>
vector<T> last_lane(vector<T> v) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_shufflevector(v, v, 3, 3, 3, 3);
  } else {
    return __builtin_shufflevector(v, v, 1, 1);
  }
}

template <class Op, class T>
vector<T> scan_lanes(vector<T> v, vector<T> identity) {
  v = combine<Op, T>(shifted_by_one<T>(v, identity), v);
  if constexpr (sizeof(T) == 4) v = combine<Op, T>(__builtin_shufflevector(identity, v, 0, 1, 4, 5), v);
  return v;
}

// Folds neighbours: (a0 a1, a2 a3, b0 b1, b2 b3), or (a0 a1, b0 b1) for 8-byte elements.
template <class Op, class T>
vector<T> fold_neighbours(vector<T> a, vector<T> b) {
  if constexpr (sizeof(T) == 4) {
    return combine<Op, T>(__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7));
  } else {
    return combine<Op, T>(__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3));
  }
}

// For `Vectors` vectors, a power of two: each lane is the fold of its part of the elements, in order.
template <int Vectors, class Op, class T>
inline vector<T> fold_vectors(const T* in) {
  if constexpr (Vectors == 1) {
    return load_vector(in);
  } else {
    constexpr int half = Vectors / 2;
    return fold_neighbours<Op, T>(fold_vectors<half, Op>(in), fold_vectors<half, Op>(in + half * vector_lanes<T>));
  }
}

// in[0] op ... op in[n-1]: pairwise over chunks of 64 vectors, then chunk by chunk.
template <class Op, class T>
T fold_block(const T* in, std::int64_t n) {
  constexpr int lanes = vector_lanes<T>;
  T all = Op::identity;
  std::int64_t i = 0;
  for (; i + 64 * lanes <= n; i += 64 * lanes) {
    vector<T> eighth[8];
    for (int g = 0; g < 8; ++g) eighth[g] = fold_vectors<8, Op>(in + i + g * 8 * lanes);
    for (int count = 4; count > 0; count /= 2) {
      for (int g = 0; g < count; ++g) eighth[g] = fold_neighbours<Op, T>(eighth[2 * g], eighth[2 * g + 1]);
    }
    T chunk = eighth[0][0];
    for (int l = 1; l < lanes; ++l) chunk = Op::apply(chunk, eighth[0][l]);
    all = Op::apply(all, chunk);
  }
  for (; i < n; ++i) all = Op::apply(all, in[i]);
  return all;
}

template <scan_kind Kind, class Op, class T>
T scan_loop(const T* in, T* out, std::int64_t n, T before) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T with = Op::apply(before, in[i]);
    out[i] = Kind == scan_kind::inclusive ? with : before;
    before = with;
  }
  return before;
}

// Scans n elements after `before` and prefetches upcoming[0, n) (unless null). Returns the next element's prefix.
template <scan_kind Kind, class Op, class T>
T scan_vectors(const T* in, T* out, std::int64_t n, T before, const T* upcoming) {
  constexpr int lanes = vector_lanes<T>;
  constexpr int step = 4 * lanes;  // one line of 64 bytes
  const vector<T> identity = all_lanes(Op::identity);
  vector<T> carry = all_lanes(before);
  std::int64_t i = 0;
  for (; i + step <= n; i += step) {
    if (upcoming != nullptr) __builtin_prefetch(upcoming + i, 0, 2);
    vector<T> v[4];
    vector<T> total[4];
    for (int g = 0; g < 4; ++g) {
      v[g] = scan_lanes<Op, T>(load_vector(in + i + g * lanes), identity);
      total[g] = last_lane<T>(v[g]);
      if constexpr (Kind == scan_kind::exclusive) v[g] = shifted_by_one<T>(v[g], identity);
    }
    const vector<T> two = combine<Op, T>(total[0], total[1]);
    const vector<T> three = combine<Op, T>(two, total[2]);
    const vector<T> four = combine<Op, T>(two, combine<Op, T>(total[2], total[3]));
    store_vector(out + i, combine<Op, T>(carry, v[0]));
    store_vector(out + i + lanes, combine<Op, T>(combine<Op, T>(carry, total[0]), v[1]));
    store_vector(out + i + 2 * lanes, combine<Op, T>(combine<Op, T>(carry, two), v[2]));
    store_vector(out + i + 3 * lanes, combine<Op, T>(combine<Op, T>(carry, three), v[3]));
    carry = combine<Op, T>(carry, four);
  }
  return scan_loop<Kind, Op>(in + i, out + i, n - i, static_cast<T>(carry[0]));
}

}  // namespace spargo::detail::scan

// Kernels that only move entries are compiled for words of 4, 8 and 16 bytes, and serve indices and values alike.
#pragma once

#include "core/device/launch.cuh"

namespace spargo::detail {

template <std::size_t Bytes>
struct word;
template <>
struct word<4> {
  using type = std::uint32_t;
};
template <>
struct word<8> {
  using type = unsigned long long;
};
template <>
struct word<16> {
  using type = ulonglong2;
};
template <class T>
using word_t = typename word<sizeof(T)>::type;

template <class T>
const word_t<T>* as_words(span<const T, device> data) {
  return reinterpret_cast<const word_t<T>*>(data.data());
}
template <class T>
word_t<T>* as_words(span<T, device> data) {
  return reinterpret_cast<word_t<T>*>(data.data());
}

template <class Where, class Word>
void gather_words(const context<device>& ctx, std::int64_t size, const Where* where, const Word* from, Word* to) {
  for_each(ctx, size, [=] __device__(std::int64_t i) { to[i] = from[where[i]]; });
}

template <class T, class Where>
array<T, device> gathered(const context<device>& ctx, span<const T, device> from, span<const Where, device> where) {
  array<T, device> to(ctx, where.size());
  gather_words(ctx, where.size(), where.data(), as_words(from), as_words(to.view()));
  return to;
}

}  // namespace spargo::detail

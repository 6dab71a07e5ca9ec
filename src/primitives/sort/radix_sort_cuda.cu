// CUB's radix sort, least significant digit first ("onesweep": Adinets and Merrill, arXiv:2206.01784, 2022).
// Instantiated for keys packed into 64 bits with one payload type, and for pairs of 32 bits.
#include "primitives/sort/radix_sort.hpp"

#include "core/device/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace spargo::detail {

void sort_keys(const context<device>& ctx, array<std::uint64_t, device>& keys, int begin, int end) {
  if (keys.size() < 2 || begin >= end) return;
  array<std::uint64_t, device> spare(ctx, keys.size());
  cub::DoubleBuffer<std::uint64_t> buffers(keys.data(), spare.data());
  with_temporary_storage(ctx, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(storage, bytes, buffers, keys.size(), begin, end, ctx.stream());
  });
  if (buffers.Current() != keys.data()) keys.swap(spare);
}

void sort_pairs(const context<device>& ctx, array<std::uint64_t, device>& keys, array<std::uint32_t, device>& payload,
                int begin, int end) {
  SPARGO_EXPECTS(keys.size() == payload.size(), "sort_pairs: the numbers of keys and payloads differ");
  if (keys.size() < 2 || begin >= end) return;
  array<std::uint64_t, device> spare_keys(ctx, keys.size());
  array<std::uint32_t, device> spare_payload(ctx, keys.size());
  cub::DoubleBuffer<std::uint64_t> key_buffers(keys.data(), spare_keys.data());
  cub::DoubleBuffer<std::uint32_t> payload_buffers(payload.data(), spare_payload.data());
  with_temporary_storage(ctx, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, key_buffers, payload_buffers, keys.size(), begin, end,
                                           ctx.stream());
  });
  if (key_buffers.Current() != keys.data()) keys.swap(spare_keys);
  if (payload_buffers.Current() != payload.data()) payload.swap(spare_payload);
}

void sort_pairs(const context<device>& ctx, std::int64_t size, array<std::uint32_t, device>& keys,
                array<std::uint32_t, device>& payload, array<std::uint32_t, device>& spare_keys,
                array<std::uint32_t, device>& spare_payload, int begin, int end) {
  const in_spare where =
      sort_words(ctx, size, keys.data(), payload.data(), spare_keys.data(), spare_payload.data(), begin, end);
  if (where.keys) keys.swap(spare_keys);
  if (where.payload) payload.swap(spare_payload);
}

in_spare sort_words(const context<device>& ctx, std::int64_t size, std::uint32_t* keys, std::uint32_t* payload,
                    std::uint32_t* spare_keys, std::uint32_t* spare_payload, int begin, int end) {
  if (size < 2 || begin >= end) return {false, false};
  cub::DoubleBuffer<std::uint32_t> key_buffers(keys, spare_keys);
  cub::DoubleBuffer<std::uint32_t> payload_buffers(payload, spare_payload);
  with_temporary_storage(ctx, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, key_buffers, payload_buffers, size, begin, end,
                                           ctx.stream());
  });
  return {key_buffers.Current() != keys, payload_buffers.Current() != payload};
}

array<std::uint32_t, device> iota(const context<device>& ctx, std::int64_t size) {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  if (size > most) {
    throw error(error_code::unsupported,
                "sort: " + std::to_string(size) + " elements on a device (at most " + std::to_string(most) + ")");
  }
  array<std::uint32_t, device> numbers(ctx, size);
  std::uint32_t* out = numbers.data();
  for_each(ctx, size, [=] __device__(std::int64_t i) { out[i] = static_cast<std::uint32_t>(i); });
  return numbers;
}

template <class T>
void invert_permutation(const context<device>& ctx, span<const std::uint32_t, device> order, T* places) {
  for_each(ctx, order.size(),
           [places, from = order.data()] __device__(std::int64_t k) { places[from[k]] = static_cast<T>(k); });
}
#define INSTANTIATE(T) template void invert_permutation(const context<device>&, span<const std::uint32_t, device>, T*);
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)

}  // namespace spargo::detail

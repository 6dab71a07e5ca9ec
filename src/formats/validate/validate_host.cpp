// The searches of `validate` on the host: each share stops at its first hit, and the lowest wins.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "formats/validate/backend.hpp"

#include <algorithm>
#include <atomic>
#include <functional>

namespace spargo::detail::validate {

namespace {

template <class Wrong>
std::int64_t find_first(const context<host>& ctx, std::int64_t size, const Wrong& wrong) {
  const parts shares = split(size, ctx.threads(), grain::elements);
  std::atomic<std::int64_t> found{size};
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    std::int64_t i = shares.first(p);
    while (i < shares.last(p) && !wrong(i)) ++i;
    if (i < shares.last(p)) lower_to(found, i);
  });
  return found.load() < size ? found.load() : -1;
}

}  // namespace

template <index_type O>
std::int64_t find_decrease(const context<host>& ctx, span<const O, host> offsets) {
  return find_first(ctx, offsets.size() - 1, [=](std::int64_t i) { return offsets[i] > offsets[i + 1]; });
}

template <index_type I>
std::int64_t find_outside(const context<host>& ctx, span<const I, host> values, std::int64_t first, std::int64_t last) {
  return find_first(ctx, values.size(), [=](std::int64_t i) { return values[i] < first || values[i] >= last; });
}

template <index_type I, index_type O>
std::int64_t find_unordered(const context<host>& ctx, span<const O, host> offsets, span<const I, host> indices) {
  return find_first(ctx, indices.size(), [=](std::int64_t k) {
    return k > 0 && indices[k] <= indices[k - 1] &&
           !std::binary_search(offsets.begin(), offsets.end(), k);  // unless a row starts at k
  });
}

template <index_type O>
std::int64_t find_uneven_slice(const context<host>& ctx, span<const O, host> slice_offsets, std::int64_t height) {
  return find_first(ctx, slice_offsets.size() - 1,
                    [=](std::int64_t s) { return (slice_offsets[s + 1] - slice_offsets[s]) % height != 0; });
}

template <index_type I, index_type O>
std::int64_t find_long_slot(const context<host>& ctx, span<const O, host> slice_offsets,
                            span<const I, host> permutation, span<const I, host> lengths, std::int64_t height) {
  return find_first(ctx, lengths.size(), [=](std::int64_t s) {
    const std::int64_t width = (slice_offsets[s / height + 1] - slice_offsets[s / height]) / height;
    return lengths[s] < 0 || lengths[s] > (permutation[s] < 0 ? 0 : width);
  });
}

template <index_type I>
void claim_rows(const context<host>& ctx, span<const I, host> permutation, span<std::uint64_t, host> owner) {
  fill_bytes(ctx, owner.data(), 0xff, static_cast<std::size_t>(owner.size()) * sizeof(std::uint64_t));
  parallel_for(ctx.threads(), permutation.size(), grain::elements, [&](std::int64_t s) {
    if (permutation[s] < 0) return;
    const std::atomic_ref claim(owner[permutation[s]]);
    std::uint64_t holder = claim.load(std::memory_order_relaxed);
    const auto slot = static_cast<std::uint64_t>(s);
    while (slot < holder && !claim.compare_exchange_weak(holder, slot, std::memory_order_relaxed)) {
    }
  });
}

template <index_type I>
std::int64_t find_repeated(const context<host>& ctx, span<const I, host> permutation,
                           span<const std::uint64_t, host> owner) {
  return find_first(ctx, permutation.size(), [=](std::int64_t s) {
    return permutation[s] >= 0 && owner[permutation[s]] != static_cast<std::uint64_t>(s);
  });
}

std::int64_t find_unclaimed(const context<host>& ctx, span<const std::uint64_t, host> owner) {
  return find_first(ctx, owner.size(), [=](std::int64_t r) { return owner[r] == UINT64_MAX; });
}

template <index_type I>
std::int64_t sum_lengths(const context<host>& ctx, span<const I, host> lengths) {
  return parallel_reduce(
      ctx.threads(), lengths.size(), grain::elements, std::int64_t{0},
      [&](std::int64_t first, std::int64_t last) {
        std::int64_t sum = 0;
        for (std::int64_t s = first; s < last; ++s) sum += lengths[s];
        return sum;
      },
      std::plus<>{});
}

#define INSTANTIATE_I(I)                                                                                           \
  template std::int64_t find_decrease(const context<host>&, span<const I, host>);                                  \
  template std::int64_t find_outside(const context<host>&, span<const I, host>, std::int64_t, std::int64_t);       \
  template std::int64_t find_uneven_slice(const context<host>&, span<const I, host>, std::int64_t);                \
  template void claim_rows(const context<host>&, span<const I, host>, span<std::uint64_t, host>);                  \
  template std::int64_t find_repeated(const context<host>&, span<const I, host>, span<const std::uint64_t, host>); \
  template std::int64_t sum_lengths(const context<host>&, span<const I, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

#define INSTANTIATE_IO(I, O)                                                                            \
  template std::int64_t find_unordered(const context<host>&, span<const O, host>, span<const I, host>); \
  template std::int64_t find_long_slot(const context<host>&, span<const O, host>, span<const I, host>,  \
                                       span<const I, host>, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)

}  // namespace spargo::detail::validate

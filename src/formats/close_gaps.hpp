// Blocks of an array that have become shorter, closed up where they stand.
//
// Idea: shares of blocks are moved forward at the same time. The first entries of a share go where an earlier share may
// still be reading: they are held back in memory of their own until all shares have moved.
// Cost: every entry once, and the held ones twice; memory for at most shares * entries gone.
#pragma once

#include "primitives/parts.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>

namespace spargo::detail {

// Block b was [starts[b], starts[b + 1]), and the first `gaps[b + 1] - gaps[b]` fewer of it remain.
struct shortened_blocks {
  span<const std::int64_t, host> starts;
  span<const std::int64_t, host> gaps;  // entries gone before each block, and in all

  [[nodiscard]] std::int64_t count() const { return gaps.size() - 1; }
  [[nodiscard]] std::int64_t gone() const { return gaps[count()]; }
  [[nodiscard]] std::int64_t kept(std::int64_t b) const { return starts[b + 1] - starts[b] - (gaps[b + 1] - gaps[b]); }
  [[nodiscard]] std::int64_t place(std::int64_t b) const { return starts[b] - gaps[b]; }
};

// To another array, of the right size.
template <class T>
void copy_blocks(const context<host>& ctx, const shortened_blocks& blocks, const T* from, T* to) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static)
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    std::copy_n(from + blocks.starts[b], blocks.kept(b), to + blocks.place(b));
  }
}

// Where they stand.
template <class T>
void close_gaps(const context<host>& ctx, const shortened_blocks& blocks, const parts& shares, T* data) {
  array<std::int64_t, host> held(ctx, shares.count + 1);  // where each share's held entries begin
  held[0] = 0;
  for (std::int64_t s = 0; s < shares.count; ++s) held[s + 1] = held[s] + blocks.gaps[shares.first(s)];
  array<T, host> heads(ctx, held[shares.count]);
  array<std::int64_t, host> counts(ctx, shares.count);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t s = 0; s < shares.count; ++s) {
    T* const head = heads.data() + held[s];
    const std::int64_t room = held[s + 1] - held[s];
    std::int64_t count = 0;
    for (std::int64_t b = shares.first(s); b < shares.last(s); ++b) {
      T* const from = data + blocks.starts[b];
      const std::int64_t kept = blocks.kept(b);
      const std::int64_t held_here = std::min(kept, room - count);
      std::copy_n(from, held_here, head + count);
      count += held_here;
      if (blocks.gaps[b] > 0) std::copy(from + held_here, from + kept, data + blocks.place(b) + held_here);
    }
    counts[s] = count;
  }
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t s = 0; s < shares.count; ++s) {
    std::copy_n(heads.data() + held[s], counts[s], data + blocks.place(shares.first(s)));
  }
}

}  // namespace spargo::detail

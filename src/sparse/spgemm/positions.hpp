// Where a row's columns are: a hash table from columns to positions within the row, by linear probing.
#pragma once

#include <spargo/core/array.hpp>

#include <bit>
#include <cstdint>

namespace spargo::detail::spgemm {

template <class I>
class position_table {
 public:
  // For rows of at most `most` columns.
  position_table(const context<host>& ctx, std::int64_t most) : slots_(ctx, size_for(most)) {}

  [[nodiscard]] std::int64_t bytes() const { return slots_.size() * static_cast<std::int64_t>(sizeof(slot)); }
  [[nodiscard]] static std::int64_t bytes_for(std::int64_t most) {
    return size_for(most) * static_cast<std::int64_t>(sizeof(slot));
  }

  // Of equal columns the last has the position.
  void load(const I* columns, std::int64_t count) {
    const std::int64_t size = size_for(count);
    mask_ = size - 1;
    shift_ = 64 - std::countr_zero(static_cast<std::uint64_t>(size));
    for (std::int64_t s = 0; s < size; ++s) slots_[s].column = -1;
    for (std::int64_t k = 0; k < count; ++k) *slot_of(columns[k]) = {columns[k], static_cast<I>(k)};
  }

  // -1: the row lacks this column.
  [[nodiscard]] I find(I column) const {
    const slot* const found = const_cast<position_table*>(this)->slot_of(column);
    return found->column < 0 ? I{-1} : found->position;
  }

 private:
  struct slot {
    I column;
    I position;
  };

  // At most half full, with one empty slot at least.
  static std::int64_t size_for(std::int64_t columns) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * columns + 2)));
  }
  // The column's slot, or the empty one where it would be.
  slot* slot_of(I column) {
    auto s = static_cast<std::int64_t>((static_cast<std::uint64_t>(column) * 0x9e3779b97f4a7c15ULL) >> shift_);
    slot* const slots = slots_.data();
    while (slots[s].column >= 0 && slots[s].column != column) s = (s + 1) & mask_;
    return slots + s;
  }

  array<slot, host> slots_;
  std::int64_t mask_ = 0;
  int shift_ = 63;
};

}  // namespace spargo::detail::spgemm

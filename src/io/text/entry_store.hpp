// Entries that grow at the end while threads write parts of them: the result of a text reader in the making.
//
// Idea: a part that fits into the room there is goes straight to its place; one that does not waits in a store of its
// own. Room that nobody has touched costs address space and no memory, so it may be generous.
#pragma once

#include "core/touch.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/coo.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail {

// Where a thread puts entries.
template <class V, class I>
struct entry_sink {
  I* rows = nullptr;
  I* cols = nullptr;
  V* values = nullptr;  // null where none are kept
};

template <class V, class I>
struct entry_store {
  array<I, host> rows;
  array<I, host> cols;
  array<V, host> values;               // empty where none are kept
  bool keeps_values = !is_pattern<V>;  // to be settled before it grows

  // Of the smallest array: one that could not grow after the others leaves it as it was.
  [[nodiscard]] std::int64_t capacity() const {
    const std::int64_t places = std::min(rows.size(), cols.size());
    return keeps_values ? std::min(places, values.size()) : places;
  }

  [[nodiscard]] entry_sink<V, I> from(std::int64_t first) {
    return {rows.data() + first, cols.data() + first, keeps_values ? values.data() + first : nullptr};
  }

  // Room for `wanted` entries, of which the first `used` are kept.
  void grow(const context<host>& ctx, std::int64_t used, std::int64_t wanted) {
    const auto move = [&]<class T>(array<T, host>& to) {
      array<T, host> larger(ctx, wanted);
      if (used > 0) copy<T>(ctx, std::as_const(to).view().subspan(0, used), larger.view().subspan(0, used));
      to = std::move(larger);
    };
    move(rows);
    move(cols);
    if (keeps_values) move(values);
  }

  // Entries [first, last), of which nothing is kept, are about to be written.
  void touch(const context<host>& ctx, std::int64_t first, std::int64_t last) {
    const auto touch_part = [&]<class T>(array<T, host>& of) {
      touch_pages(ctx.threads(), of.data() + first, (last - first) * std::int64_t{sizeof(T)});
    };
    touch_part(rows);
    touch_part(cols);
    if (keeps_values) touch_part(values);
  }

  // Room for `wanted` entries; none is kept.
  void ensure(const context<host>& ctx, std::int64_t wanted) {
    if (capacity() < wanted) grow(ctx, 0, wanted);
  }

  // `count` entries to `place`; from this store they may come from further behind.
  void put(const entry_sink<V, I>& from, std::int64_t count, std::int64_t place) {
    std::copy_n(from.rows, count, rows.data() + place);
    std::copy_n(from.cols, count, cols.data() + place);
    if (keeps_values) std::copy_n(from.values, count, values.data() + place);
  }

  [[nodiscard]] coo_matrix<V, I, host> release(I row_count, I col_count, std::int64_t count) {
    rows.truncate(count);
    cols.truncate(count);
    if (keeps_values) values.truncate(count);
    return {row_count, col_count, std::move(rows), std::move(cols), std::move(values)};
  }
};

}  // namespace spargo::detail

// Growing entry arrays that threads write in parts: the result of a text reader while it is read.
//
// Idea: a part that fits is written in place, others wait in a store of their own. Untouched capacity costs no memory.
#pragma once

#include "core/touch.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/coo.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail {

// Destination of a thread's entries.
template <class V, class I>
struct entry_sink {
  I* rows = nullptr;
  I* cols = nullptr;
  V* values = nullptr;  // null if values are dropped
};

template <class V, class I>
struct entry_store {
  array<I, host> rows;
  array<I, host> cols;
  array<V, host> values;               // empty if values are dropped
  bool keeps_values = !is_pattern<V>;  // set before the store grows

  // Of the smallest array, so that a failure to grow one of them leaves the store unchanged.
  [[nodiscard]] std::int64_t capacity() const {
    const std::int64_t places = std::min(rows.size(), cols.size());
    return keeps_values ? std::min(places, values.size()) : places;
  }

  [[nodiscard]] entry_sink<V, I> from(std::int64_t first) {
    return {rows.data() + first, cols.data() + first, keeps_values ? values.data() + first : nullptr};
  }

  // Grows to `wanted` entries, keeping the first `used`.
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

  // Touches the pages of entries [first, last), which are about to be written.
  void touch(const context<host>& ctx, std::int64_t first, std::int64_t last) {
    const auto touch_part = [&]<class T>(array<T, host>& of) {
      touch_pages(ctx.threads(), of.data() + first, (last - first) * std::int64_t{sizeof(T)});
    };
    touch_part(rows);
    touch_part(cols);
    if (keeps_values) touch_part(values);
  }

  // Room for `wanted` entries; earlier ones are lost.
  void ensure(const context<host>& ctx, std::int64_t wanted) {
    if (capacity() < wanted) grow(ctx, 0, wanted);
  }

  // Copies `count` entries to `place`; they may come from a later place of this store.
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

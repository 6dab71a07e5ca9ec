// Expands a sorted triangle to the rows of the symmetric matrix. The triangle is sorted by column or by row, without
// duplicates, as in most Matrix Market files.
//
// Half of the result is already in place: the entries of column (or row) j are a run in the input and, in input order,
// the part of row j on one side of the diagonal. Only the other side goes through the buckets of row_buckets.hpp;
// entries of a bucket ascend by column, so nothing is sorted.
// Invariant: a diagonal entry, the first or last of its run, belongs to the other side.
// Cost: half of the bucket traffic, one pass over each run.
#pragma once

#include "core/parallel.hpp"
#include "formats/convert/backend.hpp"
#include "formats/rows/bucket_sort.hpp"

#include <cstring>
#include <utility>

namespace spargo::detail::convert {

[[nodiscard]] inline bool has_runs(const coo_facts& order) {
  return order.distinct && (order.sorted || order.by_columns) && (order.all_below || order.all_above);
}

template <class V, class I, class O>
class triangle_runs {
 public:
  // `order` from `examine`, with has_runs.
  triangle_runs(const coo_entries<V, I>& m, const coo_facts& order, symmetry_kind kind)
      : by_columns_(order.by_columns),
        to_the_right_(by_columns_ ? order.all_below : order.all_above),
        kind_(kind),
        diagonal_(order.diagonal),
        majors_(by_columns_ ? m.col_indices : m.row_indices),
        minors_(by_columns_ ? m.row_indices : m.col_indices),
        values_(m.values) {}

  [[nodiscard]] span<const I, host> majors() const { return majors_; }

  // The entries of the other side, with rows and columns of the result; in each row columns ascend.
  [[nodiscard]] coo_entries<V, I> across(I rows) const { return {{rows, rows, minors_, majors_}, values_}; }

  void set_starts(span<const O, host> starts) { starts_ = starts; }

  // Where each bucket's rows start in the result, and the end; `across` are the starts of the other side's buckets.
  [[nodiscard]] array<std::int64_t, host> bucket_starts(const context<host>& ctx, const row_buckets& buckets,
                                                        const array<std::int64_t, host>& across) const {
    array<std::int64_t, host> sizes(ctx, buckets.count + 1);
    parallel_parts(ctx.threads(), buckets.count,
                   [&](std::int64_t b) { sizes[b] = entries_of_runs(buckets.first(b), buckets.last(b)); });
    sizes[buckets.count] = 0;
    std::int64_t before = 0;
    for (std::int64_t b = 0; b <= buckets.count; ++b) before += std::exchange(sizes[b], across[b] + before);
    return sizes;
  }

  // Gathers rows from `first_row` on; the bucket's `n` keys and values are their other side. `at` gets row starts.
  template <class Key, class C>
  void gather(const key_shape& shape, std::int64_t first_row, const Key* keys, const V* values, std::int64_t n,
              span<O, host> at, const row_scratch<C, V>& to) const {
    std::fill(at.begin(), at.end(), O{0});
    for (std::int64_t k = 0; k < n; ++k) ++at[shape.row(keys[k])];
    O before = 0;
    for (std::int64_t r = 0; r < at.size(); ++r) {  // from here on `at` is where the row's next other-side entry goes
      const run part = run_of(first_row + r);
      const O across = at[r];
      copy(part, to_the_right_ ? before + across : before, to);
      at[r] = static_cast<O>(to_the_right_ ? before : before + part.size());
      before = static_cast<O>(before + across + part.size());
    }
    place_across(shape, first_row, keys, values, n, at, to);
    if (to_the_right_) {
      for (std::int64_t r = 0; r < at.size(); ++r) at[r] = static_cast<O>(at[r] + run_of(first_row + r).size());
    }
    // Each start has advanced to the end of its row, the start of the next.
    std::copy_backward(at.begin(), at.end() - 1, at.end());
    at[0] = 0;
  }

 private:
  struct run {
    O begin;
    O end;
    [[nodiscard]] O size() const { return static_cast<O>(end - begin); }
  };

  // The run of a row, without the diagonal.
  [[nodiscard]] run run_of(std::int64_t row) const {
    run part{starts_[row], starts_[row + 1]};
    if (diagonal_ == 0 || part.begin == part.end) return part;
    if (to_the_right_) {
      part.begin = static_cast<O>(part.begin + (minors_[part.begin] == row ? 1 : 0));
    } else {
      part.end = static_cast<O>(part.end - (minors_[part.end - 1] == row ? 1 : 0));
    }
    return part;
  }

  [[nodiscard]] std::int64_t entries_of_runs(std::int64_t first_row, std::int64_t last_row) const {
    const std::int64_t all = starts_[last_row] - starts_[first_row];
    if (diagonal_ == 0) return all;
    if (diagonal_ == starts_.size() - 1) return all - (last_row - first_row);
    std::int64_t size = 0;
    for (std::int64_t r = first_row; r < last_row; ++r) size += run_of(r).size();
    return size;
  }

  template <class C>
  void copy(const run& part, std::int64_t place, const row_scratch<C, V>& to) const {
    const std::int64_t size = part.size();
    copy_columns(part.begin, size, to.cols + place);
    if constexpr (!is_pattern<V>) {
      if (by_columns_ && kind_ != symmetry_kind::symmetric) {
        for (std::int64_t k = 0; k < size; ++k) to.values[place + k] = mirrored(values_[part.begin + k], kind_);
      } else {
        std::copy_n(values_.data() + part.begin, size, to.values + place);
      }
    }
  }

  // Copies several at a time, past the end, where later writes overwrite them: runs are short, and a mispredicted
  // length costs more than the copy.
  template <class C>
  void copy_columns(std::int64_t from, std::int64_t size, C* to) const {
    if constexpr (sizeof(C) == sizeof(I)) {
      if (from + size + row_slack <= minors_.size()) {
        for (std::int64_t k = 0; k < size; k += row_slack) {
          std::memcpy(to + k, minors_.data() + from + k, row_slack * sizeof(C));
        }
        return;
      }
    }
    for (std::int64_t k = 0; k < size; ++k) to[k] = static_cast<C>(minors_[from + k]);
  }

  template <class Key, class C>
  void place_across(const key_shape& shape, std::int64_t first_row, const Key* keys, const V* values, std::int64_t n,
                    span<O, host> at, const row_scratch<C, V>& to) const {
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t row = shape.row(keys[k]);
      const Key col = shape.col(keys[k]);
      const std::int64_t place = at[row]++;
      to.cols[place] = static_cast<C>(col);
      if constexpr (!is_pattern<V>) {
        const bool as_stored = by_columns_ || static_cast<std::int64_t>(col) == first_row + row;
        to.values[place] = as_stored ? values[k] : mirrored(values[k], kind_);
      }
    }
  }

  bool by_columns_;
  bool to_the_right_;  // whether runs are right of the diagonal
  symmetry_kind kind_;
  std::int64_t diagonal_;       // entries on the diagonal
  span<const I, host> majors_;  // sort key of the entries
  span<const I, host> minors_;
  span<const V, host> values_;
  span<const O, host> starts_;
};

}  // namespace spargo::detail::convert

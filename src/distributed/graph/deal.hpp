// Redistributes entries to the ranks that own their rows, and renumbers columns locally.
#pragma once

#include "core/id_bitmap.hpp"
#include "core/parallel.hpp"
#include "distributed/exchange/block_owners.hpp"
#include "distributed/exchange/local_columns.hpp"

#include <spargo/distributed/exchange.hpp>
#include <spargo/formats/coo.hpp>

#include <fmt/format.h>
#include <algorithm>

#include <limits>

namespace spargo::detail::distributed {

// Entry k of a share emits visit(k, put): put(row, column, value), any number of times.
template <class V, class Visit>
class dealer {
 public:
  dealer(const communicator& comm, const context<host>& ctx, std::int64_t entries, std::int64_t rows, Visit visit)
      : comm_(comm), ctx_(ctx), entries_(entries), rows_(rows), visit_(std::move(visit)) {}

  // Partitions the rows by emitted entries.
  [[nodiscard]] partition balance() const {
    std::vector<std::int64_t> counts;
    comm_.agree_on([&] {
      counts.assign(static_cast<std::size_t>(div_up(rows_, partition::grain)), 0);
      std::int64_t* const blocks = counts.data();
      parallel_for(ctx_.threads(), entries_, grain::elements, [&](std::int64_t k) {
        visit_(k, [&](std::int64_t row, std::int64_t, const V&) {
          std::atomic_ref<std::int64_t>(blocks[row / partition::grain]).fetch_add(1, std::memory_order_relaxed);
        });
      });
    });
    return balanced_partition(comm_, rows_, counts);
  }

  // Entries of this rank's rows in rank order, then share order; rows from 0.
  template <class I>
  [[nodiscard]] coo_matrix<V, I, host> deal(const partition& parts, std::int64_t cols) const {
    const auto ranks = static_cast<std::size_t>(comm_.size());
    std::vector<std::int64_t> counts(ranks);
    array<I, host> row_buffer;
    array<I, host> column_buffer;
    array<V, host> values;
    comm_.agree_on([&] {
      const block_owners owners(parts);
      const spargo::detail::parts slices = split(entries_, ctx_.threads(), grain::elements);
      std::vector<std::int64_t> next(static_cast<std::size_t>(slices.count) * ranks);
      for_slices(slices, [&](std::int64_t slice, std::int64_t k) {
        visit_(k, [&](std::int64_t row, std::int64_t, const V&) {
          ++next[static_cast<std::size_t>(slice) * ranks + static_cast<std::size_t>(owners.of(row))];
        });
      });
      std::int64_t total = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        const std::int64_t before = total;
        for (std::size_t s = 0; s < static_cast<std::size_t>(slices.count); ++s) {
          total += std::exchange(next[s * ranks + r], total);
        }
        counts[r] = total - before;
      }
      row_buffer = {ctx_, total};
      column_buffer = {ctx_, total};
      if constexpr (!is_pattern<V>) values = {ctx_, total};
      for_slices(slices, [&](std::int64_t slice, std::int64_t k) {
        visit_(k, [&](std::int64_t row, std::int64_t column, const V& value) {
          const std::size_t owner = static_cast<std::size_t>(owners.of(row));
          const std::int64_t to = next[static_cast<std::size_t>(slice) * ranks + owner]++;
          row_buffer[to] = static_cast<I>(row - parts.offsets[owner]);
          column_buffer[to] = static_cast<I>(column);
          if constexpr (!is_pattern<V>) values[to] = value;
        });
      });
    });
    std::vector<std::int64_t> received;
    auto rows = comm_.all_to_all<I>(ctx_, row_buffer.view(), counts, received);
    row_buffer = {};
    auto columns = comm_.all_to_all<I>(ctx_, column_buffer.view(), counts, received);
    column_buffer = {};
    if constexpr (!is_pattern<V>) values = comm_.all_to_all<V>(ctx_, values.view(), counts, received);
    return {static_cast<I>(parts.count(comm_.rank())), static_cast<I>(cols), std::move(rows), std::move(columns),
            std::move(values)};
  }

 private:
  template <class Body>
  void for_slices(const spargo::detail::parts& slices, const Body& body) const {
    parallel_parts(ctx_.threads(), slices.count, [&](std::int64_t s) {
      for (std::int64_t k = slices.first(s), last = slices.last(s); k < last; ++k) body(s, k);
    });
  }

  const communicator& comm_;
  const context<host>& ctx_;
  std::int64_t entries_;
  std::int64_t rows_;
  Visit visit_;
};

// A rank's columns, numbered anew: its own part first. Not collective. Memory: one bit per global column, three while
// ghosts are numbered.
template <class I>
[[nodiscard]] local_columns number_columns(const context<host>& ctx, span<const I, host> columns,
                                           const partition& parts, int rank) {
  const std::int64_t first = parts.first(rank);
  const std::int64_t last = parts.last(rank);
  local_columns made;
  made.own = last - first;
  made.indices = {ctx, columns.size()};
  id_bitmap<I> others;
  others.grow(ctx, parts.size());
  const auto is_own = [&](I column) { return column >= first && column < last; };
  parallel_for(ctx.threads(), columns.size(), grain::elements, [&](std::int64_t k) {
    if (!is_own(columns[k])) others.mark(&columns[k], 1);
  });
  made.ghosts = others.finish(ctx);
  if (made.size() > std::numeric_limits<std::int32_t>::max()) {
    throw error(error_code::unsupported,
                fmt::format("a rank has {} columns, {} of them of other ranks (expected at most 2^31 - 1)", made.size(),
                            made.ghosts.size()));
  }
  parallel_for(ctx.threads(), columns.size(), grain::elements, [&](std::int64_t k) {
    const I column = columns[k];
    made.indices[k] = static_cast<std::int32_t>(is_own(column) ? column - first : made.own + others.rank(column));
  });
  return made;
}

}  // namespace spargo::detail::distributed

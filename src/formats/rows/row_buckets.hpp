// First half of a sort by rows: distributes entries to buckets of consecutive rows that fit a core's cache.
//
// An entry becomes a key: its row within the bucket above its column, as narrow as the matrix allows, so that a bucket
// sorts as integers and memory traffic is small. Threads count their share of the input per bucket, a scan gives each
// its place in every bucket, then they write. Writing entry by entry would touch a cache line and a page each, so each
// thread collects one cache line per bucket and streams it to memory when full.
// Invariant: stable, so the result does not depend on the number of threads.
// Cost: two passes over the rows, one over columns and values; the caller has room for a key and a value per entry.
// Source: propagation blocking (Beamer, Asanovic, Patterson, IPDPS 2017); write-combining buffers as in Satish et al.,
// "Fast sort on CPUs and GPUs" (SIGMOD 2010).
#pragma once

#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "primitives/simd/stream.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/convert.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace spargo::detail::convert {

struct bucket_tuning {
  // Keys and values of a bucket. 20 million random entries, two threads of a Xeon, distributed and sorted: 192 ms with
  // 4096 buckets of this size, 213 with 1024, 198 with 8192.
  static constexpr std::int64_t bucket_bytes = 64 << 10;
  static constexpr std::int64_t max_buckets = 4096;
  static constexpr std::int64_t share = 1 << 15;  // least entries per thread, as in formats/convert/coo_host.cpp
  // Larger results bypass the caches, as in scan_host.cpp.
  static constexpr std::int64_t streamed_bytes = 32 << 20;
};

enum class store_path { cached, streamed };

template <class T>
[[nodiscard]] constexpr store_path path_of(std::int64_t count) {
  return count * std::int64_t{sizeof(T)} < bucket_tuning::streamed_bytes ? store_path::cached : store_path::streamed;
}

// Bucket b holds rows [b << shift, (b + 1) << shift).
struct row_buckets {
  std::int64_t rows = 0;
  int shift = 0;
  std::int64_t count = 0;

  row_buckets() = default;
  row_buckets(std::int64_t row_count, std::int64_t wanted) : rows(row_count) {
    wanted = std::clamp<std::int64_t>(wanted, 1, bucket_tuning::max_buckets);
    const auto rows_each = static_cast<std::uint64_t>(div_up(std::max<std::int64_t>(rows, 1), wanted));
    shift = static_cast<int>(std::bit_width(rows_each - 1));
    count = rows == 0 ? 0 : ((rows - 1) >> shift) + 1;
  }
  [[nodiscard]] std::int64_t first(std::int64_t bucket) const { return bucket << shift; }
  [[nodiscard]] std::int64_t last(std::int64_t bucket) const { return std::min(rows, (bucket + 1) << shift); }
};

// Row within the bucket (upper bits) and column of an entry as one number.
struct key_shape {
  row_buckets buckets;
  int col_bits = 0;

  [[nodiscard]] int bits() const { return col_bits + buckets.shift; }
  template <class Key>
  [[nodiscard]] std::int64_t row(Key key) const {
    return static_cast<std::int64_t>(key >> col_bits);  // within the bucket
  }
  template <class Key>
  [[nodiscard]] Key col(Key key) const {
    return key & ((Key{1} << col_bits) - 1);
  }
};

// Memory for entries, aligned to a cache line.
template <class Key, class V>
struct key_room {
  Key* keys = nullptr;
  V* values = nullptr;  // null for a pattern
};

// Entries in bucket order, in input order within a bucket.
template <class Key, class V>
struct bucketed_entries {
  array<std::int64_t, host> starts;  // buckets + 1
  key_room<Key, V> room;

  [[nodiscard]] std::int64_t size(std::int64_t bucket) const { return starts[bucket + 1] - starts[bucket]; }
  [[nodiscard]] const Key* keys(std::int64_t bucket) const { return room.keys + starts[bucket]; }
  [[nodiscard]] const V* values(std::int64_t bucket) const {
    return is_pattern<V> ? nullptr : room.values + starts[bucket];
  }
};

template <class Key, class V>
class bucket_writer {
 public:
  static constexpr std::size_t line_bytes = 64;
  // Entries buffered per bucket: a cache line of the smaller of key and value, so that both are streamed together.
  static constexpr std::int64_t lanes =
      static_cast<std::int64_t>(line_bytes / (is_pattern<V> ? sizeof(Key) : std::min(sizeof(Key), sizeof(V))));

  // `next` is where each bucket's next entry goes; `keys` and `values` are this share's buffers, `lanes` per bucket.
  bucket_writer(const key_shape& shape, std::int64_t* next, std::int64_t* first, Key* keys, V* values,
                const bucketed_entries<Key, V>& to)
      : shift_(static_cast<std::uint16_t>(shape.buckets.shift)),
        col_bits_(static_cast<std::uint16_t>(shape.col_bits)),
        buckets_(shape.buckets.count),
        path_(path_of<Key>(to.starts[shape.buckets.count])),
        next_(next),
        first_(first),
        keys_(keys),
        values_(values),
        to_(to.room) {
    std::copy_n(next_, shape.buckets.count, first_);
  }

  template <class I>
  void put(I row, I col, const V& value) {
    const auto bucket = static_cast<std::int64_t>(row >> shift_);
    const std::int64_t place = next_[bucket]++;
    const std::int64_t lane = place & (lanes - 1);
    const auto row_in_bucket = static_cast<Key>(row - static_cast<I>(bucket << shift_));
    keys_[bucket * lanes + lane] = static_cast<Key>(row_in_bucket << col_bits_) | static_cast<Key>(col);
    if constexpr (!is_pattern<V>) values_[bucket * lanes + lane] = value;
    if (lane == lanes - 1) flush(bucket, place + 1 - lanes);
  }

  void finish() {
    for (std::int64_t b = 0; b < buckets_; ++b) {
      const std::int64_t waiting = next_[b] & (lanes - 1);
      if (waiting != 0) copy_some(b, std::max(first_[b], next_[b] - waiting), next_[b]);
    }
    finish_streaming();
  }

 private:
  // Writes a full line to `place`; entries before this share's first belong to another share.
  void flush(std::int64_t bucket, std::int64_t place) {
    if (place < first_[bucket] || path_ == store_path::cached) {
      return copy_some(bucket, std::max(first_[bucket], place), place + lanes);
    }
    stream_bytes(to_.keys + place, keys_ + bucket * lanes, lanes * sizeof(Key));
    if constexpr (!is_pattern<V>) {
      stream_bytes(to_.values + place, values_ + bucket * lanes, lanes * sizeof(V));
    }
  }

  void copy_some(std::int64_t bucket, std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      to_.keys[k] = keys_[bucket * lanes + (k & (lanes - 1))];
      if constexpr (!is_pattern<V>) to_.values[k] = values_[bucket * lanes + (k & (lanes - 1))];
    }
  }

  // In types that no entry has: otherwise the compiler would reload them after each store.
  const std::uint16_t shift_;
  const std::uint16_t col_bits_;
  const std::int64_t buckets_;
  const store_path path_;
  std::int64_t* next_;
  std::int64_t* first_;
  Key* keys_;
  V* values_;
  const key_room<Key, V> to_;
};

// Like coo_view, but also for positions as values.
template <class V, class I>
struct coo_entries : coo_pattern_view<I, host> {
  span<const V, host> values;
};

template <class V, class I>
V value_of(const coo_entries<V, I>& m, std::int64_t k) {
  if constexpr (is_pattern<V>) {
    return {};
  } else {
    return m.values[k];
  }
}

// The value at (j, i) for a `value` stored at (i, j).
template <class V>
V mirrored(V value, symmetry_kind kind) {
  if constexpr (!is_pattern<V>) {
    if (kind == symmetry_kind::skew_symmetric) return -value;
  }
  if constexpr (complex_type<V>) {
    if (kind == symmetry_kind::hermitian) return std::conj(value);
  }
  return value;
}

// Where each share's entries of each bucket go.
struct bucket_places {
  parts shares;
  array<std::int64_t, host> next;    // per share and bucket
  array<std::int64_t, host> starts;  // buckets + 1

  [[nodiscard]] std::int64_t total() const { return starts[starts.size() - 1]; }
};

// Unless the matrix is general, each off-diagonal entry is followed by its mirror image.
template <class I>
bucket_places find_places(const context<host>& ctx, const coo_pattern_view<I, host>& m, const row_buckets& to,
                          symmetry_kind kind) {
  const std::int64_t buckets = to.count;
  const int shift = to.shift;
  const parts shares = split(m.nnz(), ctx.threads(), bucket_tuning::share);
  bucket_places places{shares, {ctx, shares.count * buckets}, {ctx, buckets + 1}};
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    std::int64_t* const mine = places.next.data() + p * buckets;
    std::fill_n(mine, buckets, 0);
    const std::int64_t last = shares.last(p);
    if (kind == symmetry_kind::general) {
      for (std::int64_t k = shares.first(p); k < last; ++k) ++mine[m.row_indices[k] >> shift];
      return;
    }
    for (std::int64_t k = shares.first(p); k < last; ++k) {
      ++mine[m.row_indices[k] >> shift];
      mine[m.col_indices[k] >> shift] += m.row_indices[k] != m.col_indices[k] ? 1 : 0;
    }
  });
  std::int64_t before = 0;
  for (std::int64_t b = 0; b < buckets; ++b) {
    places.starts[b] = before;
    for (std::int64_t p = 0; p < shares.count; ++p) before += std::exchange(places.next[p * buckets + b], before);
  }
  places.starts[buckets] = before;
  return places;
}

// `places` from find_places; `room` is for all entries.
template <class Key, class V, class I>
bucketed_entries<Key, V> distribute(const context<host>& ctx, const coo_entries<V, I>& m, const key_shape& shape,
                                    symmetry_kind kind, bucket_places places, const key_room<Key, V>& room) {
  const std::int64_t buckets = shape.buckets.count;
  const parts shares = places.shares;
  bucketed_entries<Key, V> to{std::move(places.starts), room};
  using writer = bucket_writer<Key, V>;
  const std::int64_t lines = shares.count * buckets * writer::lanes;
  array<std::int64_t, host> first(ctx, places.next.size());
  array<Key, host> key_lines(ctx, lines);
  array<V, host> value_lines(ctx, is_pattern<V> ? 0 : lines);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    const std::int64_t mine = p * buckets;
    writer write(shape, places.next.data() + mine, first.data() + mine, key_lines.data() + mine * writer::lanes,
                 is_pattern<V> ? nullptr : value_lines.data() + mine * writer::lanes, to);
    if (kind == symmetry_kind::general) {
      for (std::int64_t k = shares.first(p), last = shares.last(p); k < last; ++k) {
        write.put(m.row_indices[k], m.col_indices[k], value_of(m, k));
      }
    } else {
      for (std::int64_t k = shares.first(p), last = shares.last(p); k < last; ++k) {
        const V value = value_of(m, k);
        write.put(m.row_indices[k], m.col_indices[k], value);
        if (m.row_indices[k] != m.col_indices[k]) {
          write.put(m.col_indices[k], m.row_indices[k], mirrored(value, kind));
        }
      }
    }
    write.finish();
  });
  return to;
}

}  // namespace spargo::detail::convert

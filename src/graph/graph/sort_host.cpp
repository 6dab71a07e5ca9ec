// Sorting 64-bit keys on the host: by the highest digit through memory, then each bucket by the others in the caches.
//
// First, all threads together, by the highest digit: each thread counts the digits of its own part of the keys; sums of
// the counts, digit by digit and within a digit thread by thread, tell where each part's keys of each digit go, so that
// the pass is stable for any thread count. Keys go out through one cache line per digit, streamed when it is full, so
// no line of memory is read to be written. Then bucket by bucket, a thread each, by the lower digits, least significant
// first, between two places that a core's own cache holds. A bucket so large that the other threads would wait for it
// is sorted by all of them, digit by digit as above. Invariant: a bucket takes the same room in both arrays.
// Cost: O(keys) a digit, one digit through memory; scratch as much as the keys.
// Source: Wassenberg and Sanders, Engineering a multi-core radix sort, Euro-Par 2011.
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "graph/graph/common.hpp"
#include "primitives/simd/stream.hpp"

#include <algorithm>
#include <utility>

namespace spargo::detail {

namespace {

// Sapphire Rapids, two threads, 2^24 keys of 40 bits, ms for digits of 8, 10 and 11 bits in buckets of 2^14, 2^14 and
// 2^15 keys: 204, 160, 169; 10 bits in buckets of 2^16: 192. All digits through memory: 267 streamed, 340 not.
struct sort_tuning {
  static constexpr int digit_bits = 10;            // at most; counters and lines of a digit stay in the L2 cache
  static constexpr std::int64_t bucket = 1 << 14;  // keys: 128 KiB and as much again for the other place
  static constexpr std::int64_t share = 1 << 14;   // keys per thread at least: 100 us of work
  static constexpr std::int64_t insertion = 32;    // keys; a pass over counters costs as much as inserting so many
};

constexpr std::size_t bins = std::size_t{1} << sort_tuning::digit_bits;
constexpr std::size_t line = 8;  // keys

struct digit_of {
  int shift = 0;
  std::uint64_t mask = 0;
  [[nodiscard]] std::size_t operator()(std::uint64_t key) const { return (key >> shift) & mask; }
};

// One part's lines. A key waits in its digit's line, in the place that it has in the line of memory it goes to; a full
// line is streamed past the caches.
class alignas(64) line_writer {
 public:
  // starts[d]: the first key of digit d in `to`. Places are counted from the line of memory that `to` lies in.
  line_writer(std::uint64_t* to, const std::int64_t* starts) {
    const std::size_t ahead = reinterpret_cast<std::uintptr_t>(to) / sizeof(std::uint64_t) % line;
    to_ = to - ahead;
    for (std::size_t digit = 0; digit < bins; ++digit) {
      start_[digit] = next_[digit] = static_cast<std::uint64_t>(starts[digit]) + ahead;
    }
  }

  void put(std::size_t digit, std::uint64_t key) {
    const std::uint64_t at = next_[digit]++;
    lines_[digit][at % line] = key;
    if (at % line == line - 1) flush(digit, at + 1 - line);
  }

  void finish() {
    for (std::size_t digit = 0; digit < bins; ++digit) {
      copy_out(digit, std::max(start_[digit], next_[digit] / line * line), next_[digit]);
    }
    finish_streaming();
  }

 private:
  // The line of memory that begins at `first`; it belongs to this part from start_ on.
  void flush(std::size_t digit, std::uint64_t first) {
    if (first >= start_[digit]) {
      stream_bytes(to_ + first, lines_[digit], sizeof(lines_[digit]));
    } else {
      copy_out(digit, start_[digit], first + line);
    }
  }
  void copy_out(std::size_t digit, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t k = first; k < last; ++k) to_[k] = lines_[digit][k % line];
  }

  std::uint64_t lines_[bins][line];
  std::uint64_t next_[bins];
  std::uint64_t start_[bins];
  std::uint64_t* to_;
};

// Bits [begin, end) of each of `size` keys at `from`, which may be left anywhere in between; `to` is as long.
struct key_range {
  std::uint64_t* from;
  std::uint64_t* to;
  std::int64_t size;
  int begin;
  int end;

  [[nodiscard]] int passes() const { return div_up(end - begin, sort_tuning::digit_bits); }
  [[nodiscard]] digit_of digit(int pass) const {
    const int bits = end == begin ? 0 : div_up(end - begin, passes());
    const int shift = begin + pass * bits;
    return {shift, (std::uint64_t{1} << std::min(bits, end - shift)) - 1};
  }
};

// Counts become the places of each part's first key of each digit.
void counts_to_places(array<std::int64_t, host>& counts, std::int64_t parts_count) {
  std::int64_t before = 0;
  for (std::size_t d = 0; d < bins; ++d) {
    for (std::int64_t p = 0; p < parts_count; ++p) before += std::exchange(counts[p * bins + d], before);
  }
}

// to = from by one digit, stable, by all threads. places[p * bins + d]: where part p's first key of digit d went.
void scatter_together(const context<host>& ctx, const std::uint64_t* from, std::uint64_t* to, std::int64_t size,
                      const digit_of& digit, array<std::int64_t, host>& places) {
  const parts shares = split(size, ctx.threads(), sort_tuning::share);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    std::int64_t count[bins] = {};
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) ++count[digit(from[k])];
    std::copy_n(count, bins, places.data() + p * bins);
  });
  counts_to_places(places, shares.count);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    line_writer out(to, places.data() + p * bins);
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) out.put(digit(from[k]), from[k]);
    out.finish();
  });
}

// All digits by all threads. Returns where the keys are in the end: `from` or `to`.
std::uint64_t* sort_together(const context<host>& ctx, key_range r, array<std::int64_t, host>& places) {
  for (int pass = 0; pass < r.passes(); ++pass) {
    scatter_together(ctx, r.from, r.to, r.size, r.digit(pass), places);
    std::swap(r.from, r.to);
  }
  return r.from;
}

void sort_by_insertion(const key_range& r) {
  const std::uint64_t mask = (std::uint64_t{1} << (r.end - r.begin)) - 1;
  const auto part = [&](std::uint64_t key) { return key >> r.begin & mask; };
  for (std::int64_t i = 1; i < r.size; ++i) {
    const std::uint64_t key = r.from[i];
    std::int64_t j = i;
    for (; j > 0 && part(r.from[j - 1]) > part(key); --j) r.from[j] = r.from[j - 1];
    r.from[j] = key;
  }
}

// All digits by one thread. Returns where the keys are in the end: `from` or `to`.
std::uint64_t* sort_alone(key_range r) {
  if (r.size <= sort_tuning::insertion) {
    sort_by_insertion(r);
    return r.from;
  }
  for (int pass = 0; pass < r.passes(); ++pass) {
    const digit_of digit = r.digit(pass);
    std::int64_t places[bins] = {};
    for (std::int64_t k = 0; k < r.size; ++k) ++places[digit(r.from[k])];
    if (places[digit(r.from[0])] == r.size) continue;
    std::int64_t before = 0;
    for (std::int64_t& place : places) before += std::exchange(place, before);
    for (std::int64_t k = 0; k < r.size; ++k) r.to[places[digit(r.from[k])]++] = r.from[k];
    std::swap(r.from, r.to);
  }
  return r.from;
}

// Bits of the highest digit: as many buckets as make them small.
int top_bits(std::int64_t size, int bits) {
  const auto buckets = static_cast<std::uint64_t>(div_up(size, sort_tuning::bucket));
  return std::min({bits, sort_tuning::digit_bits, static_cast<int>(std::bit_width(buckets))});
}

}  // namespace

void sort_keys(const context<host>& ctx, array<std::uint64_t, host>& keys, int begin, int end) {
  if (keys.size() < 2 || begin >= end) return;
  array<std::uint64_t, host> spare(ctx, keys.size());
  array<std::int64_t, host> places(ctx, ctx.threads() * static_cast<std::int64_t>(bins));
  const int middle = end - top_bits(keys.size(), end - begin);
  const digit_of top{middle, (std::uint64_t{1} << (end - middle)) - 1};
  scatter_together(ctx, keys.data(), spare.data(), keys.size(), top, places);

  // Buckets lie in `spare`; sorted, all of them are to lie in the same array.
  const auto count = static_cast<std::int64_t>(top.mask) + 1;
  array<std::int64_t, host> starts(ctx, count + 1);
  std::copy_n(places.data(), count, starts.data());
  starts[count] = keys.size();
  const auto range = [&](std::int64_t b) {
    return key_range{spare.data() + starts[b], keys.data() + starts[b], starts[b + 1] - starts[b], begin, middle};
  };
  const bool ends_in_spare = range(0).passes() % 2 == 0;
  const auto put = [&](std::int64_t b, const std::uint64_t* sorted) {
    std::uint64_t* const target = (ends_in_spare ? spare : keys).data() + starts[b];
    if (sorted != target) std::copy_n(sorted, starts[b + 1] - starts[b], target);
  };
  const std::int64_t large = std::max(4 * sort_tuning::bucket, keys.size() / (4 * ctx.threads()));
  for (std::int64_t b = 0; b < count; ++b) {
    if (range(b).size > large && ctx.threads() > 1) put(b, sort_together(ctx, range(b), places));
  }
  parallel_parts(ctx.threads(), count, [&](std::int64_t b) {
    if (range(b).size <= large || ctx.threads() == 1) put(b, sort_alone(range(b)));
  });
  if (ends_in_spare) keys.swap(spare);
}

}  // namespace spargo::detail

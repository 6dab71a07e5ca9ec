// Sorting 64-bit keys on the host: least significant digit first, all threads in every pass.
//
// Each thread counts the digits of its own part of the keys; sums of the counts, digit by digit and within a digit
// thread by thread, tell where each part's keys of each digit go, so that the sort is stable for any thread count.
// Keys go out through a cache line a digit: writes to memory are whole lines, and no page is looked up more often than
// once in eight keys. Digits in which all keys agree are skipped. Cost: O(keys) a digit; scratch as much as the keys.
// Source: Wassenberg and Sanders, Engineering a multi-core radix sort, Euro-Par 2011.
#include "graph/graph_common.hpp"
#include "primitives/parts.hpp"
#include "primitives/simd/stream.hpp"

#include <algorithm>
#include <utility>

namespace spargo::detail {

namespace {

struct sort_tuning {
  static constexpr int digit_bits = 8;            // at most; the lines of 256 digits take 16 KiB of the first cache
  static constexpr std::int64_t share = 1 << 14;  // keys a thread at least
};

constexpr std::size_t bins = std::size_t{1} << sort_tuning::digit_bits;
constexpr std::size_t line = 8;  // keys

struct digit_of {
  int shift;
  std::uint64_t mask;
  [[nodiscard]] std::size_t operator()(std::uint64_t key) const { return (key >> shift) & mask; }
};

// One part's lines. A key waits in its digit's line, in the place that it has in the line of memory it goes to; a full
// line is streamed past the caches.
class alignas(64) line_writer {
 public:
  line_writer(std::uint64_t* to, const std::int64_t* starts) : to_(to) {
    for (std::size_t digit = 0; digit < bins; ++digit) start_[digit] = next_[digit] = as_place(starts[digit]);
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
  static std::uint64_t as_place(std::int64_t k) { return static_cast<std::uint64_t>(k); }

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

// counts[p * bins + d]: keys of digit d in part p.
void count_digits(const context<host>& ctx, const array<std::uint64_t, host>& keys, const parts& shares,
                  const digit_of& digit, array<std::int64_t, host>& counts) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < shares.count; ++p) {
    std::int64_t count[bins] = {};
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) ++count[digit(keys[k])];
    std::copy_n(count, bins, counts.data() + p * bins);
  }
}

// Counts become the places of each part's first key of each digit. False if one digit has all keys.
bool counts_to_places(array<std::int64_t, host>& counts, std::int64_t parts_count, std::int64_t size) {
  std::int64_t before = 0;
  for (std::size_t d = 0; d < bins; ++d) {
    const std::int64_t of_digit = before;
    for (std::int64_t p = 0; p < parts_count; ++p) before += std::exchange(counts[p * bins + d], before);
    if (before - of_digit == size) return false;
  }
  return true;
}

}  // namespace

void sort_keys(const context<host>& ctx, array<std::uint64_t, host>& keys, int begin, int end) {
  if (keys.size() < 2 || begin >= end) return;
  const int passes = div_up(end - begin, sort_tuning::digit_bits);
  const int bits = div_up(end - begin, passes);
  const parts shares = split(keys.size(), ctx.threads(), sort_tuning::share);
  array<std::uint64_t, host> spare(ctx, keys.size());
  array<std::int64_t, host> places(ctx, shares.count * bins);
  for (int shift = begin; shift < end; shift += bits) {
    const digit_of digit{shift, (std::uint64_t{1} << std::min(bits, end - shift)) - 1};
    count_digits(ctx, keys, shares, digit, places);
    if (!counts_to_places(places, shares.count, keys.size())) continue;
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
    for (std::int64_t p = 0; p < shares.count; ++p) {
      line_writer out(spare.data(), places.data() + p * bins);
      for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) out.put(digit(keys[k]), keys[k]);
      out.finish();
    }
    keys.swap(spare);
  }
}

}  // namespace spargo::detail

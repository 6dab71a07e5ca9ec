// Entries of the random kinds with known places, as pure functions of the spec and the entry's number: the same bits on
// host and device. Floating-point preparation happens on the host, in the constructors.
#pragma once

#include "io/generate/random.hpp"
#include "io/generate/spec.hpp"

#include <spargo/core/types.hpp>

namespace spargo::detail {

enum random_stream : std::uint64_t {
  stream_values = 1,
  stream_imaginary = 2,
  stream_structure = 3,
  stream_order = 4,
};

struct entry_place {
  std::int64_t row;
  std::int64_t col;
};

// One edge of the Kronecker product: one quadrant per level, 32 random bits each (Graph500 specification, section 3).
class rmat_entries {
 public:
  explicit rmat_entries(const generator_spec& s)
      : right_(bound(s.a)),
        below_(bound(s.a + s.b)),
        both_(bound(s.a + s.b + s.c)),
        words_(static_cast<std::uint64_t>(div_up(s.scale, 2))),
        scale_(s.scale),
        draws_(s.seed, stream_structure),
        rename_(s.rows, mix_bits(s.seed ^ stream_order)) {}

  [[nodiscard]] SPARGO_HD entry_place operator()(std::int64_t e) const {
    std::uint64_t i = 0;
    std::uint64_t j = 0;
    std::uint64_t word = 0;
    for (int level = 0; level < scale_; ++level) {
      word = level % 2 == 0
                 ? draws_.bits(static_cast<std::uint64_t>(e) * words_ + static_cast<std::uint64_t>(level / 2))
                 : word >> 32;
      const std::uint64_t draw = word & 0xffffffffU;
      i = i << 1 | (draw >= below_ ? 1U : 0U);
      j = j << 1 | ((draw >= right_ && draw < below_) || draw >= both_ ? 1U : 0U);
    }
    return {rename_(static_cast<std::int64_t>(i)), rename_(static_cast<std::int64_t>(j))};
  }

 private:
  static std::uint64_t bound(double p) { return static_cast<std::uint64_t>(p * 0x1p32); }

  std::uint64_t right_;
  std::uint64_t below_;
  std::uint64_t both_;
  std::uint64_t words_;
  int scale_;
  counter_random draws_;
  random_permutation rename_;
};

// `degree` columns per row, drawn uniformly.
class uniform_entries {
 public:
  explicit uniform_entries(const generator_spec& s)
      : degree_(s.degree), cols_(s.cols), draws_(s.seed, stream_structure) {}

  [[nodiscard]] SPARGO_HD entry_place operator()(std::int64_t e) const {
    return {e / degree_, draws_.below(static_cast<std::uint64_t>(e), cols_)};
  }

 private:
  std::int64_t degree_;
  std::int64_t cols_;
  counter_random draws_;
};

}  // namespace spargo::detail

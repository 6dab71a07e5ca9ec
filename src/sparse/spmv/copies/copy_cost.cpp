#include "sparse/spmv/copies/copy_cost.hpp"

#include <fmt/format.h>

namespace spargo::detail::spmv {

namespace {

// Products after which a copy pays off, fp32 and fp64. Device: one H200, apps/bench/results/spmv_h200.json. Host: two
// threads of an EPYC (Zen 5), and one core of a Xeon (Sapphire Rapids) with the matrix in L2.
struct tuning {
  // 5-point 4096^2 32 and 19; 27-point 160^3 22 and 17; 8.4M rows of 15 in a band 24 and 31.
  static constexpr std::int64_t compressed = 32;
  // R-MAT 22 33 and 44; R-MAT 24, degree 4, 39 and 47; power law, 4.2M rows of 16, 72 and 82.
  static constexpr std::int64_t blocked = 82;
  // 8.4M rows of 16 in uniform columns 81 and 480.
  static constexpr std::int64_t binned_narrow = 81;
  static constexpr std::int64_t binned_wide = 480;
  // 5-point 2000^2 7 and 6, 100^2 in cache 15 and 16; 10000 rows of 9 in a band in cache 12 and 9.
  static constexpr std::int64_t repeated_bands = 16;
  // 1M rows of 21 in a band 14 and 21; 5-point 100^2 in cache 25 and 34; 10000 rows of 9 in cache 13 and 33.
  static constexpr std::int64_t bands = 34;
  // 1M rows of 20 in uniform columns 121 in fp32; in fp64 only if L2 is larger than Zen 5's.
  static constexpr std::int64_t tiles = 121;
  // Against scattered rows, fp64, one and two cores of a Xeon: 5-point 1000^2 12 and 38; R-MAT 18 22 and 46; 500000
  // rows of 16 in uniform columns 20 and 12.
  static constexpr std::int64_t transposed = 32;
};

}  // namespace

std::int64_t pays_from(copy_kind kind, std::int64_t value_bytes) {
  switch (kind) {
    case copy_kind::compressed:
      return tuning::compressed;
    case copy_kind::blocked:
      return tuning::blocked;
    case copy_kind::binned:
      return value_bytes <= 4 ? tuning::binned_narrow : tuning::binned_wide;
    case copy_kind::repeated_bands:
      return tuning::repeated_bands;
    case copy_kind::bands:
      return tuning::bands;
    case copy_kind::tiles:
      return tuning::tiles;
    case copy_kind::transposed:
      return tuning::transposed;
  }
  return 0;
}

std::string reason_against_copy(copy_kind kind, std::int64_t value_bytes, std::int64_t products) {
  const std::int64_t least = pays_from(kind, value_bytes);
  if (products == 0 || products >= least) return {};
  return fmt::format("the copy pays off after {} products, and {} were requested", least, products);
}

}  // namespace spargo::detail::spmv

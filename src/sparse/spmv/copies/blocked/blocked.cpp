// Whether a copy with column blocks in shared memory is worth making.
#include "sparse/spmv/copies/blocked/blocked.hpp"

#include <fmt/format.h>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Vectors up to this size lie in an SM's cache whole, whatever their order.
  static constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;
  // Below, three launches and the parts of x that every SM loads take longer than the gathers do. ms on an
  // H200, fp32 and fp64, beside the best of CSR as it stands: R-MAT 18, 7.6 million entries, 0.050, 0.053 and 0.058,
  // 0.061; R-MAT 19, 8.0 million, 0.056, 0.061 and 0.066, 0.067; R-MAT 20, 16 million, 0.074, 0.118 and 0.098, 0.128.
  static constexpr std::int64_t least_nnz = std::int64_t{1} << 23;
  // Of CSR's bytes. Uniform columns, rows of 16 or 64, ms beside the best of CSR: 131072 columns 0.240, 0.472 (fp32, 45
  // percent of the bytes) and 0.407, 0.547 (fp64, 70); 300 thousand in fp32 0.361, 0.492 (72), where `binned` takes
  // 0.361, too; 2^20 columns and rows of 64 in fp64 0.527, 0.519 (93).
  static constexpr double most_bytes = 0.75;
  static constexpr double sector_bytes = 32;
  static constexpr double index_bytes = 4;
};

// What crosses from the L2 cache in a product, which is what such matrices' products wait for.
double csr_bytes(const blocking_profile& p) {
  const double sector = tuning::sector_bytes * static_cast<double>(p.sectors) / 1000;
  return static_cast<double>(p.nnz) * (static_cast<double>(p.value_bytes) + tuning::index_bytes + sector);
}

double blocked_bytes(const blocking_profile& p) {
  const auto value = static_cast<double>(p.value_bytes);
  return static_cast<double>(p.nnz) * (value + tuning::index_bytes) +
         static_cast<double>(p.gathered) * tuning::sector_bytes +
         static_cast<double>(p.pieces) * (value + tuning::index_bytes + tuning::sector_bytes) +
         static_cast<double>(p.ranked) * (2 * value + tuning::index_bytes + tuning::sector_bytes);
}

}  // namespace

std::string why_not_blocked(const blocking_profile& p, copy_demand demand) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - (std::int64_t{1} << 16);
  if (p.rows > most || p.cols > most || p.nnz > most) {
    return fmt::format("{} x {} with {} entries, of which one is beyond {}", p.rows, p.cols, p.nnz, most);
  }
  if (demand == copy_demand::by_name) return {};
  if (p.cols * p.value_bytes <= tuning::cached_bytes) {
    return fmt::format("x of {} elements is in the cache as it is", p.cols);
  }
  if (p.nnz < tuning::least_nnz) return fmt::format("{} entries are too few for a product in three steps", p.nnz);
  const double part = blocked_bytes(p) / csr_bytes(p);
  if (part > tuning::most_bytes) {
    return fmt::format("{} percent of the entries would be gathered, {:.0f} percent of the traffic remain",
                       100 * p.gathered / p.nnz, 100 * part);
  }
  return {};
}

}  // namespace spargo::detail::spmv

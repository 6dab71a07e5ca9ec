// Whether a copy with column blocks in shared memory pays off.
#include "sparse/spmv/copies/blocked/blocked.hpp"

#include <fmt/format.h>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Vectors up to this size fit an SM's L1 entirely.
  static constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;
  // Below, three launches and loading x cost as much as gathers (R-MAT 19: 0.056 and 0.066 ms, CSR 0.061, 0.067).
  static constexpr std::int64_t least_nnz = std::int64_t{1} << 23;
  // Share of CSR's bytes: at 72 percent 0.361 ms, CSR 0.492; at 93 percent 0.527, CSR 0.519 (sparse_tuning.txt).
  static constexpr double most_bytes = 0.75;
  static constexpr double sector_bytes = 32;
  static constexpr double index_bytes = 4;
};

// Bytes from L2 per product, the bottleneck for such matrices.
double csr_bytes(const blocking_profile& p) {
  const double sector = tuning::sector_bytes * static_cast<double>(p.sectors) / 1000;
  return static_cast<double>(p.nnz) * (static_cast<double>(p.value_bytes) + tuning::index_bytes + sector);
}

double blocked_bytes(const blocking_profile& p) {
  const auto value = static_cast<double>(p.value_bytes);
  return static_cast<double>(p.nnz) * (value + tuning::index_bytes) +
         static_cast<double>(p.gathered) * tuning::sector_bytes +
         static_cast<double>(p.strips) * (value + tuning::index_bytes + tuning::sector_bytes) +
         static_cast<double>(p.ranked) * (2 * value + tuning::index_bytes + tuning::sector_bytes);
}

}  // namespace

std::string reason_against_blocking(const blocking_profile& p, copy_demand demand) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - (std::int64_t{1} << 16);
  if (p.rows > most || p.cols > most || p.nnz > most) {
    return fmt::format("{} x {} with {} entries: one number exceeds {}", p.rows, p.cols, p.nnz, most);
  }
  if (demand == copy_demand::by_name) return {};
  if (p.cols * p.value_bytes <= tuning::cached_bytes) {
    return fmt::format("x of {} elements fits the cache", p.cols);
  }
  if (p.nnz < tuning::least_nnz) return fmt::format("{} entries are too few for a product in three steps", p.nnz);
  const double part = blocked_bytes(p) / csr_bytes(p);
  if (part > tuning::most_bytes) {
    return fmt::format("{} percent of the entries would be gathered, {:.0f} percent of the traffic would remain",
                       100 * p.gathered / p.nnz, 100 * part);
  }
  return {};
}

}  // namespace spargo::detail::spmv

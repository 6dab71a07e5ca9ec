// Which format suits a matrix: on a device ELL when rows are equal, SELL when a slice of neighbours is, else CSR.
//
// CSR is taken unless another format promises a gain: ELL and SELL read padding as well as entries, so they must
// waste little, and they pay where a thread a row loads side by side. On a host rows of CSR are as fast: two threads of
// Zen 5, fp32 and fp64, ms, CSR and SELL of 32: uniform 1M x 20 7.3 and 9.3, 10.5 and 11.0; 27-point 100^3 6.2 and 8.6,
// 8.7 and 9.7; 5-point 1000 x 1000 2.3 and 2.2, 2.4 and 2.6. O(rows) time and no scratch.
#include "core/instantiate.hpp"
#include "sparse/spmv_executor.hpp"

#include <spargo/sparse/spmv.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace spargo {

namespace {

struct tuning {
  static constexpr std::int64_t slice_height = 32;  // as sell_options
  static constexpr double ell_padding = 1.05;       // stored entries per entry: beyond it CSR reads less
  // As above; rows are sorted within windows, so the estimate is an upper bound.
  static constexpr double sell_padding = 1.15;
  static constexpr std::int64_t few_entries = 1 << 14;  // below, conversion costs more than products gain
};

// Stored entries of slices of neighbouring rows, without sorting.
template <class I, class O>
std::int64_t slice_storage(const context<host>& ctx, const csr_pattern_view<I, O, host>& m) {
  const std::int64_t rows = m.rows;
  const std::int64_t slices = div_up(rows, tuning::slice_height);
  std::int64_t stored = 0;
#pragma omp parallel for num_threads(ctx.threads()) schedule(static) reduction(+ : stored)
  for (std::int64_t s = 0; s < slices; ++s) {
    std::int64_t widest = 0;
    const std::int64_t last = std::min((s + 1) * tuning::slice_height, rows);
    for (std::int64_t row = s * tuning::slice_height; row < last; ++row) {
      widest = std::max(widest, static_cast<std::int64_t>(m.offsets[row + 1] - m.offsets[row]));
    }
    stored += widest * tuning::slice_height;
  }
  return stored;
}

}  // namespace

std::string_view to_string(sparse_format format) {
  switch (format) {
    case sparse_format::csr:
      return "csr";
    case sparse_format::coo:
      return "coo";
    case sparse_format::ell:
      return "ell";
    case sparse_format::sell:
      return "sell";
  }
  return "unknown";
}

template <memory_space Target, index_type I, index_type O>
format_choice suggest_format(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix) {
  if (std::same_as<Target, host>) return {sparse_format::csr, "on a CPU no other format is faster"};
  const detail::row_profile p = detail::profile_rows(ctx, matrix);
  if (p.nnz < tuning::few_entries) {
    return {sparse_format::csr, fmt::format("{} entries are too few for another format to pay", p.nnz)};
  }
  const double entries = static_cast<double>(p.nnz);
  const double ell = static_cast<double>(p.longest) * static_cast<double>(p.rows) / entries;
  if (ell <= tuning::ell_padding) {
    return {sparse_format::ell, fmt::format("rows of nearly equal length: ELL stores {:.2f} times the entries", ell)};
  }
  const double sell = static_cast<double>(slice_storage(ctx, matrix)) / entries;
  if (sell <= tuning::sell_padding) {
    return {sparse_format::sell,
            fmt::format("rows of similar length: slices of {} store at most {:.2f} times the entries",
                        tuning::slice_height, sell)};
  }
  return {sparse_format::csr, fmt::format("uneven rows (mean {:.1f}, longest {} entries): slices would store {:.2f} "
                                          "times the entries",
                                          p.mean(), p.longest, sell)};
}

#define INSTANTIATE(I, O)                                                                                 \
  template format_choice suggest_format<host>(const context<host>&, const csr_pattern_view<I, O, host>&); \
  template format_choice suggest_format<device>(const context<host>&, const csr_pattern_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

// Suggests a format for a matrix: CSR, unless the matrix fits a host's L2 and there are enough products to pay for
// another.
//
// On a device CSR's algorithms are as fast as ELL and SELL everywhere. On a host out of cache all are memory-bound, and
// CSR reads least. In cache, where instructions dominate, processing several rows in lanes avoids row ends; not for
// complex values, which are not vectorised. Measurements: apps/bench/results/sparse_tuning.txt. O(rows) time.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/host_cache.hpp"
#include "sparse/simd/kernels.hpp"
#include "sparse/spmv/executor.hpp"

#include <spargo/sparse/spmv.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace spargo {

namespace {

// All on one core of a Xeon (Sapphire Rapids), over the 34 sparse matrices of the tests' data.
struct tuning {
  static constexpr std::int64_t slice_height = 32;  // as sell_options
  static constexpr std::int64_t sorting_window = 1024;
  // Below, startup dominates: cage5, dolphins and karate take 0.4 to 0.7 us in any format.
  static constexpr std::int64_t few_entries = 1 << 10;
  // Stored entries per entry, for 8-byte and narrower values. CSR, ELL and SELL, us, fp64: young1c (1.03) 2.7, 1.9,
  // 2.1, but dwt_992 (1.07) 7.9, 6.0, 5.4; fp32: ani4 (1.3) 8.4, 6.2, 7.9, but bcsstk13 (2.3) 33, 43, 22.
  static constexpr double ell_padding = 1.05;
  static constexpr double ell_padding_narrow = 2.0;
  // Most entries per row for ELL; beyond, its columns are too far apart: qc324 (82.5) 10.6, 9.7, 8.1; 10.3, 8.0, 7.0.
  static constexpr double ell_mean = 32.0;
  // SELL over CSR: bcsstk13 (1.03) 0.72, 0.78, zenios (1.06) 0.71, 0.77, nnc1374 (1.06) 0.74, 0.85, qc324 (1.09) 0.77,
  // 0.68, Groebner (1.17) 0.81 in fp32; ego-Twitter (1.35) 2.09, 1.27, rajat19 (2.9) 1.48, 1.23.
  static constexpr double sell_padding = 1.2;
  // Conversion time divided by the time saved per product: ELL 13 to 120, mostly 40; SELL 27 to 400, mostly 150.
  static constexpr std::int64_t ell_products = 64;
  static constexpr std::int64_t sell_products = 200;
};

// Entries stored by SELL, with rows sorted by length within windows.
template <class I, class O>
std::int64_t sell_storage(const csr_pattern_view<I, O, host>& m) {
  std::array<std::int64_t, tuning::sorting_window> lengths;
  const std::int64_t rows = m.rows;
  std::int64_t stored = 0;
  for (std::int64_t first = 0; first < rows; first += tuning::sorting_window) {
    const std::int64_t count = std::min(tuning::sorting_window, rows - first);
    for (std::int64_t r = 0; r < count; ++r) {
      lengths[static_cast<std::size_t>(r)] =
          static_cast<std::int64_t>(m.offsets[first + r + 1]) - static_cast<std::int64_t>(m.offsets[first + r]);
    }
    std::sort(lengths.begin(), lengths.begin() + count, std::greater<>());
    for (std::int64_t slice = 0; slice < count; slice += tuning::slice_height) {
      stored += lengths[static_cast<std::size_t>(slice)] * tuning::slice_height;
    }
  }
  return stored;
}

// Bytes read and written by a CSR product: the matrix, x and y.
template <class I, class O>
std::int64_t product_bytes(const csr_pattern_view<I, O, host>& m, std::int64_t value_bytes) {
  const std::int64_t rows = m.rows;
  const std::int64_t cols = m.cols;
  return m.nnz() * (value_bytes + static_cast<std::int64_t>(sizeof(I))) +
         rows * (value_bytes + static_cast<std::int64_t>(sizeof(O))) + cols * value_bytes;
}

// The reason against ELL and SELL on the host; empty if there is none.
template <class I, class O>
std::string reason_against_lanes(const csr_pattern_view<I, O, host>& m, const format_use& use) {
  if (m.nnz() < tuning::few_entries)
    return fmt::format("{} too few for another format to pay off",
                       m.nnz() == 1 ? "1 entry is" : fmt::format("{} entries are", m.nnz()));
  if (use.complex_values) return "complex values are not vectorised in any format";
  if (!detail::spmv::gathers_are_fast()) return "other formats need gathers, which are slow on this processor";
  const std::int64_t bytes = product_bytes(m, use.value_bytes);
  if (bytes > detail::host_l2_bytes()) {
    return fmt::format("a matrix of {:.1f} MB exceeds the L2 cache of {:.1f} MB, and CSR is the smallest format",
                       static_cast<double>(bytes) * 1e-6, static_cast<double>(detail::host_l2_bytes()) * 1e-6);
  }
  return {};
}

template <class I, class O>
format_choice suggest_on_host(const context<host>& ctx, const csr_pattern_view<I, O, host>& m, const format_use& use) {
  std::string why_not = reason_against_lanes(m, use);
  if (!why_not.empty()) return {sparse_format::csr, std::move(why_not)};
  const detail::row_profile p = detail::profile_rows(ctx, m);
  const auto entries = static_cast<double>(p.nnz);
  const double ell = static_cast<double>(p.longest) * static_cast<double>(p.rows) / entries;
  const double sell = static_cast<double>(sell_storage(m)) / entries;
  const auto unless_few = [&](format_choice choice, std::int64_t least) -> format_choice {
    if (use.products == 0 || use.products >= least) return choice;
    return {sparse_format::csr, fmt::format("{} products are too few for {}, whose conversion pays off after {}",
                                            use.products, to_string(choice.format), least)};
  };
  const double ell_padding = use.value_bytes < 8 ? tuning::ell_padding_narrow : tuning::ell_padding;
  if (ell <= ell_padding && p.mean() <= tuning::ell_mean) {
    return unless_few({sparse_format::ell, fmt::format("in cache, and rows of nearly equal length: {:.2f} times the "
                                                       "entries are stored",
                                                       ell)},
                      tuning::ell_products);
  }
  if (sell <= tuning::sell_padding) {
    return unless_few({sparse_format::sell, fmt::format("in cache, and rows of similar length, sorted in windows of "
                                                        "{}: {:.2f} times the entries are stored",
                                                        tuning::sorting_window, sell)},
                      tuning::sell_products);
  }
  return {sparse_format::csr,
          fmt::format("uneven rows (mean {:.1f}, longest {} entries): SELL would store {:.2f} times the entries",
                      p.mean(), p.longest, sell)};
}

}  // namespace

template <>
enum_table<sparse_format> enum_rows() noexcept {
  static constexpr std::array<enum_row<sparse_format>, 4> rows{{
      {sparse_format::csr, "csr"},
      {sparse_format::coo, "coo"},
      {sparse_format::ell, "ell"},
      {sparse_format::sell, "sell"},
  }};
  return rows;
}

template <memory_space Target, index_type I, index_type O>
format_choice suggest_format(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix,
                             const format_use& use) {
  SPARGO_EXPECTS(use.value_bytes > 0 && use.products >= 0,
                 fmt::format("suggest_format: values of {} bytes, {} products", use.value_bytes, use.products));
  if (std::same_as<Target, host>) return suggest_on_host(ctx, matrix, use);
  return {sparse_format::csr, "on a GPU no other format is faster"};
}

#define INSTANTIATE(I, O)                                                                                  \
  template format_choice suggest_format<host>(const context<host>&, const csr_pattern_view<I, O, host>&,   \
                                              const format_use&);                                          \
  template format_choice suggest_format<device>(const context<host>&, const csr_pattern_view<I, O, host>&, \
                                                const format_use&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

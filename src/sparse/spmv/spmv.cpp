// SpMV: checks, choice of algorithm with its reason, and the plan around an executor.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/pattern_fingerprint.hpp"
#include "sparse/products.hpp"
#include "sparse/spmv/algorithms.hpp"
#include "sparse/spmv/choice_on_device.hpp"
#include "sparse/spmv/copies/binned/binned.hpp"
#include "sparse/spmv/copies/blocked/blocked.hpp"
#include "sparse/spmv/copies/compressed/compressed.hpp"
#include "sparse/spmv/copies/copy_cost.hpp"
#include "sparse/spmv/csr/scatter.hpp"
#include "sparse/spmv/executor.hpp"
#include "sparse/spmv/transposed_copy.hpp"

#include <spargo/sparse/spmv.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace spargo {

namespace {

using detail::row_profile;
using detail::spmv::choice;

choice choose_csr(const context<host>&, const row_profile& p, detail::spmv::gathered_vector /*x*/) {
  return detail::choose_on_host(p, spmv_algorithm::row_per_thread);
}

[[maybe_unused]] choice choose_csr(const context<device>& ctx, const row_profile& p, detail::spmv::gathered_vector x) {
  x.cache_bytes = ctx.properties().l2_bytes;
  return detail::spmv::choose_csr_on_device(p, x);
}

void expect_size(std::string_view what, std::int64_t size, std::int64_t expected) {
  detail::expect_size("spmv", what, size, expected);
}

template <class V, class I, class O, class Space>
void check(const csr_view<const V, I, O, Space>& m) {
  detail::expect_csr("spmv", m);
}

void check_ell(std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t lengths, std::int64_t indices,
               std::int64_t values) {
  SPARGO_EXPECTS(rows >= 0 && cols >= 0 && width >= 0,
                 fmt::format("spmv: an ELL matrix of {} x {}, width {}", rows, cols, width));
  SPARGO_EXPECTS(width == 0 || rows <= INT64_MAX / width, "spmv: rows * width of an ELL matrix exceeds 2^63");
  expect_size("ELL row lengths", lengths, rows);
  expect_size("ELL indices", indices, rows * width);
  expect_size("ELL values", values, indices);
}

template <class V, class I, class Space>
void check(const ell_view<const V, I, Space>& m) {
  check_ell(m.rows, m.cols, m.width, m.row_lengths.size(), m.indices.size(), m.values.size());
}

struct sell_sizes {
  std::int64_t offsets;
  std::int64_t permutation;
  std::int64_t lengths;
  std::int64_t indices;
  std::int64_t values;
};

void check_sell(std::int64_t rows, std::int64_t cols, std::int64_t height, const sell_sizes& sizes) {
  SPARGO_EXPECTS(rows >= 0 && cols >= 0, fmt::format("spmv: a SELL matrix of {} x {}", rows, cols));
  SPARGO_EXPECTS(height > 0 || rows == 0, fmt::format("spmv: a SELL slice height of {}", height));
  const std::int64_t slices = rows == 0 ? 0 : div_up(rows, height);
  expect_size("SELL slice offsets", sizes.offsets, slices + 1);
  expect_size("SELL permutation", sizes.permutation, slices * height);
  expect_size("SELL row lengths", sizes.lengths, slices * height);
  expect_size("SELL values", sizes.values, sizes.indices);
}

template <class V, class I, class O, class Space>
void check(const sell_view<const V, I, O, Space>& m) {
  check_sell(m.rows, m.cols, m.slice_height,
             {m.slice_offsets.size(), m.permutation.size(), m.row_lengths.size(), m.indices.size(), m.values.size()});
}

void check_coo(std::int64_t rows, std::int64_t cols, std::int64_t row_indices, std::int64_t col_indices,
               std::int64_t values) {
  SPARGO_EXPECTS(rows >= 0 && cols >= 0, fmt::format("spmv: a COO matrix of {} x {}", rows, cols));
  expect_size("COO column indices", col_indices, row_indices);
  expect_size("COO values", values, row_indices);
}

template <class V, class I, class Space>
void check(const coo_view<const V, I, Space>& m) {
  check_coo(m.rows, m.cols, m.nnz(), m.col_indices.size(), m.values.size());
}

struct extent {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t entries;
};

void expect_same_extent(const extent& given, const extent& planned) {
  SPARGO_EXPECTS(given.rows == planned.rows && given.cols == planned.cols && given.entries == planned.entries,
                 fmt::format("spmv: update_values with {} x {}, {} entries; the plan is for {} x {}, {}", given.rows,
                             given.cols, given.entries, planned.rows, planned.cols, planned.entries));
}

// The requested algorithm, which must read the format; nothing for `automatic`.
template <class Space>
std::optional<choice> choose_for_format(spmv_algorithm requested, std::string_view format,
                                        bool (*reads)(spmv_algorithm)) {
  auto named = detail::choose_by_name<Space>(detail::spmv::algorithms, "spmv", requested);
  if (named && !reads(requested)) {
    throw error(error_code::unsupported,
                fmt::format("spmv: algorithm {} does not read {}", to_string(requested), format));
  }
  return named;
}

void expect_no_operation(spmv_operation operation, std::string_view format) {
  if (operation == spmv_operation::none) return;
  throw error(error_code::unsupported, fmt::format("spmv: operation {} of {} (expected CSR, or transpose of COO)",
                                                   to_string(operation), format));
}

template <class V, class I, class Space>
coo_view<const V, I, Space> apply(spmv_operation operation, const coo_view<const V, I, Space>& m) {
  if (operation == spmv_operation::none) return m;
  if (operation == spmv_operation::conjugate_transpose && complex_type<V>) expect_no_operation(operation, "COO");
  return {{m.cols, m.rows, m.col_indices, m.row_indices}, m.values};
}

// Why a transposed product on the host scatters rows instead of making a copy; empty: it makes one.
std::string reason_to_scatter(const spmv_options& options) {
  const bool automatic = options.algorithm == spmv_algorithm::automatic;
  if (options.storage == spmv_storage::borrowed) {
    return automatic || options.algorithm == spmv_algorithm::row_per_thread ? "rows scattered into y without a copy"
                                                                            : "";
  }
  if (!automatic) return {};
  const std::string few = detail::spmv::reason_against_copy(detail::spmv::copy_kind::transposed, 0, options.products);
  return few.empty() ? few : "rows scattered into y: " + few;
}

// Plan state for a format with few algorithms; `make(algorithm)` gives the executor of the requested or default one.
template <class State, class Space, class View, class Make>
detail::plan_state<State, spmv_algorithm> make_state(const context<Space>& ctx, const View& matrix,
                                                     std::string_view format, bool (*reads)(spmv_algorithm),
                                                     spmv_algorithm requested, spmv_algorithm own, const char* reason,
                                                     spmv_operation operation, Make make) {
  if constexpr (detail::is_built<Space>) {
    check(matrix);
    expect_no_operation(operation, format);
    choice chosen = choose_for_format<Space>(requested, format, reads).value_or(choice{own, reason});
    auto made = std::make_unique<State>(ctx, matrix);
    if (matrix.rows != 0 && !matrix.values.empty()) made->executor = make(chosen.algorithm);
    return {std::move(chosen), std::move(made)};
  } else {
    detail::no_device("spmv");
  }
}

// Bytes of the largest copy that a plan with these options may keep.
struct copy_bytes {
  std::int64_t host = 0;
  std::int64_t device = 0;
};

// Entries with 8 bytes each and padding; the sums of strips, at most one per row and one per cell of four entries or
// more; x by rank.
std::int64_t blocked_bytes(const matrix_shape& s) {
  constexpr std::int64_t part_bytes = std::int64_t{192} * 1024;  // of x
  constexpr std::int64_t padding = 32 * 64;                      // slots per block of columns
  const std::int64_t blocks = s.cols * s.value_bytes / part_bytes + 2;
  return (s.entries + padding * blocks) * (s.value_bytes + 8) +
         (s.rows + s.entries / 4 + s.entries / 64) * (s.value_bytes + 6) + 8 * s.rows + s.cols * (s.value_bytes + 4);
}

// Values and products with 6 bytes, padded by less than three entries per cell; a cell has eight entries on average,
// as in the copies that `automatic` keeps (smaller ones, by name only, take more). Then 8 bytes per cell, twice during
// the build, and the places of a row's entries in units of 16 bytes. Long rows are cut.
std::int64_t binned_bytes(const matrix_shape& s) {
  const std::int64_t cells = s.entries / 8;
  const std::int64_t segments = s.rows + s.entries / detail::spmv::longest_bin_segment;
  return (s.entries + 3 * cells) * (2 * s.value_bytes + 6) + 16 * cells + 2 * s.entries +
         segments * (16 + 8 + s.offset_bytes + s.value_bytes);
}

copy_bytes bytes_of_copies(const matrix_shape& s, const spmv_options& options) {
  const std::int64_t csr = s.entries * (s.value_bytes + s.index_bytes) + (s.rows + 1) * s.offset_bytes;
  switch (options.algorithm) {
    case spmv_algorithm::compressed:
      return {csr, csr};
    case spmv_algorithm::blocked:
      return {0, blocked_bytes(s)};
    case spmv_algorithm::binned:
      return {0, binned_bytes(s)};
    case spmv_algorithm::automatic:
      if (options.storage == spmv_storage::copied) return {csr, std::max({csr, blocked_bytes(s), binned_bytes(s)})};
      return {};
    default:
      return {};
  }
}

}  // namespace

template <>
enum_table<spmv_algorithm> enum_rows() noexcept {
  return detail::spmv::algorithms;
}

template <>
enum_table<spmv_storage> enum_rows() noexcept {
  return detail::spmv::storages;
}

template <>
enum_table<spmv_operation> enum_rows() noexcept {
  return detail::spmv::operations;
}

namespace {

// A transposed copy and its plan, or the sums of scattered rows; twice the seconds of a product by A.
plan_estimate estimate_of_transposed(matrix_shape s, spmv_options options) {
  options.operation = spmv_operation::none;
  std::swap(s.rows, s.cols);
  plan_estimate of = estimate(s, options);
  const std::int64_t copy = s.entries * (s.value_bytes + s.index_bytes) + (s.rows + 1) * s.offset_bytes;
  const std::int64_t sums = (s.rows + s.entries / 4) * s.value_bytes;
  const bool scatters = !reason_to_scatter(options).empty();
  of.host_bytes += scatters ? sums : copy;
  of.device_bytes += copy;
  of.host_seconds *= scatters ? 2 : 1;
  return of;
}

}  // namespace

// Without a copy: a row and a carry for each tile of 4096 rows and entries or more, on the device of 64.
plan_estimate estimate(const matrix_shape& s, const spmv_options& options) {
  constexpr double entry_ns = 2.4;  // 4 million entries, uniformly random: 9.6 ms by one thread of a cloud machine
  if (options.operation != spmv_operation::none) return estimate_of_transposed(s, options);
  const std::int64_t path = s.rows + s.entries;
  const copy_bytes copy = bytes_of_copies(s, options);
  plan_estimate of;
  of.host_bytes = copy.host + (path / 4096 + 64 * std::int64_t{s.threads} + 2) * (8 + s.value_bytes);
  of.device_bytes = copy.device + (path / 64 + 2) * (8 + s.value_bytes) + (std::int64_t{1} << 20);
  of.host_seconds = static_cast<double>(s.entries) * entry_ns * 1e-9 / std::clamp(s.threads, 1, 64);
  return of;
}

template <value_type V, index_type I, index_type O, class Space>
struct spmv_plan<V, I, O, Space>::state {
  context<Space> ctx;
  std::int64_t rows;
  std::int64_t cols;
  detail::spmv::executor_ptr<V> executor;  // null: nothing to multiply
  // For update_values: the pattern that a plan without a copy borrows, or the fingerprint of the copied one.
  std::optional<csr_pattern_view<I, O, Space>> pattern;
  std::uint64_t fingerprint = 0;
  row_profile profile;
  spmv_operation operation = spmv_operation::none;
  detail::spmv::transposed_copy<V, I, O, Space>* transposed = nullptr;  // the executor, if it is one

  template <class View>
  state(const context<Space>& where, const View& matrix) : ctx(where), rows(matrix.rows), cols(matrix.cols) {}
  // Of a transposed product.
  state(const context<Space>& where, const csr_view<const V, I, O, Space>& matrix, spmv_operation op)
      : ctx(where), rows(matrix.cols), cols(matrix.rows), pattern(matrix), operation(op) {}
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return detail::workspace_of(executor); }
};

namespace {

// The state of a transposed product of CSR, with its executor.
template <class State, class V, class I, class O, class Space>
detail::plan_state<State, spmv_algorithm> make_transposed(const context<Space>& ctx,
                                                          const csr_view<const V, I, O, Space>& matrix,
                                                          const spmv_options& options) {
  auto made = std::make_unique<State>(ctx, matrix, options.operation);
  const std::string scatters = std::same_as<Space, host> ? reason_to_scatter(options) : std::string();
  if (matrix.nnz() == 0) {
    const bool automatic = options.algorithm == spmv_algorithm::automatic;
    return {{automatic ? spmv_algorithm::row_per_thread : options.algorithm, "no entries"}, std::move(made)};
  }
  if constexpr (std::same_as<Space, host>) {
    if (!scatters.empty()) {
      made->executor = detail::spmv::make_scatter<V, I, O>(ctx, matrix, options.operation);
      return {{spmv_algorithm::row_per_thread, scatters}, std::move(made)};
    }
  }
  auto copy = std::make_unique<detail::spmv::transposed_copy<V, I, O, Space>>(ctx, matrix, options);
  choice chosen = copy->choice();
  made->transposed = copy.get();
  made->executor = std::move(copy);
  made->fingerprint = detail::pattern_fingerprint<I, O>(ctx, matrix);
  return {std::move(chosen), std::move(made)};
}

}  // namespace

template <value_type V, index_type I, index_type O, class Space>
spmv_plan<V, I, O, Space>::spmv_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                     const spmv_options& options) try {
  if constexpr (detail::is_built<Space>) {
    check(matrix);
    auto named = choose_for_format<Space>(options.algorithm, "CSR", detail::spmv::reads_csr);
    const bool automatic = !named;
    SPARGO_EXPECTS(options.products >= 0, fmt::format("spmv: a plan for {} products", options.products));
    if (options.operation != spmv_operation::none) {
      state_ = make_transposed<state>(ctx, matrix, options);
      return;
    }
    const bool nothing = matrix.rows == 0 || matrix.nnz() == 0;
    std::string refused;
    const bool copies = automatic && options.storage == spmv_storage::copied;
    const auto demand = automatic ? detail::spmv::copy_demand::if_it_pays : detail::spmv::copy_demand::by_name;
    // Keeps the executor of a successful attempt; otherwise records the reason.
    const auto keep = [&](spmv_algorithm algorithm, detail::spmv::copy_attempt<V> attempt) {
      if (attempt.executor == nullptr) {
        const std::string why = fmt::format("not {}: {}", to_string(algorithm), attempt.reason);
        if (!automatic) throw error(error_code::unsupported, "spmv: " + why);
        refused += "; " + why;
        return false;
      }
      state_ = {{algorithm, std::move(attempt.reason)}, std::make_unique<state>(ctx, matrix)};
      state_->pattern = matrix;
      state_->executor = std::move(attempt.executor);
      state_->fingerprint = detail::pattern_fingerprint<I, O>(ctx, matrix);
      return true;
    };
    // Tries an algorithm unless its copy costs more than it saves.
    const auto try_copy = [&](spmv_algorithm algorithm, detail::spmv::copy_kind kind, auto&& attempt) {
      if (nothing || (!copies && options.algorithm != algorithm)) return false;
      std::string too_few =
          copies ? detail::spmv::reason_against_copy(kind, sizeof(V), options.products) : std::string{};
      return keep(algorithm, too_few.empty() ? attempt() : detail::spmv::copy_attempt<V>{nullptr, std::move(too_few)});
    };
    if constexpr (std::same_as<Space, device>) {
      if (try_copy(spmv_algorithm::compressed, detail::spmv::copy_kind::compressed,
                   [&] { return detail::spmv::compress<V, I, O>(ctx, matrix, demand); }) ||
          try_copy(spmv_algorithm::blocked, detail::spmv::copy_kind::blocked,
                   [&] { return detail::spmv::block_columns<V, I, O>(ctx, matrix, demand); }) ||
          try_copy(spmv_algorithm::binned, detail::spmv::copy_kind::binned,
                   [&] { return detail::spmv::bin_products<V, I, O>(ctx, matrix, demand); })) {
        return;
      }
    } else {
      const std::int64_t products = copies ? options.products : 0;
      if (try_copy(spmv_algorithm::compressed, detail::spmv::copy_kind::repeated_bands,
                   [&] { return detail::spmv::compress<V, I, O>(ctx, matrix, demand, products); })) {
        return;
      }
    }
    row_profile profile{matrix.rows, matrix.nnz()};
    if (automatic && !nothing) profile = detail::profile_rows<I, O>(ctx, matrix);
    choice chosen = automatic ? choose_csr(ctx, profile, {matrix.cols, sizeof(V)}) : *std::move(named);
    chosen.reason += refused;
    state_ = {std::move(chosen), std::make_unique<state>(ctx, matrix)};
    state_->profile = profile;
    state_->pattern = matrix;
    if (nothing) return;
    state_->executor = detail::spmv::make_executor<V, I, O>(ctx, matrix, algorithm(), profile);
    if (storage() == spmv_storage::copied) state_->fingerprint = detail::pattern_fingerprint<I, O>(ctx, matrix);
  } else {
    detail::no_device("spmv");
  }
} catch (...) {
  detail::rethrow("spmv");
}

template <value_type V, index_type I, index_type O, class Space>
spmv_plan<V, I, O, Space>::spmv_plan(const context<Space>& ctx, const ell_view<const V, I, Space>& matrix,
                                     const spmv_options& options) try
    : state_(make_state<state>(ctx, matrix, "ELL", detail::spmv::reads_ell, options.algorithm, spmv_algorithm::ell,
                               "the one for ELL", options.operation,
                               [&](auto) { return detail::spmv::make_executor<V, I>(ctx, matrix); })) {
} catch (...) {
  detail::rethrow("spmv");
}

template <value_type V, index_type I, index_type O, class Space>
spmv_plan<V, I, O, Space>::spmv_plan(const context<Space>& ctx, const sell_view<const V, I, O, Space>& matrix,
                                     const spmv_options& options) try
    : state_(make_state<state>(ctx, matrix, "SELL", detail::spmv::reads_sell, options.algorithm, spmv_algorithm::sell,
                               "the one for SELL-C-sigma", options.operation,
                               [&](auto) { return detail::spmv::make_executor<V, I, O>(ctx, matrix); })) {
} catch (...) {
  detail::rethrow("spmv");
}

template <value_type V, index_type I, index_type O, class Space>
spmv_plan<V, I, O, Space>::spmv_plan(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix,
                                     const spmv_options& options) try
    : state_(make_state<state>(
          ctx, apply(options.operation, matrix), "COO", detail::spmv::reads_coo, options.algorithm,
          spmv_algorithm::coo_segmented, "deterministic and balanced", spmv_operation::none, [&](auto algorithm) {
            return detail::spmv::make_executor<V, I>(ctx, apply(options.operation, matrix), algorithm);
          })) {
} catch (...) {
  detail::rethrow("spmv");
}

template <value_type V, index_type I, index_type O, class Space>
void spmv_plan<V, I, O, Space>::run(V alpha, span<const V, Space> x, V beta, span<V, Space> y) const try {
  expect_size("x", x.size(), state_->cols);
  expect_size("y", y.size(), state_->rows);
  detail::expect_apart("spmv", "y", detail::memory_of(y), "x", detail::memory_of(x));
  if (state_->rows == 0) return;
  if constexpr (detail::is_built<Space>) {
    if (alpha == V{} || state_->executor == nullptr) {
      detail::spmv::scale(state_->ctx, beta, y.data(), y.size());
    } else {
      state_->executor->run(alpha, x.data(), beta, y.data());
    }
  } else {
    detail::no_device("spmv");
  }
} catch (...) {
  detail::rethrow("spmv");
}

template <value_type V, index_type I, index_type O, class Space>
void spmv_plan<V, I, O, Space>::update_values(const csr_view<const V, I, O, Space>& matrix) try {
  check(matrix);
  if (!state_->pattern.has_value()) {
    throw error(error_code::unsupported, "spmv: update_values is for plans of CSR matrices");
  }
  auto& mine = *state_->pattern;
  expect_same_extent({matrix.rows, matrix.cols, matrix.nnz()}, {mine.rows, mine.cols, mine.nnz()});
  if (state_->executor == nullptr) return;
  if constexpr (detail::is_built<Space>) {
    const bool copied = storage() == spmv_storage::copied;
    const bool same_arrays =
        !copied && matrix.offsets.data() == mine.offsets.data() && matrix.indices.data() == mine.indices.data();
    if (!same_arrays) {
      const std::uint64_t expected =
          copied ? state_->fingerprint : detail::pattern_fingerprint<I, O>(state_->ctx, mine);
      SPARGO_EXPECTS((detail::pattern_fingerprint<I, O>(state_->ctx, matrix) == expected),
                     "spmv: update_values with another pattern than the plan's");
    }
    if (state_->transposed != nullptr) {
      state_->transposed->update(matrix);
    } else if (state_->operation != spmv_operation::none) {
      if constexpr (std::same_as<Space, host>) {
        state_->executor = detail::spmv::make_scatter<V, I, O>(state_->ctx, matrix, state_->operation);
        mine = matrix;
      }
    } else if (copied) {
      state_->executor->update_values(matrix.values.data());
    } else {
      state_->executor = detail::spmv::make_executor<V, I, O>(state_->ctx, matrix, algorithm(), state_->profile);
      mine = matrix;
    }
  } else {
    detail::no_device("spmv");
  }
} catch (...) {
  detail::rethrow("spmv");
}

template <value_type V, index_type I, index_type O, class Space>
spmv_storage spmv_plan<V, I, O, Space>::storage() const noexcept {
  return state_->executor == nullptr ? spmv_storage::borrowed : state_->executor->storage();
}

template <value_type V, index_type I, index_type O, class Space>
void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha, const csr_view<const V, I, O, Space>& matrix,
          std::type_identity_t<span<const V, Space>> x, std::type_identity_t<V> beta,
          std::type_identity_t<span<V, Space>> y, const spmv_options& options) {
  spmv_plan<V, I, O, Space>(ctx, matrix, options).run(alpha, x, beta, y);
}
template <value_type V, index_type I, class Space>
void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha, const ell_view<const V, I, Space>& matrix,
          std::type_identity_t<span<const V, Space>> x, std::type_identity_t<V> beta,
          std::type_identity_t<span<V, Space>> y, const spmv_options& options) {
  spmv_plan<V, I, I, Space>(ctx, matrix, options).run(alpha, x, beta, y);
}
template <value_type V, index_type I, index_type O, class Space>
void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha, const sell_view<const V, I, O, Space>& matrix,
          std::type_identity_t<span<const V, Space>> x, std::type_identity_t<V> beta,
          std::type_identity_t<span<V, Space>> y, const spmv_options& options) {
  spmv_plan<V, I, O, Space>(ctx, matrix, options).run(alpha, x, beta, y);
}
template <value_type V, index_type I, class Space>
void spmv(const context<Space>& ctx, std::type_identity_t<V> alpha, const coo_view<const V, I, Space>& matrix,
          std::type_identity_t<span<const V, Space>> x, std::type_identity_t<V> beta,
          std::type_identity_t<span<V, Space>> y, const spmv_options& options) {
  spmv_plan<V, I, I, Space>(ctx, matrix, options).run(alpha, x, beta, y);
}

#define INSTANTIATE_IN(V, I, O, S)                                                                              \
  template class spmv_plan<V, I, O, S>;                                                                         \
  template void spmv(const context<S>&, V, const csr_view<const V, I, O, S>&, span<const V, S>, V, span<V, S>,  \
                     const spmv_options&);                                                                      \
  template void spmv(const context<S>&, V, const sell_view<const V, I, O, S>&, span<const V, S>, V, span<V, S>, \
                     const spmv_options&);
#define INSTANTIATE(V, I, O)    \
  INSTANTIATE_IN(V, I, O, host) \
  INSTANTIATE_IN(V, I, O, device)
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_IN
#define INSTANTIATE_IN(V, I, S)                                                                             \
  template void spmv(const context<S>&, V, const ell_view<const V, I, S>&, span<const V, S>, V, span<V, S>, \
                     const spmv_options&);                                                                  \
  template void spmv(const context<S>&, V, const coo_view<const V, I, S>&, span<const V, S>, V, span<V, S>, \
                     const spmv_options&);
#define INSTANTIATE(V, I)    \
  INSTANTIATE_IN(V, I, host) \
  INSTANTIATE_IN(V, I, device)
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE)

}  // namespace spargo

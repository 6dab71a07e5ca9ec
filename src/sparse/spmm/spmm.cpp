// SpMM: checks, choice of algorithm with its reason, and the plan around an executor.
#include "core/algorithm_table.hpp"
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/products.hpp"
#include "sparse/spmm/executor.hpp"

#include <fmt/format.h>

#include <utility>

namespace spargo {

namespace {

using detail::row_profile;

constexpr detail::algorithm_table<spmm_algorithm, 3> algorithms{{
    {spmm_algorithm::automatic, "automatic", true, true},
    {spmm_algorithm::row_groups, "row_groups", true, true},
    {spmm_algorithm::merge_path, "merge_path", true, true},
}};

using choice = detail::plan_choice<spmm_algorithm>;

// Thresholds of the automatic choice on the device.
struct tuning {
  // With a tenth of the entries in long rows, a static assignment already leaves threads idle.
  static constexpr double irregular_share = 0.1;
};

choice choose(const context<host>&, const row_profile& p) {
  return detail::choose_on_host(p, spmm_algorithm::row_groups);
}

[[maybe_unused]] choice choose(const context<device>&, const row_profile& p) {  // unused without CUDA
  if (static_cast<double>(p.long_entries) > tuning::irregular_share * static_cast<double>(p.nnz) ||
      p.longest > 64 * detail::long_row_limit(p.rows, p.nnz)) {
    return {spmm_algorithm::merge_path, fmt::format("irregular rows: mean {:.1f} entries, longest {}, {} empty",
                                                    p.mean(), p.longest, p.empty_rows)};
  }
  return {spmm_algorithm::row_groups,
          fmt::format("regular rows: mean {:.1f} entries, longest {}", p.mean(), p.longest)};
}

template <class V, class Space>
void check_dense(std::string_view name, const dense_view<V, Space>& v, std::int64_t rows, std::int64_t cols) {
  SPARGO_EXPECTS(v.rows == rows && v.cols == cols,
                 fmt::format("spmm: {} is {} x {}, expected {} x {}", name, v.rows, v.cols, rows, cols));
  detail::expect_matrix("spmm", name, v);
}

}  // namespace

template <>
enum_table<spmm_algorithm> enum_rows() noexcept {
  return algorithms;
}

template <value_type V, index_type I, index_type O, class Space>
struct spmm_plan<V, I, O, Space>::state {
  context<Space> ctx;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t max_columns;
  detail::spmm::executor_ptr<V, Space> executor;  // null: nothing to multiply

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return detail::workspace_of(executor); }
};

template <value_type V, index_type I, index_type O, class Space>
spmm_plan<V, I, O, Space>::spmm_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                     std::int64_t max_columns, const spmm_options& options) try {
  detail::expect_csr("spmm", matrix);
  SPARGO_EXPECTS(max_columns >= 0, fmt::format("spmm: a plan for {} columns", max_columns));
  if constexpr (detail::is_built<Space>) {
    const bool nothing = matrix.rows == 0 || matrix.nnz() == 0;
    auto chosen = detail::choose_by_name<Space>(algorithms, "spmm", options.algorithm);
    if (!chosen) {
      row_profile profile{matrix.rows, matrix.nnz()};
      if (!nothing) profile = detail::profile_rows<I, O>(ctx, matrix);
      chosen = choose(ctx, profile);
    }
    detail::spmm::executor_ptr<V, Space> executor;
    if (!nothing) executor = detail::spmm::make_executor<V, I, O>(ctx, matrix, chosen->algorithm, max_columns);
    state_ = {*std::move(chosen),
              std::make_unique<state>(state{ctx, matrix.rows, matrix.cols, max_columns, std::move(executor)})};
  } else {
    detail::no_device("spmm");
  }
} catch (...) {
  detail::rethrow("spmm");
}

template <value_type V, index_type I, index_type O, class Space>
void spmm_plan<V, I, O, Space>::run(V alpha, const dense_view<const V, Space>& x, V beta,
                                    const dense_view<V, Space>& y) const try {
  SPARGO_EXPECTS(x.cols >= 0 && x.cols <= state_->max_columns,
                 fmt::format("spmm: {} columns, and the plan was made for at most {}", x.cols, state_->max_columns));
  check_dense("X", x, state_->cols, x.cols);
  check_dense("Y", y, state_->rows, x.cols);
  const auto y_extent = detail::extent_of(y);
  detail::expect_apart("spmm", "Y", detail::memory_of(y_extent), "X", detail::memory_of(detail::extent_of(x)));
  if (y_extent.elements() == 0) return;
  if constexpr (detail::is_built<Space>) {
    if (alpha == V{} || state_->executor == nullptr) {
      detail::spmm::scale_rows(state_->ctx, beta, y);
    } else {
      state_->executor->run(alpha, x, beta, y);
    }
  } else {
    detail::no_device("spmm");
  }
} catch (...) {
  detail::rethrow("spmm");
}

template <value_type V, index_type I, index_type O, class Space>
void spmm(const context<Space>& ctx, std::type_identity_t<V> alpha, const csr_view<const V, I, O, Space>& matrix,
          const std::type_identity_t<dense_view<const V, Space>>& x, std::type_identity_t<V> beta,
          const std::type_identity_t<dense_view<V, Space>>& y, const spmm_options& options) try {
  SPARGO_EXPECTS(x.cols >= 0, fmt::format("spmm: X has {} columns", x.cols));
  spmm_plan<V, I, O, Space>(ctx, matrix, x.cols, options).run(alpha, x, beta, y);
} catch (...) {
  detail::rethrow("spmm");
}

#define INSTANTIATE_IN(V, I, O, S)                                                                              \
  template class spmm_plan<V, I, O, S>;                                                                         \
  template void spmm(const context<S>&, V, const csr_view<const V, I, O, S>&, const dense_view<const V, S>&, V, \
                     const dense_view<V, S>&, const spmm_options&);
#define INSTANTIATE(V, I, O)    \
  INSTANTIATE_IN(V, I, O, host) \
  INSTANTIATE_IN(V, I, O, device)
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

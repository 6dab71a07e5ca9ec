// SpGEMM: checks, and the plan around an executor.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/spgemm/executor.hpp"
#include "sparse/spgemm/symbolic.hpp"

namespace spargo {

namespace detail::spgemm {

namespace {

template <class V, class I, class O, class Space>
void expect_factors(const csr_view<const V, I, O, Space>& a, const csr_view<const V, I, O, Space>& b,
                    const spgemm_options& options) {
  algebra::expect_arrays("spgemm", a);
  algebra::expect_arrays("spgemm", b);
  expect_sizes(a, b);
  SPARGO_EXPECTS(options.first_row >= 0 && options.first_row <= (options.last_row < 0 ? a.rows : options.last_row) &&
                     options.last_row <= a.rows,
                 fmt::format("spgemm: rows {} to {} of {}", options.first_row, options.last_row, a.rows));
  SPARGO_EXPECTS(options.max_result_bytes >= 0, fmt::format("spgemm: a limit of {} bytes", options.max_result_bytes));
}

template <class V, class I, class O, class Space>
executor_ptr<V, I, O, Space> new_executor(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                                          const csr_view<const V, I, O, Space>& b,
                                          const csr_pattern_view<I, O, Space>* mask, const spgemm_options& options) {
  if constexpr (is_built<Space>) {
    return make_executor<V, I, O>(ctx, a, b, mask, options);
  } else {
    no_device("spgemm");
  }
}

}  // namespace

}  // namespace detail::spgemm

template <entry_type V, index_type I, index_type O, class Space>
struct spgemm_plan<V, I, O, Space>::state {
  context<Space> ctx;
  detail::spgemm::executor_ptr<V, I, O, Space> executor;

  [[nodiscard]] array<V, Space> values() const {
    array<V, Space> made(ctx, is_pattern<V> ? 0 : executor->nnz());
    executor->fill(made.data());
    return made;
  }
};

template <entry_type V, index_type I, index_type O, class Space>
spgemm_plan<V, I, O, Space>::spgemm_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                                         const csr_view<const V, I, O, Space>& b, const spgemm_options& options) try {
  detail::spgemm::expect_factors(a, b, options);
  state_ = detail::new_state<state>(ctx, detail::spgemm::new_executor<V, I, O, Space>(ctx, a, b, nullptr, options));
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
spgemm_plan<V, I, O, Space>::spgemm_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                                         const csr_view<const V, I, O, Space>& b,
                                         const csr_pattern_view<I, O, Space>& mask, const spgemm_options& options) try {
  detail::spgemm::expect_factors(a, b, options);
  detail::algebra::expect_arrays("spgemm", csr_view<const pattern, I, O, Space>{mask, {}});
  SPARGO_EXPECTS(
      mask.rows == a.rows && mask.cols == b.cols,
      fmt::format("spgemm: the mask is {} x {} and the result {} x {}", mask.rows, mask.cols, a.rows, b.cols));
  state_ = detail::new_state<state>(ctx, detail::spgemm::new_executor<V, I, O, Space>(ctx, a, b, &mask, options));
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
std::int64_t spgemm_plan<V, I, O, Space>::result_nnz() const noexcept {
  return state_->executor->nnz();
}

template <entry_type V, index_type I, index_type O, class Space>
std::int64_t spgemm_plan<V, I, O, Space>::products() const noexcept {
  return state_->executor->products();
}

template <entry_type V, index_type I, index_type O, class Space>
csr_pattern_view<I, O, Space> spgemm_plan<V, I, O, Space>::result_pattern() const try {
  return state_->executor->result().view();
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
std::int64_t spgemm_plan<V, I, O, Space>::workspace_bytes() const noexcept {
  return state_->executor->workspace_bytes();
}

template <entry_type V, index_type I, index_type O, class Space>
void spgemm_plan<V, I, O, Space>::fill(span<V, Space> values) const try {
  const std::int64_t expected = is_pattern<V> ? 0 : result_nnz();
  SPARGO_EXPECTS(values.size() == expected, fmt::format("spgemm: {} values for {} entries", values.size(), expected));
  state_->executor->fill(values.data());
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> spgemm_plan<V, I, O, Space>::run() const try {
  array<V, Space> values = state_->values();
  const auto made = std::as_const(state_->executor->result()).view();
  return {made.rows, made.cols, clone(state_->ctx, made.offsets), clone(state_->ctx, made.indices), std::move(values)};
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> spgemm_plan<V, I, O, Space>::take() try {
  const detail::state_pointer<state> ended = std::move(state_);
  array<V, Space> values = ended->values();
  auto& made = ended->executor->result();
  return {made.rows(), made.cols(), std::move(made.offsets()), std::move(made.indices()), std::move(values)};
} catch (...) {
  detail::rethrow("spgemm");
}

#define INSTANTIATE(V, I, O)                 \
  template class spgemm_plan<V, I, O, host>; \
  template class spgemm_plan<V, I, O, device>;
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

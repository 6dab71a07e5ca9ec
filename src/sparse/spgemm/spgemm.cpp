// SpGEMM: checks, the plan, and the numeric phase, which adds products into a row's accumulator: dense from the row's
// first column to its last, or by a hash table of the row's columns (see accumulator_tuning).
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/spgemm/positions.hpp"
#include "sparse/spgemm/symbolic.hpp"

#include <algorithm>

namespace spargo {

namespace detail::spgemm {

namespace {

template <class V, class I, class O>
class numeric {
 public:
  numeric(const context<host>& ctx, const csr_view<const V, I, O, host>& a, const csr_view<const V, I, O, host>& b,
          const symbolic<I, O>& c)
      : a_(a), b_(b), sums_(ctx, ctx.threads() * c.widest) {
    for (int t = 0; t < ctx.threads() && c.longest > 0; ++t) tables_.emplace_back(ctx, c.longest);
  }

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t all = sums_.size() * static_cast<std::int64_t>(sizeof(V));
    for (const auto& t : tables_) all += t.bytes();
    return all;
  }

  void fill(const context<host>& ctx, const symbolic<I, O>& c, V* values) {
    const auto result = c.result.view();
    on_threads(ctx.threads(), std::ssize(c.parts) - 1, [&](part_taker& mine) {
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t r = c.parts[static_cast<std::size_t>(p)]; r < c.parts[static_cast<std::size_t>(p) + 1]; ++r) {
          const std::int64_t first = result.offsets[r];
          const std::int64_t count = result.offsets[r + 1] - first;
          if (count == 0) continue;
          const I* const columns = result.indices.data() + first;
          if (c.masked || !has_dense_accumulator(columns, count)) {
            by_table(c.first + r, columns, count, values + first, tables_[static_cast<std::size_t>(mine.slot())]);
          } else {
            by_sums(c.first + r, columns, count, values + first, sums_.data() + mine.slot() * c.widest);
          }
        }
      }
    });
  }

 private:
  void by_sums(std::int64_t row, const I* columns, std::int64_t count, V* values, V* sums) const {
    const I lowest = columns[0];
    for (std::int64_t k = 0; k < count; ++k) sums[columns[k] - lowest] = V{};
    for (std::int64_t k = a_.offsets[row]; k < a_.offsets[row + 1]; ++k) {
      const std::int64_t j = a_.indices[k];
      const V factor = a_.values[k];
      for (std::int64_t q = b_.offsets[j]; q < b_.offsets[j + 1]; ++q) {
        sums[b_.indices[q] - lowest] += multiply(factor, b_.values[q]);
      }
    }
    for (std::int64_t k = 0; k < count; ++k) values[k] = sums[columns[k] - lowest];
  }

  void by_table(std::int64_t row, const I* columns, std::int64_t count, V* values, position_table<I>& table) const {
    table.load(columns, count);
    std::fill_n(values, count, V{});
    for (std::int64_t k = a_.offsets[row]; k < a_.offsets[row + 1]; ++k) {
      const std::int64_t j = a_.indices[k];
      const V factor = a_.values[k];
      for (std::int64_t q = b_.offsets[j]; q < b_.offsets[j + 1]; ++q) {
        const I position = table.find(b_.indices[q]);
        if (position >= 0) values[position] += multiply(factor, b_.values[q]);
      }
    }
  }

  csr_view<const V, I, O, host> a_;
  csr_view<const V, I, O, host> b_;
  array<V, host> sums_;                    // per thread
  std::vector<position_table<I>> tables_;  // per thread
};

template <class I, class O>
class numeric<pattern, I, O> {
 public:
  numeric(const context<host>&, const csr_view<const pattern, I, O, host>&, const csr_view<const pattern, I, O, host>&,
          const symbolic<I, O>&) {}
  [[nodiscard]] std::int64_t bytes() const { return 0; }
  void fill(const context<host>&, const symbolic<I, O>&, pattern*) {}
};

template <class V, class I, class O>
void expect_factors(const csr_view<const V, I, O, host>& a, const csr_view<const V, I, O, host>& b,
                    const spgemm_options& options) {
  algebra::expect_arrays("spgemm", a);
  algebra::expect_arrays("spgemm", b);
  expect_sizes(a, b);
  SPARGO_EXPECTS(options.first_row >= 0 && options.first_row <= (options.last_row < 0 ? a.rows : options.last_row) &&
                     options.last_row <= a.rows,
                 fmt::format("spgemm: rows {} to {} of {}", options.first_row, options.last_row, a.rows));
  SPARGO_EXPECTS(options.max_result_bytes >= 0, fmt::format("spgemm: a limit of {} bytes", options.max_result_bytes));
}

}  // namespace

}  // namespace detail::spgemm

template <entry_type V, index_type I, index_type O, class Space>
struct spgemm_plan<V, I, O, Space>::state {
  context<host> ctx;
  detail::spgemm::symbolic<I, O> found;
  detail::spgemm::numeric<V, I, O> numeric;

  state(const context<host>& where, const csr_view<const V, I, O, host>& a, const csr_view<const V, I, O, host>& b,
        const csr_pattern_view<I, O, host>* mask, const spgemm_options& options)
      : ctx(where),
        found(detail::spgemm::find_pattern<I, O>(where, a, b, mask, options,
                                                 static_cast<std::int64_t>(detail::algebra::moved_bytes<V>))),
        numeric(where, a, b, found) {}

  [[nodiscard]] array<V, host> values() {
    array<V, host> made(ctx, is_pattern<V> ? 0 : found.result.nnz());
    numeric.fill(ctx, found, made.data());
    return made;
  }
};

template <entry_type V, index_type I, index_type O, class Space>
spgemm_plan<V, I, O, Space>::spgemm_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a,
                                         const csr_view<const V, I, O, Space>& b, const spgemm_options& options) try {
  detail::spgemm::expect_factors(a, b, options);
  state_ = detail::new_state<state>(ctx, a, b, nullptr, options);
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
  state_ = detail::new_state<state>(ctx, a, b, &mask, options);
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
std::int64_t spgemm_plan<V, I, O, Space>::result_nnz() const noexcept {
  return state_->found.result.nnz();
}

template <entry_type V, index_type I, index_type O, class Space>
std::int64_t spgemm_plan<V, I, O, Space>::products() const noexcept {
  return state_->found.products;
}

template <entry_type V, index_type I, index_type O, class Space>
csr_pattern_view<I, O, Space> spgemm_plan<V, I, O, Space>::result_pattern() const noexcept {
  return state_->found.result.view();
}

template <entry_type V, index_type I, index_type O, class Space>
std::int64_t spgemm_plan<V, I, O, Space>::workspace_bytes() const noexcept {
  const auto& made = state_->found.result;
  return state_->numeric.bytes() + made.nnz() * static_cast<std::int64_t>(sizeof(I)) +
         made.offsets().size() * static_cast<std::int64_t>(sizeof(O));
}

template <entry_type V, index_type I, index_type O, class Space>
void spgemm_plan<V, I, O, Space>::fill(span<V, Space> values) const try {
  const std::int64_t expected = is_pattern<V> ? 0 : result_nnz();
  SPARGO_EXPECTS(values.size() == expected, fmt::format("spgemm: {} values for {} entries", values.size(), expected));
  state_->numeric.fill(state_->ctx, state_->found, values.data());
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> spgemm_plan<V, I, O, Space>::run() const try {
  const auto made = state_->found.result.view();
  return {made.rows, made.cols, clone(state_->ctx, made.offsets), clone(state_->ctx, made.indices), state_->values()};
} catch (...) {
  detail::rethrow("spgemm");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> spgemm_plan<V, I, O, Space>::take() try {
  const detail::state_pointer<state> ended = std::move(state_);
  array<V, host> values = ended->values();
  return detail::algebra::with_values(std::move(ended->found.result), std::move(values));
} catch (...) {
  detail::rethrow("spgemm");
}

#define INSTANTIATE(V, I, O) template class spgemm_plan<V, I, O, host>;
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

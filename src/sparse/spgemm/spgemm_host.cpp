// Numeric phase on the host: products are added into a row's accumulator, dense from the row's first column to its
// last, or by a hash table of the row's columns (see accumulator_tuning).
#include "core/instantiate.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/spgemm/executor.hpp"
#include "sparse/spgemm/positions.hpp"
#include "sparse/spgemm/symbolic.hpp"

#include <algorithm>

namespace spargo::detail::spgemm {

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
class host_executor final : public executor<V, I, O, host> {
 public:
  host_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                const csr_view<const V, I, O, host>& b, const csr_pattern_view<I, O, host>* mask,
                const spgemm_options& options)
      : ctx_(ctx),
        found_(find_pattern<I, O>(ctx, a, b, mask, options, static_cast<std::int64_t>(algebra::moved_bytes<V>))),
        numeric_(ctx, a, b, found_) {}

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const auto& made = found_.result;
    return numeric_.bytes() + made.nnz() * static_cast<std::int64_t>(sizeof(I)) +
           made.offsets().size() * static_cast<std::int64_t>(sizeof(O));
  }
  [[nodiscard]] std::int64_t products() const noexcept override { return found_.products; }
  [[nodiscard]] std::int64_t nnz() const noexcept override { return found_.result.nnz(); }
  [[nodiscard]] csr_matrix<pattern, I, O, host>& result() override { return found_.result; }
  void fill(V* values) override { numeric_.fill(ctx_, found_, values); }

 private:
  context<host> ctx_;
  symbolic<I, O> found_;
  numeric<V, I, O> numeric_;
};

}  // namespace

template <class V, class I, class O>
executor_ptr<V, I, O, host> make_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                                          const csr_view<const V, I, O, host>& b,
                                          const csr_pattern_view<I, O, host>* mask, const spgemm_options& options) {
  return std::make_unique<host_executor<V, I, O>>(ctx, a, b, mask, options);
}

#define INSTANTIATE(V, I, O)                                                                                     \
  template executor_ptr<V, I, O, host> make_executor(const context<host>&, const csr_view<const V, I, O, host>&, \
                                                     const csr_view<const V, I, O, host>&,                       \
                                                     const csr_pattern_view<I, O, host>*, const spgemm_options&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spgemm

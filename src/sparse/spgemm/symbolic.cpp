// Rows of A are divided into parts with similar numbers of products. A thread finds the sorted columns of a part's rows
// in its scratch and keeps them in an array of exactly their size. At the end each part is copied into place and freed.
// One pass finds the pattern; its memory is needed twice for a short time, before there are values.
#include "sparse/spgemm/symbolic.hpp"

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "core/search.hpp"
#include "sparse/algebra/rows.hpp"
#include "sparse/spgemm/column_set.hpp"
#include "sparse/spgemm/executor.hpp"
#include "sparse/spgemm/positions.hpp"

#include <spargo/sparse/algebra.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

namespace spargo {

namespace detail::spgemm {

namespace {

struct tuning {
  // Parts of this many products: long enough to be worth a thread's scratch, and short enough to balance.
  static constexpr std::int64_t products_per_part = 1 << 18;
  static constexpr std::int64_t parts_per_thread = 8;
};

bool is_over_limit(std::int64_t nnz, const spgemm_options& options, std::int64_t entry_bytes) {
  return options.max_result_bytes > 0 && nnz > options.max_result_bytes / entry_bytes;
}

// Products of the rows before row r, for r up to A.rows.
template <class I, class O>
array<std::int64_t, host> products_before(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                                          const csr_pattern_view<I, O, host>& b) {
  expect_sizes(a, b);
  array<std::int64_t, host> before(ctx, std::int64_t{a.rows} + 1);
  before[0] = 0;
  parallel_for(ctx.threads(), a.rows, grain::rows, [&](std::int64_t r) {
    std::int64_t products = 0;
    for (std::int64_t k = a.offsets[r]; k < a.offsets[r + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      products += b.offsets[j + 1] - b.offsets[j];
    }
    before[r + 1] = products;
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

// Bounds of parts of `rows`, each with about as many products, counting a row as one more.
std::vector<std::int64_t> divide(span<const std::int64_t, host> before, std::int64_t first, std::int64_t last,
                                 std::int64_t count) {
  const auto work = [&](std::int64_t r) { return before[r] - before[first] + (r - first); };
  std::vector<std::int64_t> bounds{0};
  for (std::int64_t p = 1; p < count; ++p) {
    const std::int64_t wanted = work(last) / count * p;
    const std::int64_t low =
        first_where(first + bounds.back(), last, [&](std::int64_t row) { return work(row) >= wanted; });
    if (low - first > bounds.back() && low < last) bounds.push_back(low - first);
  }
  if (last - first > bounds.back()) bounds.push_back(last - first);
  return bounds;
}

template <class I, class O>
struct row_finder {
  const csr_pattern_view<I, O, host>& a;
  const csr_pattern_view<I, O, host>& b;
  const csr_pattern_view<I, O, host>* mask;
  column_set<I> columns;
  std::optional<position_table<I>> allowed;
  std::vector<std::uint8_t> seen;

  row_finder(const context<host>& ctx, const csr_pattern_view<I, O, host>& left,
             const csr_pattern_view<I, O, host>& right, const csr_pattern_view<I, O, host>* masked,
             std::int64_t longest_mask_row)
      : a(left), b(right), mask(masked), columns(masked == nullptr ? right.cols : I{0}) {
    if (masked == nullptr) return;
    allowed.emplace(ctx, longest_mask_row);
    seen.resize(static_cast<std::size_t>(longest_mask_row));
  }

  // Writes the ascending columns of row r to `to`, unless null; returns their number.
  std::int64_t find(std::int64_t r, std::int64_t products, I* to) {
    if (mask != nullptr) return find_masked(r, to);
    columns.expect(products);
    for (std::int64_t k = a.offsets[r]; k < a.offsets[r + 1]; ++k) {
      const std::int64_t first = b.offsets[a.indices[k]];
      columns.add(b.indices.data() + first, b.offsets[a.indices[k] + std::int64_t{1}] - first);
    }
    return columns.drain(to);
  }

 private:
  std::int64_t find_masked(std::int64_t r, I* to) {
    const I* const wanted = mask->indices.data() + mask->offsets[r];
    const std::int64_t most = mask->offsets[r + 1] - mask->offsets[r];
    if (most == 0) return 0;
    allowed->load(wanted, most);
    std::fill_n(seen.begin(), most, std::uint8_t{0});
    for (std::int64_t k = a.offsets[r]; k < a.offsets[r + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      for (std::int64_t q = b.offsets[j]; q < b.offsets[j + 1]; ++q) {
        const I position = allowed->find(b.indices[q]);
        if (position >= 0) seen[static_cast<std::size_t>(position)] = 1;
      }
    }
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < most; ++k) {
      if (seen[static_cast<std::size_t>(k)] == 0) continue;
      if (to != nullptr) to[count] = wanted[k];
      ++count;
    }
    return count;
  }
};

template <class I, class O>
std::int64_t longest_row_of(const csr_pattern_view<I, O, host>& m) {
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    longest = std::max<std::int64_t>(longest, m.offsets[r + 1] - m.offsets[r]);
  }
  return longest;
}

// Finds all rows, part by part.
template <class I, class O>
class pattern_finder {
 public:
  pattern_finder(const context<host>& ctx, const csr_pattern_view<I, O, host>& a, const csr_pattern_view<I, O, host>& b,
                 const csr_pattern_view<I, O, host>* mask, const spgemm_options& options, std::int64_t value_bytes)
      : ctx_(ctx), a_(a), b_(b), mask_(mask), options_(options), value_bytes_(value_bytes) {}

  [[nodiscard]] symbolic<I, O> find() {
    const array<std::int64_t, host> before = products_before(ctx_, a_, b_);
    const std::int64_t first = options_.first_row;
    const std::int64_t last = options_.last_row < 0 ? a_.rows : options_.last_row;
    symbolic<I, O> found;
    found.first = first;
    found.products = before[last] - before[first];
    found.masked = mask_ != nullptr;
    const std::int64_t most = std::max<std::int64_t>(1, last - first);
    found.parts = divide(before, first, last,
                         std::clamp<std::int64_t>((found.products + last - first) / tuning::products_per_part, 1,
                                                  std::min(most, std::int64_t{1} << 16)));
    array<O, host> offsets(ctx_, last - first + 1);
    part_columns_.resize(found.parts.size() - 1);
    find_rows(found, before, offsets);
    const std::int64_t nnz = add_up(offsets);
    found.result = {static_cast<I>(last - first), b_.cols, std::move(offsets), {ctx_, nnz}, {}};
    place(found);
    return found;
  }

 private:
  [[nodiscard]] std::int64_t entry_bytes() const { return static_cast<std::int64_t>(sizeof(I)) + value_bytes_; }
  [[nodiscard]] bool is_refused(std::int64_t entries) const {
    return is_over_limit(entries, options_, entry_bytes()) || entries > std::numeric_limits<O>::max();
  }

  // Writes rows' lengths to `offsets`, their columns to the buffers. A pattern over the limit is only counted, for the
  // message.
  void find_rows(const symbolic<I, O>& found, const array<std::int64_t, host>& before, array<O, host>& offsets) {
    const std::int64_t longest_mask_row = mask_ == nullptr ? 0 : longest_row_of(*mask_);
    std::atomic<std::int64_t> entries{0};
    const auto parts = static_cast<std::int64_t>(part_columns_.size());
    on_threads(ctx_.threads(), parts, [&](part_taker& mine) {
      std::optional<row_finder<I, O>> finder;
      std::vector<I> columns;
      for (std::int64_t p; mine.take(p);) {
        if (!finder.has_value()) finder.emplace(ctx_, a_, b_, mask_, longest_mask_row);
        const auto part = static_cast<std::size_t>(p);
        const bool counts_only = is_refused(entries.load(std::memory_order_relaxed));
        std::int64_t size = 0;
        for (std::int64_t r = found.parts[part]; r < found.parts[part + 1]; ++r) {
          const std::int64_t row = found.first + r;
          const std::int64_t products = before[row + 1] - before[row];
          const std::int64_t most = std::min<std::int64_t>(products, b_.cols);
          if (!counts_only && std::ssize(columns) < size + most) {
            columns.resize(static_cast<std::size_t>(std::max(size + most, size + size / 2)));
          }
          const std::int64_t count = finder->find(row, products, counts_only ? nullptr : columns.data() + size);
          offsets[r] = static_cast<O>(count);
          size += count;
        }
        entries.fetch_add(size, std::memory_order_relaxed);
        if (counts_only) continue;
        part_columns_[part] = {ctx_, size};
        std::copy_n(columns.data(), size, part_columns_[part].data());
      }
    });
  }

  // Turns lengths into offsets.
  [[nodiscard]] std::int64_t add_up(array<O, host>& offsets) const {
    const std::int64_t rows = offsets.size() - 1;
    std::int64_t nnz = 0;
    for (std::int64_t r = 0; r < rows; ++r) nnz += offsets[r];
    expect_result_fits(nnz, options_, entry_bytes(), sizeof(O));
    std::int64_t before = 0;
    for (std::int64_t r = 0; r < rows; ++r) before += std::exchange(offsets[r], static_cast<O>(before));
    offsets[rows] = static_cast<O>(nnz);
    return nnz;
  }

  // Copies the columns into place; chooses the accumulators.
  void place(symbolic<I, O>& found) {
    array<I, host>& indices = found.result.indices();
    const array<O, host>& offsets = found.result.offsets();
    std::atomic<std::int64_t> widest{0};
    std::atomic<std::int64_t> longest{0};
    const auto raise = [](std::atomic<std::int64_t>& to, std::int64_t value) {
      std::int64_t now = to.load(std::memory_order_relaxed);
      while (value > now && !to.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
      }
    };
    parallel_parts(ctx_.threads(), std::ssize(part_columns_), [&](std::int64_t p) {
      const auto part = static_cast<std::size_t>(p);
      std::copy(part_columns_[part].begin(), part_columns_[part].end(), indices.data() + offsets[found.parts[part]]);
      part_columns_[part] = {};
      std::int64_t width = 0;
      std::int64_t length = 0;
      for (std::int64_t r = found.parts[part]; r < found.parts[part + 1]; ++r) {
        const std::int64_t count = offsets[r + 1] - offsets[r];
        if (count == 0) continue;
        const I* const columns = indices.data() + offsets[r];
        if (found.masked || !has_dense_accumulator(columns, count)) {
          length = std::max(length, count);
        } else {
          width = std::max<std::int64_t>(width, std::int64_t{columns[count - 1]} - columns[0] + 1);
        }
      }
      raise(widest, width);
      raise(longest, length);
    });
    found.widest = widest;
    found.longest = longest;
  }

  const context<host>& ctx_;
  const csr_pattern_view<I, O, host>& a_;
  const csr_pattern_view<I, O, host>& b_;
  const csr_pattern_view<I, O, host>* mask_;
  const spgemm_options& options_;
  std::int64_t value_bytes_;
  std::vector<array<I, host>> part_columns_;  // by part: its rows' columns
};

}  // namespace

void expect_result_fits(std::int64_t nnz, const spgemm_options& options, std::int64_t entry_bytes,
                        std::size_t offset_bytes) {
  if (is_over_limit(nnz, options, entry_bytes)) {
    throw error(error_code::out_of_memory,
                fmt::format("spgemm: the result has {} entries and takes {} bytes, the limit is {}", nnz,
                            nnz * entry_bytes, options.max_result_bytes));
  }
  algebra::expect_entries_fit("spgemm", nnz, offset_bytes);
}

template <index_type I, index_type O>
symbolic<I, O> find_pattern(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                            const csr_pattern_view<I, O, host>& b, const csr_pattern_view<I, O, host>* mask,
                            const spgemm_options& options, std::int64_t value_bytes) {
  csr_matrix<pattern, I, O, host> sorted_mask;
  csr_pattern_view<I, O, host> sorted_view;
  if (mask != nullptr && !is_canonical<I, O>(ctx, *mask)) {
    sorted_mask = canonical(ctx, csr_view<const pattern, I, O, host>{*mask, {}});
    sorted_view = std::as_const(sorted_mask).view();
    mask = &sorted_view;
  }
  return pattern_finder<I, O>(ctx, a, b, mask, options, value_bytes).find();
}

#define INSTANTIATE_I_O(I, O)                                                                                    \
  template symbolic<I, O> find_pattern(const context<host>&, const csr_pattern_view<I, O, host>&,                \
                                       const csr_pattern_view<I, O, host>&, const csr_pattern_view<I, O, host>*, \
                                       const spgemm_options&, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_I_O)

}  // namespace detail::spgemm

template <index_type I, index_type O>
std::int64_t count_products(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                            const csr_pattern_view<I, O, host>& b) try {
  return detail::spgemm::products_before(ctx, a, b)[a.rows];
} catch (...) {
  detail::rethrow("spgemm");
}

template <index_type I, index_type O>
std::vector<std::int64_t> spgemm_row_blocks(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                                            const csr_pattern_view<I, O, host>& b, std::int64_t products) try {
  const array<std::int64_t, host> before = detail::spgemm::products_before(ctx, a, b);
  std::vector<std::int64_t> bounds{0};
  while (bounds.back() < a.rows) {
    const std::int64_t* const first = before.data() + bounds.back();
    const std::int64_t* const past = std::upper_bound(first + 1, before.data() + a.rows + 1, *first + products);
    bounds.push_back(std::max<std::int64_t>(bounds.back() + 1, past - before.data() - 1));
  }
  return bounds;
} catch (...) {
  detail::rethrow("spgemm");
}

#define INSTANTIATE(I, O)                                                                                         \
  template std::int64_t count_products(const context<host>&, const csr_pattern_view<I, O, host>&,                 \
                                       const csr_pattern_view<I, O, host>&);                                      \
  template std::vector<std::int64_t> spgemm_row_blocks(const context<host>&, const csr_pattern_view<I, O, host>&, \
                                                       const csr_pattern_view<I, O, host>&, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo

// Triangular solves on a device: the levels of the rows, the triangle copied in their order, solves and sweeps.
//
// Levels and solves are both values of rows that depend on each other (in_order.cuh), the levels in the order of the
// rows and the solves in that of the levels: then the rows in flight are independent of each other, and neighbouring
// ones need neighbouring elements. Columns of the copy are places, 32-bit numbers whatever the matrix has.
#include "core/bytes_of.hpp"
#include "core/instantiate.hpp"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"
#include "sparse/device.cuh"
#include "sparse/triangular_solve/executor.hpp"
#include "sparse/triangular_solve/in_order.cuh"

#include <spargo/primitives/scan.hpp>

#include <bit>
#include <limits>
#include <string>
#include <utility>

namespace spargo::detail::triangular {

namespace {

// --- Levels ----------------------------------------------------------------------------------------------------------

// Places are steps: rows upwards or downwards.
template <class I, class O>
struct level_rule {
  using value = std::uint32_t;
  using sum_type = std::uint32_t;
  struct weight_type {};
  struct row_data {};

  const O* offsets;
  const I* indices;
  std::int64_t rows;
  bool is_upper;

  [[nodiscard]] __device__ std::int64_t row(std::int64_t step) const { return is_upper ? rows - 1 - step : step; }
  [[nodiscard]] __device__ std::int64_t begin(std::int64_t step) const { return offsets[row(step)]; }
  [[nodiscard]] __device__ std::int64_t end(std::int64_t step) const { return offsets[row(step) + 1]; }
  [[nodiscard]] __device__ row_data load(std::int64_t /*step*/) const { return {}; }
  [[nodiscard]] __device__ std::int64_t source(std::int64_t step, std::int64_t entry) const {
    const std::int64_t needed = row(static_cast<std::int64_t>(indices[entry]));
    return needed < step ? needed : -1;
  }
  [[nodiscard]] __device__ weight_type weight(std::int64_t /*entry*/) const { return {}; }
  __device__ void add(sum_type& sum, weight_type /*by*/, value level) const { sum = level + 1 > sum ? level + 1 : sum; }
  [[nodiscard]] __device__ sum_type combine(sum_type a, sum_type b) const { return a < b ? b : a; }
  [[nodiscard]] __device__ value finish(row_data /*row*/, sum_type sum) const { return sum; }
};

// --- The copy --------------------------------------------------------------------------------------------------------

// Which entries of which row: rows null: of row `place`.
struct row_choice {
  const std::uint32_t* rows;
  bool is_upper;

  [[nodiscard]] __device__ std::int64_t row(std::int64_t place) const { return rows == nullptr ? place : rows[place]; }
  [[nodiscard]] __device__ bool has(std::int64_t row, std::int64_t col) const {
    return is_upper ? col > row : col < row;
  }
};

// A warp for each place.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_kernel(row_choice which, const O* offsets, const I* indices, std::int64_t places, O* lengths) {
  for (std::int64_t place = global_thread() / warp_size; place < places; place += grid_threads() / warp_size) {
    const std::int64_t row = which.row(place);
    const std::int64_t last = offsets[row + 1];
    std::int64_t mine = 0;
    for (std::int64_t e = std::int64_t{offsets[row]} + lane_id(); e < last; e += warp_size) {
      mine += which.has(row, static_cast<std::int64_t>(indices[e])) ? 1 : 0;
    }
    mine = warp_sum(mine);
    if (lane_id() == 0) lengths[place] = static_cast<O>(mine);
  }
}

template <class R>
__device__ bool is_normal(R v) {
  constexpr R least = std::numeric_limits<R>::min();
  return isfinite(v) && fabs(v) >= least;
}
template <class R>
__device__ bool is_normal(device_complex<R> v) {
  return isfinite(v.re) && isfinite(v.im) && is_normal(fabs(v.re) > fabs(v.im) ? v.re : v.im);
}

// What the copy finds on the diagonal.
struct diagonal_facts {
  count64 zero_row;  // the largest number: none
  int divides;       // an element has an inverse that is not a normal number
};

template <class D, class O, class Place = std::uint32_t>
struct copied_triangle {
  O* offsets;
  Place* indices;
  D* values;
  D* inverse;   // of the diagonal, 0: divide; null: it is 1
  D* diagonal;  // null where no row divides
};

template <class D, class I, class O>
__global__ void __launch_bounds__(block_threads)
    copy_kernel(row_choice which, const O* offsets, const I* indices, const D* values, std::int64_t places,
                const std::uint32_t* place_of, copied_triangle<D, O> to, diagonal_facts* found) {
  for (std::int64_t place = global_thread() / warp_size; place < places; place += grid_threads() / warp_size) {
    const std::int64_t row = which.row(place);
    const std::int64_t last = offsets[row + 1];
    std::int64_t at = to.offsets[place];
    D on_diagonal{};
    for (std::int64_t base = offsets[row]; base < last; base += warp_size) {
      const std::int64_t e = base + lane_id();
      const std::int64_t col = e < last ? static_cast<std::int64_t>(indices[e]) : row;
      const bool is_inside = which.has(row, col);
      if (e < last && col == row) on_diagonal = on_diagonal + values[e];
      const unsigned inside = __ballot_sync(full_mask, is_inside);
      if (is_inside) {
        const std::int64_t mine = at + __popc(inside & ((1U << lane_id()) - 1));
        to.indices[mine] = place_of == nullptr ? static_cast<std::uint32_t>(col) : place_of[col];
        to.values[mine] = values[e];
      }
      at += __popc(inside);
    }
    if (to.inverse == nullptr) continue;
    on_diagonal = warp_reduce(on_diagonal, plus{});
    if (lane_id() != 0) continue;
    if (on_diagonal == D{}) atomicMin(&found->zero_row, static_cast<count64>(row));
    D inverse = D{1} / on_diagonal;
    if (!is_normal(inverse)) {
      inverse = D{};
      found->divides = 1;
    }
    to.inverse[place] = inverse;
    to.diagonal[place] = on_diagonal;
  }
}

// --- Solves ----------------------------------------------------------------------------------------------------------

template <class D, class O>
struct triangle_rows : copied_triangle<const D, const O, const std::uint32_t> {
  const D* b;
  D* x;

  // (b - sum) / diagonal
  [[nodiscard]] __device__ D solved(D right, D sum, D inverse, std::int64_t place) const {
    const D rest = right - sum;
    if (this->inverse == nullptr) return rest;
    if (this->diagonal != nullptr && inverse == D{}) return rest / this->diagonal[place];
    return rest * inverse;
  }
};

template <class D, class O>
struct solve_rule : triangle_rows<D, O> {
  using value = D;
  using sum_type = D;
  using weight_type = D;
  struct row_data {
    D right;
    D inverse;
    std::int64_t row;
    std::int64_t place;
  };

  const std::uint32_t* rows;

  [[nodiscard]] __device__ std::int64_t begin(std::int64_t place) const { return this->offsets[place]; }
  [[nodiscard]] __device__ std::int64_t end(std::int64_t place) const { return this->offsets[place + 1]; }
  [[nodiscard]] __device__ row_data load(std::int64_t place) const {
    const std::int64_t row = rows[place];
    return {this->b[row], this->inverse == nullptr ? D{} : this->inverse[place], row, place};
  }
  [[nodiscard]] __device__ std::int64_t source(std::int64_t /*place*/, std::int64_t entry) const {
    return this->indices[entry];
  }
  [[nodiscard]] __device__ D weight(std::int64_t entry) const { return read_once(this->values + entry); }
  __device__ void add(D& sum, D by, D value) const { sum = multiply_add(by, value, sum); }
  [[nodiscard]] __device__ D combine(D a, D b) const { return a + b; }
  [[nodiscard]] __device__ D finish(const row_data& row, D sum) const {
    const D value = this->solved(row.right, sum, row.inverse, row.place);
    this->x[row.row] = value;
    return value;
  }
};

// x = D^-1 (b - (T - D) known), `width` lanes for each row; known null: D^-1 b.
template <class D, class O>
__global__ void __launch_bounds__(block_threads)
    sweep_kernel(triangle_rows<D, O> t, std::int64_t rows, int width, const D* known, const int* active) {
  if (active != nullptr && *active == 0) return;
  const int lane = lane_id() & (width - 1);
  const std::int64_t groups = grid_threads() / width;
  const std::int64_t rounds = (rows + groups - 1) / groups;
  std::int64_t row = global_thread() / width;
  for (std::int64_t k = 0; k < rounds; ++k, row += groups) {  // all lanes of a warp together
    D sum{};
    if (row < rows && known != nullptr) {
      const std::int64_t last = t.offsets[row + 1];
      for (std::int64_t e = std::int64_t{t.offsets[row]} + lane; e < last; e += width) {
        sum = multiply_add(read_once(t.values + e), known[t.indices[e]], sum);
      }
    }
    sum = group_sum(sum, width);
    if (row < rows && lane == 0) {
      t.x[row] = t.solved(t.b[row], sum, t.inverse == nullptr ? D{} : t.inverse[row], row);
    }
  }
}

void expect_rows(std::int64_t n) {
  if (n < std::int64_t{std::numeric_limits<std::uint32_t>::max()}) return;
  throw error(error_code::unsupported,
              "triangular_solve: " + std::to_string(n) + " rows (expected less than 2^32 - 1 on a device)");
}

template <class V, class O>
class solver final : public executor<V, device> {
 public:
  using D = device_value_t<V>;

  template <class I>
  solver(const context<device>& ctx, const csr_view<const V, I, O, device>& m, const triangular_solve_options& options,
         device_order order)
      : ctx_(ctx), order_(std::move(order)), sweeps_(options.sweeps) {
    expect_rows(m.rows);
    this->rows = m.rows;
    const device_guard guard(ctx);
    if (sweeps_ == 0 && order_.rows.empty()) {
      order_ = order_by_levels<I, O>(ctx, csr_pattern_view<I, O, device>(m), options.part);
    }
    this->levels = order_.levels;
    this->reason = sweeps_ > 0 ? describe_sweeps(sweeps_)
                               : describe_levels(this->levels, this->rows, "rows wait for those that they need");
    offsets_ = {ctx, this->rows + 1};
    fill_zero(ctx, offsets_.view());
    if (this->rows == 0) return;
    copy_rows(m, options);
    width_ = lanes_for(values_.size(), this->rows);
    if (sweeps_ > 0) {
      for (array<D, device>& x : between_) x = {ctx, this->rows};
      return;
    }
    places_ = {ctx, this->rows};
    const std::int64_t in_flight =
        waiting_tuning::levels_in_flight * div_up(this->rows, std::max<std::int64_t>(1, this->levels));
    blocks_ = blocks_in_flight<solve_rule<D, O>>(ctx, this->rows, width_, in_flight);
  }

  void run(const V* b, V* x, const int* active) const override {
    if (this->rows == 0) return;
    const device_guard guard(ctx_);
    if (sweeps_ > 0) return sweep(device_cast(b), device_cast(x), active);
    const solve_rule<D, O> rule{{triangle(), device_cast(b), device_cast(x)}, order_.rows.data()};
    launch_in_order(ctx_, rule, this->rows, width_, blocks_, places_, active);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(order_.rows, offsets_, indices_, values_, inverse_, diagonal_, between_[0], between_[1]) +
           places_.bytes();
  }

 private:
  template <class I>
  void copy_rows(const csr_view<const V, I, O, device>& m, const triangular_solve_options& options) {
    const std::int64_t n = this->rows;
    const bool is_unit = options.diagonal == triangle_diagonal::implicit_unit_diagonal;
    const row_choice which{sweeps_ > 0 ? nullptr : order_.rows.data(), options.part == triangle_part::upper_triangle};
    const launch_shape shape = grid_stride(ctx_, n * warp_size);
    launch_kernel(ctx_, shape, count_kernel<I, O>, which, m.offsets.data(), m.indices.data(), n, offsets_.data() + 1);
    inclusive_scan<O, device>(ctx_, std::as_const(offsets_).view(), offsets_.view());
    const auto entries = static_cast<std::int64_t>(element<O>(ctx_, std::as_const(offsets_).view(), n));
    indices_ = {ctx_, entries};
    values_ = {ctx_, entries};
    inverse_ = {ctx_, is_unit ? 0 : n};
    diagonal_ = {ctx_, is_unit ? 0 : n};
    array<std::uint32_t, device> place_of(ctx_, order_.rows.size());
    invert_permutation(ctx_, std::as_const(order_.rows).view(), place_of.data());
    const diagonal_facts none{~count64{0}, 0};
    array<diagonal_facts, device> found(ctx_, 1);
    copy<diagonal_facts>(ctx_, span<const diagonal_facts, host>(&none, 1), found.view());
    launch_kernel(ctx_, shape, copy_kernel<D, I, O>, which, m.offsets.data(), m.indices.data(),
                  device_cast(m.values.data()), n, sweeps_ > 0 ? nullptr : place_of.data(), triangle(), found.data());
    const diagonal_facts all = element<diagonal_facts>(ctx_, std::as_const(found).view(), 0);
    if (all.zero_row != none.zero_row) refuse_row(static_cast<std::int64_t>(all.zero_row));
    if (all.divides == 0) diagonal_ = {};
  }

  [[nodiscard]] copied_triangle<D, O> triangle() {
    return {offsets_.data(), indices_.data(), values_.data(), inverse_.data(), diagonal_.data()};
  }
  [[nodiscard]] copied_triangle<const D, const O, const std::uint32_t> triangle() const {
    return {offsets_.data(), indices_.data(), values_.data(), inverse_.data(), diagonal_.data()};
  }

  void sweep(const D* b, D* x, const int* active) const {
    const D* known = nullptr;
    for (std::int64_t k = 0; k <= sweeps_; ++k) {
      D* const to = k == sweeps_ ? x : between_[k % 2].data();  // x may be b
      launch_kernel(ctx_, grid_stride(ctx_, this->rows * width_), sweep_kernel<D, O>,
                    triangle_rows<D, O>{triangle(), b, to}, this->rows, width_, known, active);
      known = to;
    }
  }

  context<device> ctx_;
  device_order order_;
  std::int64_t sweeps_;
  int width_ = 1;
  std::int64_t blocks_ = 1;
  array<O, device> offsets_;
  array<std::uint32_t, device> indices_;
  array<D, device> values_;
  array<D, device> inverse_;
  array<D, device> diagonal_;
  mutable slots<D> places_;
  mutable array<D, device> between_[2];
};

}  // namespace

template <class I, class O>
device_order order_by_levels(const context<device>& ctx, const csr_pattern_view<I, O, device>& m, triangle_part part) {
  const std::int64_t n = m.rows;
  expect_rows(n);
  if (n == 0) return {{ctx, 0}, 0};
  const device_guard guard(ctx);
  const bool is_upper = part == triangle_part::upper_triangle;
  const level_rule<I, O> rule{m.offsets.data(), m.indices.data(), n, is_upper};
  const int width = lanes_for(m.nnz(), n);
  slots<std::uint32_t> levels(ctx, n);
  // Places that wait for the one before them are many: all that are resident.
  launch_in_order(ctx, rule, n, width, blocks_in_flight<level_rule<I, O>>(ctx, n, width, n), levels);
  array<std::uint32_t, device> rows(ctx, n);
  for_each(ctx, n, [to = rows.data(), n, is_upper] __device__(std::int64_t step) {
    to[step] = static_cast<std::uint32_t>(is_upper ? n - 1 - step : step);
  });
  array<std::uint32_t, device> spare_levels(ctx, n);
  array<std::uint32_t, device> spare_rows(ctx, n);
  array<std::uint32_t, device>& keys = levels.memory();
  sort_pairs(ctx, n, keys, rows, spare_levels, spare_rows, 0, std::bit_width(static_cast<std::uint64_t>(n)));
  const std::uint32_t last = element<std::uint32_t>(ctx, std::as_const(keys).view(), n - 1);
  return {std::move(rows), std::int64_t{last} + 1};
}

template <class V, class I, class O>
executor_ptr<V, device> make_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                      const triangular_solve_options& options, device_order order) {
  return std::make_unique<solver<V, O>>(ctx, matrix, options, std::move(order));
}

#define INSTANTIATE_PATTERN(I, O) \
  template device_order order_by_levels(const context<device>&, const csr_pattern_view<I, O, device>&, triangle_part);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_PATTERN)

#define INSTANTIATE(V, I, O)                                                                                     \
  template executor_ptr<V, device> make_executor(const context<device>&, const csr_view<const V, I, O, device>&, \
                                                 const triangular_solve_options&, device_order);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::triangular

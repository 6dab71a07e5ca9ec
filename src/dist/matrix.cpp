// Matrices shared out by rows, and products with them.
//
// A rank's columns are numbered anew, its own first, so that x is one short vector; entries keep their order in the
// row, hence the sums their bits. Rows without a ghost (interior) are multiplied between the start and the finish of
// the exchange. They are taken in runs; a run too short to be worth a call waits with the rest. The inner loops are
// those of spmv_plan. Cost of a product besides: a gather and two copies of what is sent.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "dist/deal.hpp"
#include "sparse/simd/kernels.hpp"

#include <spargo/dist/matrix.hpp>
#include <spargo/primitives/reduce.hpp>

#include <cmath>

namespace spargo {

namespace {

struct tuning {
  static constexpr std::int64_t shortest_run = 16;  // rows that are multiplied before the others' x is there
  static constexpr std::int64_t share = 1 << 14;    // rows + entries that are worth a thread, as in spmv_plan
  static constexpr std::int64_t streamed_bytes = std::int64_t{12} << 20;  // of y, as in spmv_plan
};

template <class V>
V mirrored(const V& value, symmetry_kind kind) {
  return kind == symmetry_kind::skew_symmetric ? -value : value;
}

}  // namespace

template <value_type V>
distributed_matrix<V>::distributed_matrix(const communicator& comm, const context<host>& ctx,
                                          const coo_view<const V, std::int64_t, host>& share, symmetry_kind symmetry) {
  const auto visit = [&](std::int64_t k, const auto& put) {
    const std::int64_t row = share.row_indices[k];
    const std::int64_t column = share.col_indices[k];
    put(row, column, share.values[k]);
    if (symmetry != symmetry_kind::general && row != column) put(column, row, mirrored(share.values[k], symmetry));
  };
  const detail::dist::dealer<V, decltype(visit)> dealer(comm, ctx, share.nnz(), share.rows, visit);
  row_parts_ = dealer.balance();
  column_parts_ = share.rows == share.cols ? row_parts_ : even_partition(share.cols, comm.size());
  auto entries = dealer.template deal<std::int64_t>(row_parts_, share.cols);
  comm.agree_on([&] { own_ = to_csr<std::int64_t>(ctx, std::as_const(entries).view()); });
  nnz_ = comm.all_reduce(own_.nnz(), reduction::sum);
}

template class distributed_matrix<double>;

template <value_type V, class Space>
struct distributed_spmv_plan<V, Space>::state {
  struct row_range {
    std::int64_t first;
    std::int64_t last;
  };

  communicator comm;
  context<host> ctx;
  csr_view<const V, std::int64_t, std::int64_t, host> a;
  detail::dist::local_columns columns;
  std::vector<row_range> interior;
  std::vector<row_range> boundary;
  std::int64_t interior_rows = 0;
  const detail::spmv::host_kernels<V, std::int32_t, std::int64_t>* kernels = nullptr;
  std::optional<exchange<host>> halo;

  [[nodiscard]] bool is_interior(std::int64_t row) const { return columns.are_own(a.offsets[row], a.offsets[row + 1]); }

  void find_runs() {
    for (std::int64_t row = 0; row < a.rows;) {
      std::int64_t end = row;
      while (end < a.rows && is_interior(end)) ++end;
      const bool waits = end - row < tuning::shortest_run && columns.size() > columns.own;
      if (!waits) interior_rows += end - row;
      add(waits ? boundary : interior, row, end);
      row = end;
      while (end < a.rows && !is_interior(end)) ++end;
      add(boundary, row, end);
      row = end;
    }
  }

  // Rows [first, last), in ranges for the threads; what follows on the last range goes there while that is short.
  void add(std::vector<row_range>& ranges, std::int64_t first, std::int64_t last) const {
    const std::int64_t most = ctx.threads() == 1 ? std::numeric_limits<std::int64_t>::max()
                                                 : std::max(tuning::share, (a.rows + a.nnz()) / (8 * ctx.threads()));
    const auto work = [&](std::int64_t from, std::int64_t to) { return to - from + a.offsets[to] - a.offsets[from]; };
    while (first < last) {
      const bool goes_on = !ranges.empty() && ranges.back().last == first && work(ranges.back().first, first) < most;
      if (!goes_on) ranges.push_back({first, first});
      std::int64_t low = first + 1;  // the most rows that fit, at least one
      for (std::int64_t high = last; low < high;) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (work(ranges.back().first, middle) <= most) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      ranges.back().last = first = low;
    }
  }

  void multiply(const std::vector<row_range>& ranges, V alpha, const V* x, V beta, V* y) const {
    const bool streams = beta == V{} && a.rows * static_cast<std::int64_t>(sizeof(V)) >= tuning::streamed_bytes;
    const auto rows = streams ? kernels->stream_rows : kernels->csr_rows;
    detail::parallel_parts(ctx.threads(), std::ssize(ranges), [&](std::int64_t r) {
      const row_range& range = ranges[static_cast<std::size_t>(r)];
      rows(a.offsets.data(), columns.indices.data(), a.values.data(), x, alpha, beta, y, range.first, range.last);
    });
  }
};

template <value_type V, class Space>
distributed_spmv_plan<V, Space>::distributed_spmv_plan(const communicator& comm, const context<Space>& ctx,
                                                       const distributed_matrix<V>& matrix) {
  state_ = comm.agree_on([&] {
    auto made = std::make_unique<state>();
    made->comm = comm;
    made->ctx = ctx;
    made->a = matrix.own();
    const partition& parts = matrix.column_parts();
    made->columns = detail::dist::number_columns(ctx, made->a.indices, parts.first(comm.rank()),
                                                 parts.last(comm.rank()), matrix.cols());
    const bool short_rows = made->a.nnz() / 4 <= made->a.rows;
    made->kernels = short_rows ? &detail::spmv::best_cached_kernels<V, std::int32_t, std::int64_t>()
                               : &detail::spmv::best_host_kernels<V, std::int32_t, std::int64_t>();
    made->find_runs();
    return made;
  });
  state_->halo.emplace(comm, ctx, matrix.column_parts(), state_->columns.ghosts, sizeof(V));
}
template <value_type V, class Space>
distributed_spmv_plan<V, Space>::distributed_spmv_plan(distributed_spmv_plan&&) noexcept = default;
template <value_type V, class Space>
distributed_spmv_plan<V, Space>& distributed_spmv_plan<V, Space>::operator=(distributed_spmv_plan&&) noexcept = default;
template <value_type V, class Space>
distributed_spmv_plan<V, Space>::~distributed_spmv_plan() = default;

template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::own_columns() const noexcept {
  return state_->columns.own;
}
template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::ghosts() const noexcept {
  return std::ssize(state_->columns.ghosts);
}
template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::own_rows() const noexcept {
  return state_->a.rows;
}
template <value_type V, class Space>
std::int64_t distributed_spmv_plan<V, Space>::interior_rows() const noexcept {
  return state_->interior_rows;
}
template <value_type V, class Space>
const communicator& distributed_spmv_plan<V, Space>::comm() const noexcept {
  return state_->comm;
}
template <value_type V, class Space>
const context<Space>& distributed_spmv_plan<V, Space>::ctx() const noexcept {
  return state_->ctx;
}
template <value_type V, class Space>
std::string distributed_spmv_plan<V, Space>::reason() const {
  return fmt::format("rows shared out among {} ranks by entries; {} of {} rows here need nothing of the others",
                     state_->comm.size(), state_->interior_rows, own_rows());
}

template <value_type V, class Space>
void distributed_spmv_plan<V, Space>::run(V alpha, span<V, Space> x, V beta, span<V, Space> y) const {
  SPARGO_EXPECTS(x.size() == local_columns() && y.size() == own_rows(),
                 fmt::format("spmv: x has {} elements and y {} (expected {} with the ghosts, and {})", x.size(),
                             y.size(), local_columns(), own_rows()));
  state& s = *state_;
  s.halo->start(span<const V, host>(x.subspan(0, own_columns())));
  s.multiply(s.interior, alpha, x.data(), beta, y.data());
  s.halo->finish(x.subspan(own_columns(), ghosts()));
  s.multiply(s.boundary, alpha, x.data(), beta, y.data());
}

template class distributed_spmv_plan<double, host>;

cg_result distributed_cg(const distributed_spmv_plan<double, host>& a, span<const double, host> b, span<double, host> x,
                         const cg_options& options) {
  const std::int64_t n = a.own_rows();
  const communicator& comm = a.comm();
  const context<host>& ctx = a.ctx();
  SPARGO_EXPECTS(a.own_columns() == n && b.size() == n && x.size() == n,
                 fmt::format("cg: {} rows, {} columns, b of {} and x of {} (expected the same)", n, a.own_columns(),
                             b.size(), x.size()));
  array<double, host> r;
  array<double, host> p;  // with room for ghosts
  array<double, host> q;
  comm.agree_on([&] {
    r = {ctx, n};
    p = {ctx, a.local_columns()};
    q = {ctx, n};
  });
  const auto dot_of = [&](span<const double, host> u, span<const double, host> v) {
    return comm.all_reduce(dot(ctx, u, v), reduction::sum);
  };
  const auto each = [&](auto body) { detail::parallel_for(ctx.threads(), n, detail::grain::elements, body); };
  const span<double, host> own_p = p.view().subspan(0, n);
  each([&](std::int64_t i) { p[i] = x[i]; });
  a.run(-1.0, p, 0.0, r);
  each([&](std::int64_t i) { p[i] = r[i] = b[i] + r[i]; });
  const double scale = std::sqrt(dot_of(b, b));
  double rr = dot_of(r, r);
  cg_result result;
  while (true) {
    result.residual = scale > 0 ? std::sqrt(rr) / scale : std::sqrt(rr);
    result.converged = result.residual <= options.tolerance;
    if (result.converged || result.iterations == options.max_iterations) return result;
    a.run(1.0, p, 0.0, q);
    const double pq = dot_of(own_p, q);
    if (!(pq > 0)) {
      throw agreed_error(error_code::invalid_data,
                         fmt::format("cg: p'Ap is {} (expected a positive definite matrix)", pq));
    }
    const double alpha = rr / pq;
    each([&](std::int64_t i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    });
    const double before = std::exchange(rr, dot_of(r, r));
    each([&](std::int64_t i) { p[i] = r[i] + rr / before * p[i]; });
    ++result.iterations;
  }
}

}  // namespace spargo

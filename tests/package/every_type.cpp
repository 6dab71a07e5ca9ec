// Every operation for every type that its declaration admits, on host and device: linked, and never called.
#include <spargo/spargo.hpp>

#include <complex>

using namespace spargo;

namespace {

template <class V, class I, class O, class Space>
void with_values(const context<Space>& ctx) {
  const csr_view<const V, I, O, Space> csr;
  const sell_view<const V, I, O, Space> sell;
  const coo_view<const V, I, Space> coo;
  const ell_view<const V, I, Space> ell;
  validate(ctx, csr);
  validate(ctx, sell);
  validate(ctx, coo);
  validate(ctx, ell);
  coo_matrix<V, I, Space> entries = to_coo(ctx, csr);
  sort(ctx, entries);
  (void)sum_duplicates(ctx, entries);
  (void)expand_symmetry(ctx, coo, symmetry_kind::symmetric);
  (void)to_csr<O>(ctx, coo);
  (void)to_csr<O>(ctx, ell);
  (void)to_csr(ctx, sell);
  (void)to_ell(ctx, csr);
  (void)to_sell(ctx, csr);
  (void)transpose(ctx, csr);
  if constexpr (value_type<V>) {
    const span<V, Space> y;
    spmv(ctx, V{}, csr, y, V{}, y);
    spmv(ctx, V{}, sell, y, V{}, y);
    spmv(ctx, V{}, coo, y, V{}, y);
    spmv(ctx, V{}, ell, y, V{}, y);
    spmv_plan<V, I, O, Space> plan(ctx, csr);
    plan.update_values(csr);
    const dense_view<V, Space> dense;
    spmm(ctx, V{}, csr, dense, V{}, dense);
  }
  if constexpr (std::same_as<Space, host>) {
    write_matrix_market("", coo);
    write_edge_list("", coo);
    write_snapshot(ctx, "", csr);
    (void)snapshot(ctx, "").matrix<V, I, O>();
    (void)read_matrix_market<V, I>(ctx, "");
    (void)read_matrix_market_stored<V, I>(ctx, "");
    (void)generate<V, I>(ctx, "");
  } else {
    (void)read_matrix_market<V, I>(ctx, context<host>(), "");
    (void)to_device(ctx, to_host(ctx, csr));
  }
}

template <class I, class O, class Space>
void with_indices(const context<Space>& ctx) {
  with_values<pattern, I, O>(ctx);
  with_values<float, I, O>(ctx);
  with_values<double, I, O>(ctx);
  with_values<std::complex<float>, I, O>(ctx);
  with_values<std::complex<double>, I, O>(ctx);
  auto g = build_graph<O>(ctx, coo_pattern_view<I, Space>{});
  add_in_edges(ctx, g);
  validate(ctx, g.view().out);
  (void)bfs(ctx, g, 0);
  (void)multi_bfs(ctx, g, {});
  if constexpr (std::same_as<Space, host>) {
    (void)check_bfs(ctx, g, bfs(ctx, g, 0));
    (void)suggest_format<host>(ctx, g.view().out);
    (void)suggest_format<device>(ctx, g.view().out);
    (void)read_edge_list<I>(ctx, "");
  } else {
    (void)to_device(ctx, to_host(ctx, g));
    (void)read_edge_list<I>(ctx, context<host>(), "");
  }
}

template <class T, class Space>
void with_scalars(const context<Space>& ctx) {
  const span<T, Space> values;
  (void)reduce(ctx, values);
  (void)reduce_sum(ctx, values);
  (void)reduce_max(ctx, values);
  (void)dot(ctx, values, values);
  (void)max_abs_difference(ctx, values, values);
  reduce_into(ctx, values, values);
  dot_into(ctx, values, values, values);
  max_abs_difference_into(ctx, values, values, values);
  exclusive_scan(ctx, values, values);
  inclusive_scan(ctx, values, values);
}

template <class T, class Space>
void with_reals(const context<Space>& ctx) {
  const span<T, Space> line;
  const image_view<T, Space> image;
  const dense_view<T, Space> dense;
  convolve(ctx, line, {}, line);
  convolve(ctx, image, {}, image);
  window_average(ctx, line, 1, line);
  five_point_average(ctx, image, image);
  (void)jacobi(ctx, image);
  sliding_max(ctx, line, 1, line);
  sliding_max(ctx, line, {}, {}, line);
  matmul(ctx, T{}, dense, dense, T{}, dense);
}

template <class Count, class Space>
void with_counts(const context<Space>& ctx) {
  const span<Count, Space> counts;
  histogram(ctx, span<const std::uint8_t, Space>(), counts);
  histogram(ctx, span<const std::int32_t, Space>(), counts);
  histogram(ctx, span<const std::uint32_t, Space>(), counts);
  histogram(ctx, span<const std::int64_t, Space>(), counts);
  histogram_even(ctx, span<const float, Space>(), 0, 1, counts);
  histogram_even(ctx, span<const double, Space>(), 0, 1, counts);
  histogram_edges(ctx, span<const float, Space>(), span<const float, Space>(), counts);
  histogram_edges(ctx, span<const double, Space>(), span<const double, Space>(), counts);
  letter_histogram(ctx, span<const char, Space>(), 1, counts);
  letter_histogram(ctx, span<const std::uint8_t, Space>(), 1, counts);
}

template <class Space>
void everything(const context<Space>& ctx) {
  with_indices<std::int32_t, std::int32_t>(ctx);
  with_indices<std::int32_t, std::int64_t>(ctx);
  with_indices<std::int64_t, std::int64_t>(ctx);
  with_scalars<std::int32_t>(ctx);
  with_scalars<std::int64_t>(ctx);
  with_scalars<float>(ctx);
  with_scalars<double>(ctx);
  with_reals<float>(ctx);
  with_reals<double>(ctx);
  with_counts<std::int32_t>(ctx);
  with_counts<std::int64_t>(ctx);
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1000) {
    everything(context<host>());
    const context<device> ctx;
    everything(ctx);
    matmul_tensor(ctx, 1, dense_view<float, device>{}, dense_view<float, device>{}, 0, dense_view<float, device>{});
    matmul_tensor(ctx, 1, dense_view<bfloat16, device>{}, dense_view<bfloat16, device>{}, 0,
                  dense_view<float, device>{});
  }
}

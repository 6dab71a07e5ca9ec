// Orders of vertices, on the host with what they do for a product: milliseconds of y = A x before and after. Those of a
// device must be the host's.
#include "bench/plan_cases.hpp"

#include <spargo/graph/reorder.hpp>
#include <spargo/sparse/algebra.hpp>
#include <spargo/sparse/spmv.hpp>

#include <algorithm>
#include <vector>

namespace spargo::bench {

namespace {

array<bfs_index, host> order_of(const context<host>& ctx, const bfs_view& g, reorder_method method) {
  switch (method) {
    case reorder_method::degree:
      return degree_order(ctx, g);
    case reorder_method::rabbit:
      return rabbit_order(ctx, g);
    case reorder_method::random:
      return random_order<bfs_index>(ctx, g.vertices());
    default:
      return reverse_cuthill_mckee(ctx, g);
  }
}

void expect_permutation(const array<bfs_index, host>& order, std::int64_t n) {
  std::vector<bfs_index> sorted(order.begin(), order.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t k = 0; k < n; ++k) {
    if (order.size() != n || sorted[static_cast<std::size_t>(k)] != k)
      throw wrong_result("wrong result: no permutation");
  }
}

using ones_view = csr_view<const double, bfs_index, bfs_index, host>;

double product_ms(const bench_graph<host>& g, const ones_view& a) {
  const spmv_plan<double, bfs_index, bfs_index, host> plan(g.cpu(), a, {});
  const std::vector<double> x(static_cast<std::size_t>(a.cols), 1);
  std::vector<double> y(static_cast<std::size_t>(a.rows));
  return g.median_run([&] { plan.run(1, {x.data(), a.cols}, 0, {y.data(), a.rows}); }, 9, 2) * 1e3;
}

double measure(benchmark::State& state, const bench_graph<host>& g, reorder_method method) {
  const bfs_view view = g.host_view();
  array<bfs_index, host> order;
  const double seconds = g.median_run([&] { order = order_of(g.cpu(), view, method); }, 3, 1);
  expect_permutation(order, view.vertices());
  const std::vector<double> ones(static_cast<std::size_t>(view.out.nnz()), 1);
  const ones_view a{view.out, span<const double, host>(ones.data(), view.out.nnz())};
  const auto moved = permute(g.cpu(), a, std::as_const(order).view(), std::as_const(order).view());
  state.counters[mteps] = static_cast<double>(view.out.nnz()) / seconds * 1e-6;
  state.counters["bandwidth"] = static_cast<double>(envelope(g.cpu(), view.out, std::as_const(order).view()).bandwidth);
  state.counters["product_ms_before"] = product_ms(g, a);
  state.counters["product_ms_after"] = product_ms(g, moved.view());
  return seconds;
}

array<bfs_index, device> order_of(const context<device>& ctx, const graph_view<bfs_index, bfs_index, device>& g,
                                  reorder_method method) {
  return method == reorder_method::degree ? degree_order(ctx, g) : reverse_cuthill_mckee(ctx, g);
}

double measure_on_device(benchmark::State& state, const bench_graph<device>& g, reorder_method method) {
  const bfs_view view = g.host_view();
  array<bfs_index, device> order;
  const double seconds = g.median_run([&] { order = order_of(g.ctx(), g.view(), method); }, 5, 1);
  const array<bfs_index, host> found = g.fetch(std::as_const(order).view());
  const array<bfs_index, host> expected = order_of(g.cpu(), view, method);
  if (!std::equal(found.begin(), found.end(), expected.begin(), expected.end())) {
    throw wrong_result("wrong result: not the order of the host");
  }
  state.counters[mteps] = static_cast<double>(view.out.nnz()) / seconds * 1e-6;
  state.counters["bandwidth"] = static_cast<double>(envelope(g.cpu(), view.out, expected.view()).bandwidth);
  return seconds;
}

const registration here{[] {
  const plan_graphs graphs = plan_graphs().undirected();
  for (const enum_row<reorder_method>& row : enum_rows<reorder_method>()) {
    const bool is_on_device = row.value == reorder_method::rcm || row.value == reorder_method::degree;
    if (current_settings().host) {
      for (const bfs_case& c : graphs.on_host) add_plan_case<host>(c, "reorder", row.name, row.value, measure);
    }
    if (current_settings().device && is_on_device) {
      for (const bfs_case& c : graphs.on_device) {
        add_plan_case<device>(c, "reorder", row.name, row.value, measure_on_device);
      }
    }
  }
}};

}  // namespace

}  // namespace spargo::bench

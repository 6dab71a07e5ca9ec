// Every k-th allocation is refused, of arrays and of everything else, once and from then on. Each public operation ends
// in spargo::error (out_of_memory), even without memory for a message, and leaks nothing.
// Own program: it replaces operator new.
#include "support/refusing_new.hpp"

#include <spargo/spargo.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace spargo {
namespace {

using test::allocator;
using test::ending;

using host_context = context<host>;
using value = double;
using index = std::int32_t;
using csr_type = csr_matrix<value, index, std::int64_t, host>;

// Inputs of the operations, made before anything is refused.
struct inputs {
  host_context ctx{{.threads = 2}};
  coo_matrix<value, index, host> entries = generate<value, index>(ctx, "gen:laplacian2d:n=9");
  csr_type csr = to_csr(ctx, entries);
  ell_matrix<value, index, host> ell = to_ell(ctx, csr);
  sell_matrix<value, index, std::int64_t, host> sell = to_sell(ctx, csr);
  coo_matrix<pattern, index, host> pairs = generate<pattern, index>(ctx, "gen:rmat:scale=8,degree=4");
  graph<index, std::int64_t, host> directed = build_graph(ctx, pairs, {.in_edges = true});
  graph<index, std::int64_t, host> undirected = build_graph(ctx, pairs, {.direction = direction_kind::undirected});
  bfs_result<index, host> tree = bfs(ctx, undirected, 0);
  std::vector<index> sources{0, 1, 2};
  std::vector<double> x = std::vector<double>(81, 1.0);
  std::vector<double> small{0, 1, 0};
};
const inputs& in() {
  static const inputs all;
  return all;
}

struct operation_case {
  const char* name;   // of the test
  const char* named;  // of the operation, in messages
  std::function<void(const host_context&)> run;

  friend void PrintTo(const operation_case& c, std::ostream* to) { *to << c.name; }
};

template <class Matrix>
auto spmv_with(const Matrix& matrix, spmv_options options = {}) {
  return [&matrix, options](const host_context& ctx) {
    array<double, host> y(ctx, 81);
    spmv_plan plan(ctx, matrix, options);
    plan.run(1, in().x, 0, y);
  };
}

auto bfs_with(bfs_options options) {
  return [options](const host_context& ctx) { (void)bfs(ctx, in().undirected, 0, options); };
}

template <class Operation>
auto into(Operation operation) {
  return [operation](const host_context& ctx) {
    array<double, host> out(ctx, 81);
    operation(ctx, out);
  };
}

std::vector<operation_case> conversions() {
  return {
      {"array", "host memory", [](const host_context& ctx) { const array<int, host> a(ctx, 3); }},
      {"clone", "host memory", [](const host_context& ctx) { (void)clone(ctx, in().x); }},
      {"sort", "sort",
       [](const host_context& ctx) {
         auto turned = expand_symmetry(ctx, in().entries, symmetry_kind::general);
         std::swap(turned.row_indices(), turned.col_indices());
         sort(ctx, turned);
       }},
      {"sum_duplicates", "sum_duplicates",
       [](const host_context& ctx) {
         auto twice = expand_symmetry(ctx, in().entries, symmetry_kind::symmetric);
         (void)sum_duplicates(ctx, twice);
       }},
      {"coo_to_csr", "to_csr", [](const host_context& ctx) { (void)to_csr(ctx, in().pairs); }},
      {"coo_to_csr_symmetric", "to_csr",
       [](const host_context& ctx) { (void)to_csr(ctx, in().entries, {.symmetry = symmetry_kind::symmetric}); }},
      {"ell_to_csr", "to_csr", [](const host_context& ctx) { (void)to_csr(ctx, in().ell); }},
      {"sell_to_csr", "to_csr", [](const host_context& ctx) { (void)to_csr(ctx, in().sell); }},
      {"to_coo", "to_coo", [](const host_context& ctx) { (void)to_coo(ctx, in().csr); }},
      {"to_ell", "to_ell", [](const host_context& ctx) { (void)to_ell(ctx, in().csr); }},
      {"to_sell", "to_sell", [](const host_context& ctx) { (void)to_sell(ctx, in().csr); }},
      {"transpose", "transpose", [](const host_context& ctx) { (void)transpose(ctx, in().csr); }},
      {"validate_sell", "validate", [](const host_context& ctx) { validate(ctx, in().sell); }},
      {"generate", "generate",
       [](const host_context& ctx) { (void)generate<double, std::int64_t>(ctx, "gen:powerlaw:rows=64,degree=4"); }},
      {"describe_generator", "describe_generator",
       [](const host_context&) { (void)describe_generator("gen:laplacian3d:n=4,points=27"); }},
  };
}

std::vector<operation_case> products() {
  return {
      {"spmv_csr", "spmv", spmv_with(in().csr)},
      {"spmv_merge_path", "spmv", spmv_with(in().csr, {.algorithm = spmv_algorithm::merge_path})},
      {"spmv_copied", "spmv", spmv_with(in().csr, {.storage = spmv_storage::copied})},
      {"spmv_compressed", "spmv", spmv_with(in().csr, {.algorithm = spmv_algorithm::compressed})},
      {"spmv_ell", "spmv", spmv_with(in().ell)},
      {"spmv_sell", "spmv", spmv_with(in().sell)},
      {"spmv_coo", "spmv", spmv_with(in().entries)},
      {"spmv_once", "spmv", into([](const auto& ctx, auto& y) { spmv(ctx, 1, in().csr, in().x, 0, y); })},
      {"spmv_update_values", "spmv",
       [](const host_context& ctx) {
         spmv_plan plan(ctx, in().csr, {.storage = spmv_storage::copied});
         plan.update_values(in().csr);
       }},
      {"spmm", "spmm",
       [](const host_context& ctx) {
         dense_matrix<double, host> y(ctx, 81, 1);
         spmm(ctx, 1, in().csr, {81, 1, 1, in().x}, 0, y);
       }},
      {"spmm_merge_path", "spmm",
       [](const host_context& ctx) {
         const spmm_plan plan(ctx, in().csr, 4, {.algorithm = spmm_algorithm::merge_path});
       }},
  };
}

std::vector<operation_case> searches() {
  return {
      {"build_directed", "build_graph",
       [](const host_context& ctx) { (void)build_graph(ctx, in().pairs, {.in_edges = true}); }},
      {"build_undirected", "build_graph",
       [](const host_context& ctx) { (void)build_graph(ctx, in().pairs, {.direction = direction_kind::undirected}); }},
      {"add_in_edges", "build_graph",
       [](const host_context& ctx) {
         auto g = build_graph(ctx, in().pairs);
         add_in_edges(ctx, g);
       }},
      {"bfs", "bfs", bfs_with({})},
      {"bfs_sequential", "bfs", bfs_with({.algorithm = bfs_algorithm::sequential})},
      {"bfs_load_balanced", "bfs", bfs_with({.algorithm = bfs_algorithm::load_balanced})},
      {"bfs_smallest_parents", "bfs", bfs_with({.parents = bfs_parents::smallest})},
      {"multi_bfs", "multi_bfs", [](const host_context& ctx) { (void)multi_bfs(ctx, in().directed, in().sources); }},
      {"check_bfs", "check_bfs", [](const host_context& ctx) { (void)check_bfs(ctx, in().undirected, in().tree); }},
  };
}

std::vector<operation_case> primitives() {
  return {
      {"reduce", "reduce", [](const host_context& ctx) { (void)reduce(ctx, in().x); }},
      {"dot", "dot", [](const host_context& ctx) { (void)dot(ctx, in().x, in().x); }},
      {"max_abs_difference", "max_abs_difference",
       [](const host_context& ctx) { (void)max_abs_difference(ctx, in().x, in().x); }},
      {"exclusive_scan", "exclusive_scan", into([](const auto& ctx, auto& out) { exclusive_scan(ctx, in().x, out); })},
      {"inclusive_scan", "inclusive_scan", into([](const auto& ctx, auto& out) { inclusive_scan(ctx, in().x, out); })},
      {"histogram", "histogram",
       [](const host_context& ctx) {
         array<std::int64_t, host> counts(ctx, 4);
         histogram(ctx, in().sources, counts);
         histogram_even(ctx, in().x, 0, 2, counts);
       }},
      {"convolve_line", "convolve", into([](const auto& ctx, auto& out) { convolve(ctx, in().x, in().small, out); })},
      {"convolve_separable", "convolve", into([](const auto& ctx, auto& out) {
         convolve(ctx, {9, 9, 9, in().x}, span<const double, host>(in().x).subspan(0, 81),
                  image_view<double, host>{9, 9, 9, out});
       })},
      {"window_average", "window_average",
       into([](const auto& ctx, auto& out) { window_average(ctx, in().x, 40, out); })},
      {"sliding_max", "sliding_max", into([](const auto& ctx, auto& out) {
         sliding_max(ctx, in().x, {1, 9, 9}, {1, 3, 3}, out);
       })},
      {"jacobi", "jacobi", into([](const auto& ctx, auto& out) {
         fill_zero(ctx, out);
         (void)jacobi(ctx, image_view<double, host>{9, 9, 9, out});
       })},
      {"matmul", "matmul", into([](const auto& ctx, auto& out) {
         const dense_view<const double, host> a{9, 9, 9, in().x};
         matmul(ctx, 1, a, a, 0, dense_view<double, host>{9, 9, 9, out});
       })},
      {"pipeline", "pipeline", into([](const auto& ctx, auto& out) {
         pipeline(
             ctx, in().x, [](const auto&, auto, auto) {}, out);
       })},
  };
}

class OutOfMemory : public testing::TestWithParam<operation_case> {};

TEST_P(OutOfMemory, IsTheOnlyErrorAndLeavesNothing) {
  test::refusing_resource resource;
  const host_context ctx({.threads = 2, .resource = &resource});
  const auto run = [&] { GetParam().run(ctx); };
  std::string what;
  what.reserve(4096);  // appending a message does not allocate
  allocator.refused = -1;
  ASSERT_EQ(test::end_of(run, what), ending::done) << what;  // first run, for one-time allocations
  const std::string named = std::string(GetParam().named) + ": ";
  for (const bool onwards : {false, true}) {
    std::int64_t k = 0;
    for (;; ++k) {
      ASSERT_LT(k, 20'000);
      const std::int64_t live = allocator.live;
      allocator.requests = 0;
      allocator.refused = k;
      allocator.onwards = onwards;
      what.clear();
      const ending how = test::end_of(run, what);
      ASSERT_EQ(allocator.live, live) << "request " << k;
      if (allocator.requests <= k) {
        ASSERT_EQ(how, ending::done) << what;
        break;
      }
      ASSERT_EQ(how, ending::out_of_memory) << "request " << k << (onwards ? " and all after it: " : ": ") << what;
      ASSERT_TRUE(onwards || what == "refused" || what.starts_with(named)) << "request " << k << ": " << what;
    }
    EXPECT_GT(k, 0);
  }
}

std::vector<operation_case> all_cases() {
  std::vector<operation_case> all;
  for (const auto& some : {conversions(), products(), searches(), primitives()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Operations, OutOfMemory, testing::ValuesIn(all_cases()),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace spargo

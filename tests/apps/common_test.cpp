// The parts of the apps: outcomes and exit codes, the independent checks, sources, names, pictures.
#include "apps/run_app.hpp"
#include "cli/cli.hpp"
#include "cli/exit_status.hpp"
#include "cli/plots.hpp"
#include "cli/text.hpp"
#include "cli/timing.hpp"
#include "commands/info/profile.hpp"
#include "commands/spmv/check.hpp"
#include "input/input.hpp"
#include "input/random.hpp"
#include "placement/device_choice.hpp"
#include "placement/graph_sources.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/output.hpp>

#include <gtest/gtest.h>
#include <zlib.h>
#include <CLI/CLI.hpp>

#include <limits>
#include <new>
#include <set>

namespace spargo::apps {
namespace {

using test::scratch;
using test::slurp;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(exit_status, a_wrong_result_is_3_and_an_unchecked_one_is_0) {
  EXPECT_EQ(status_of(true), exit_status::success);
  EXPECT_EQ(status_of(false), exit_status::invalid_result);
  EXPECT_EQ(status_of(std::nullopt), exit_status::success);
  EXPECT_EQ(static_cast<int>(exit_status::invalid_result), 3);
}

int run_with(const std::function<exit_status()>& body, std::vector<std::string> arguments = {}) {
  CLI::App app("a test", "probe");
  common_flags flags;
  add_common_flags(app, flags, app_kind::computes, "");
  arguments.insert(arguments.begin(), "probe");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return run_app(app, "probe", static_cast<int>(argv.size()), argv.data(), body);
}

TEST(run_app, turns_outcomes_and_exceptions_into_exit_codes) {
  EXPECT_EQ(run_with([] { return exit_status::success; }), 0);
  EXPECT_EQ(run_with([] { return status_of(false); }), 3);
  EXPECT_EQ(run_with([]() -> exit_status { throw usage_error("x"); }), 2);
  EXPECT_EQ(run_with([]() -> exit_status { throw error(error_code::io, "x"); }), 1);
  EXPECT_EQ(run_with([]() -> exit_status { throw std::runtime_error("x"); }), 1);
  EXPECT_EQ(run_with([]() -> exit_status { throw std::bad_alloc(); }), 1);
  EXPECT_EQ(run_with([]() -> exit_status { throw 7; }), 1);
  EXPECT_EQ(run_with([] { return exit_status::success; }, {"--threads", "0"}), 2);
}

TEST(run_app, an_error_is_one_line_whatever_the_message_holds) {
  testing::internal::CaptureStderr();
  (void)run_with([]() -> exit_status { throw std::runtime_error("two\nlines\x1b[31m\n"); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "probe: two lines [31m\n");
}

// --- spmv ----------------------------------------------------------------------------------------------------------

struct tiny_csr {
  std::vector<std::int32_t> offsets, indices;
  std::vector<double> values;
  [[nodiscard]] csr_view<const double, std::int32_t, std::int32_t, host> view(std::int32_t cols) const {
    return {{static_cast<std::int32_t>(offsets.size()) - 1, cols, offsets, indices}, values};
  }
};

spmv_check check(const tiny_csr& a, const std::vector<double>& x, const std::vector<double>& y) {
  return check_spmv<double, std::int32_t, std::int32_t>(a.view(static_cast<std::int32_t>(x.size())), x, y);
}

TEST(check_spmv, accepts_the_product_and_refuses_a_wrong_row) {
  const tiny_csr a{{0, 2, 2, 3}, {0, 1, 1}, {1.5, -2, 4}};
  const std::vector<double> x = {2, 3};
  EXPECT_TRUE(check(a, x, {-3, 0, 12}).valid);
  const spmv_check wrong = check(a, x, {-3, 1e-300, 12});  // an empty row must give 0
  EXPECT_FALSE(wrong.valid);
  EXPECT_EQ(wrong.worst_row, 1);
  EXPECT_FALSE(check(a, x, {-3, 0, 12.000000001}).valid);
  EXPECT_FALSE(check(a, x, {nan, 0, 12}).valid);
  EXPECT_FALSE(check(a, x, {-3, 0, inf}).valid);
  EXPECT_DOUBLE_EQ(check(a, x, {-3, 0, 24}).max_error, 1.0);
}

// The check of transposed products finds a wrong element, a NaN and a lost infinity.
TEST(check_spmv, finds_wrong_transposed_products) {
  const std::vector<std::int32_t> offsets{0, 2, 3}, indices{0, 2, 2};
  const std::vector<double> values{2, 3, 4}, x{10, 100};
  const csr_view<const double, std::int32_t, std::int32_t, host> a{{2, 3, offsets, indices}, values};
  const auto check = [&](std::vector<double> y, const std::vector<double>& by) {
    return check_transposed_spmv<double, std::int32_t, std::int32_t>(a, by, y);
  };
  EXPECT_TRUE(check({20, 0, 430}, x).valid);
  for (const auto& wrong :
       {std::vector<double>{20, 0, 430.0001}, {20, 1e-9, 430}, {20, 0, std::nan("")}, {2, 0, 430}}) {
    EXPECT_FALSE(check(wrong, x).valid);
  }
  EXPECT_EQ(check({20, 1, 430}, x).worst_row, 1);
  EXPECT_FALSE(check({20, 0, 430}, {10, std::numeric_limits<double>::infinity()}).valid);
  EXPECT_TRUE(
      check({20, 0, std::numeric_limits<double>::infinity()}, {10, std::numeric_limits<double>::infinity()}).valid);
}

TEST(check_spmv, allows_rounding_and_no_more) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const tiny_csr a{{0, 3}, {0, 1, 2}, {1e16, 1, -1e16}};
  const std::vector<double> x = {1, 1, 1};
  EXPECT_TRUE(check(a, x, {0}).valid);  // any order of summation: 0 and 1 are both within eps * sum |a||x|
  EXPECT_TRUE(check(a, x, {1}).valid);
  EXPECT_FALSE(check(a, x, {2e16 * 10.5 * eps}).valid);  // 2 (n + 2) eps is the bound
}

TEST(check_spmv, what_is_not_finite_must_be_so_in_y) {
  const tiny_csr a{{0, 1, 2, 4}, {0, 0, 0, 1}, {inf, nan, inf, -inf}};
  const std::vector<double> x = {1, 1};
  EXPECT_TRUE(check(a, x, {inf, nan, nan}).valid);
  EXPECT_FALSE(check(a, x, {-inf, nan, nan}).valid);
  EXPECT_FALSE(check(a, x, {inf, 0, nan}).valid);
  EXPECT_FALSE(check(a, x, {inf, nan, 0}).valid);
}

TEST(check_spmv, fp32_overflow_is_not_an_error_but_only_where_it_can_happen) {
  const std::vector<std::int32_t> offsets = {0, 2}, indices = {0, 1};
  const std::vector<float> values = {3e38F, 3e38F}, x = {1, 1};
  const csr_view<const float, std::int32_t, std::int32_t, host> a{{1, 2, offsets, indices}, values};
  const std::vector<float> overflowed = {std::numeric_limits<float>::infinity()};
  EXPECT_TRUE((check_spmv<float, std::int32_t, std::int32_t>(a, x, overflowed).valid));
  const std::vector<float> small = {1e38F, 1e38F};
  const csr_view<const float, std::int32_t, std::int32_t, host> b{{1, 2, offsets, indices}, small};
  EXPECT_FALSE((check_spmv<float, std::int32_t, std::int32_t>(b, x, overflowed).valid));
}

// --- bfs -----------------------------------------------------------------------------------------------------------

input_facts facts_of(std::int64_t vertices, std::int64_t first) {
  input_facts facts;
  facts.names = {vertex_naming::from_zero, {}, vertices};
  facts.first_vertex = first;
  return facts;
}

TEST(counted, is_singular_for_one_alone) {
  EXPECT_EQ(counted(1, "edge"), "1 edge");
  EXPECT_EQ(counted(0, "edge"), "0 edges");
  EXPECT_EQ(counted(1234, "vertex", "vertices"), "1,234 vertices");
  EXPECT_EQ(counted(1, "vertex", "vertices"), "1 vertex");
}

TEST(describe, counts_threads) {
  EXPECT_EQ(describe(choose_cpu("cpu", 1)).substr(0, 5), "cpu (");
  EXPECT_TRUE(describe(choose_cpu("cpu", 1)).ends_with("), 1 thread"));
  EXPECT_TRUE(describe(choose_cpu("cpu", 2)).ends_with("), 2 threads"));
}

TEST(choose_sources, draws_distinct_vertices_with_out_edges_and_repeats_when_they_run_out) {
  const auto degree = [](std::int64_t v) { return v % 2; };
  const auto drawn = choose_sources({"random:5", 7}, facts_of(10, 0), degree);
  ASSERT_EQ(drawn.size(), 7U);
  EXPECT_EQ(std::set<std::int64_t>(drawn.begin(), drawn.begin() + 5), (std::set<std::int64_t>{1, 3, 5, 7, 9}));
  EXPECT_EQ(drawn[5], drawn[0]);
  EXPECT_EQ(drawn[6], drawn[1]);
  EXPECT_EQ(drawn, choose_sources({"random:5", 7}, facts_of(10, 0), degree));
  EXPECT_NE(drawn, choose_sources({"random:6", 7}, facts_of(10, 0), degree));
}

TEST(choose_sources, knows_first_max_degree_and_ids) {
  const auto degree = [](std::int64_t v) { return v == 4 ? 9 : 1; };
  EXPECT_EQ(choose_sources({"", 0}, facts_of(6, 3), degree), std::vector<std::int64_t>{3});
  EXPECT_EQ(choose_sources({"first", 0}, facts_of(6, -1), degree), std::vector<std::int64_t>{0});
  EXPECT_EQ(choose_sources({"max-degree", 0}, facts_of(6, 0), degree), std::vector<std::int64_t>{4});
  EXPECT_EQ(choose_sources({"5", 0}, facts_of(6, 0), degree), std::vector<std::int64_t>{5});
  EXPECT_THROW((void)choose_sources({"6", 0}, facts_of(6, 0), degree), error);
  EXPECT_THROW((void)choose_sources({"", 0}, facts_of(0, -1), degree), error);
  EXPECT_THROW((void)choose_sources({"random", 0}, facts_of(3, -1), [](std::int64_t) { return 0; }), error);
}

TEST(vertex_names, maps_ids_both_ways) {
  const vertex_names listed{vertex_naming::listed, {3, 10, 9223372036854775807}, 3};
  EXPECT_EQ(listed.vertex(10), 1);
  EXPECT_EQ(listed.vertex(11), std::nullopt);
  EXPECT_EQ(listed.id(2), 9223372036854775807);
  const vertex_names rows{vertex_naming::rows_from_one, {}, 5};
  EXPECT_EQ(rows.vertex(0), std::nullopt);
  EXPECT_EQ(rows.vertex(5), 4);
  EXPECT_EQ(rows.vertex(6), std::nullopt);
  EXPECT_EQ(rows.id(0), 1);
  EXPECT_EQ(rows.label(4), "5");
  EXPECT_EQ(rows.find("5"), 4);
  EXPECT_EQ(rows.find("x"), std::nullopt);
}

TEST(vertex_names, maps_names_both_ways) {
  const context<host> ctx;
  const std::vector<std::string_view> called = {"Doe, Jane", "7", "", "a\"b", "alice"};
  vertex_names names{vertex_naming::names, {}, 5};
  names.table = vertex_name_table(ctx, called);
  std::string line;
  for (std::int64_t v = 0; v < 5; ++v) {
    EXPECT_EQ(names.find(called[static_cast<std::size_t>(v)]), v);
    EXPECT_EQ(names.label(v), called[static_cast<std::size_t>(v)]);
    names.append_label(v, line);
    line += '|';
  }
  EXPECT_EQ(line, "\"Doe, Jane\"|7|\"\"|\"a\"\"b\"|alice|");
  EXPECT_EQ(names.find("Doe"), std::nullopt);
  EXPECT_EQ(expect_vertex(names, "--source", "alice"), 4);
  EXPECT_THROW((void)expect_vertex(names, "--source", "bob"), error);
  EXPECT_THROW((void)vertex_name_table(ctx, std::vector<std::string_view>{"a", "b", "a"}), error);
}

TEST(split_labels, keeps_commas_in_quotes) {
  using list = std::vector<std::string>;
  EXPECT_EQ(split_labels({"17,23"}), (list{"17", "23"}));
  EXPECT_EQ(split_labels({"\"Doe, Jane\",Roe"}), (list{"Doe, Jane", "Roe"}));
  EXPECT_EQ(split_labels({"\"a\"\"b\""}), list{"a\"b"});
  EXPECT_EQ(split_labels({"a,,b"}), (list{"a", "", "b"}));
  EXPECT_THROW((void)split_labels({"\"a\"b"}), usage_error);
}

// --- info ----------------------------------------------------------------------------------------------------------

TEST(estimate_memory, is_what_the_formats_really_take) {
  const context<host> ctx;
  const std::vector<std::int64_t> lengths = {0, 5, 1, 1, 40, 2, 0, 3};
  std::vector<std::int32_t> offsets = {0}, indices;
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (const std::int64_t length : lengths) {
      for (std::int32_t k = 0; k < length; ++k) indices.push_back(k);
      offsets.push_back(static_cast<std::int32_t>(indices.size()));
    }
  }
  const std::vector<double> values(indices.size(), 1.0);
  const csr_view<const double, std::int32_t, std::int32_t, host> a{
      {static_cast<std::int32_t>(offsets.size()) - 1, 50, offsets, indices}, values};
  const row_profile rows = profile_rows<std::int32_t, std::int32_t>(a);
  EXPECT_EQ(rows.empty, 400);
  EXPECT_EQ(rows.max, 40);
  EXPECT_EQ(rows.longest_row, 4);
  const format_memory memory = estimate_memory(rows, a.nnz(), 8, 4, 4);
  const auto ell = to_ell(ctx, a, {.max_padding_ratio = 100});
  const auto sell = to_sell(ctx, a, {.max_padding_ratio = 100});
  EXPECT_EQ(memory.csr, a.nnz() * 12 + std::int64_t{a.rows + 1} * 4);
  EXPECT_EQ(memory.coo, a.nnz() * 16);
  EXPECT_EQ(memory.ell, ell.indices().size() * 12 + ell.row_lengths().size() * 4);
  EXPECT_EQ(memory.sell, sell.stored() * 12 + sell.slice_offsets().size() * 4 +
                             (sell.permutation().size() + sell.row_lengths().size()) * 4);
}

TEST(count_components, follows_edges_either_way) {
  // 0 -> 1 <- 2, 3 -> 3, 4 -> 5, 6
  const std::vector<std::int64_t> offsets = {0, 1, 1, 2, 3, 4, 4, 4}, indices = {1, 1, 3, 5};
  const component_profile found = count_components<std::int64_t, std::int64_t>({7, 7, offsets, indices});
  EXPECT_EQ(found.count, 4);
  EXPECT_EQ(found.largest, 3);
}

TEST(count_density, every_entry_is_in_its_cell) {
  std::vector<std::int64_t> offsets = {0}, indices;
  for (std::int64_t i = 0; i < 2001; ++i) {  // the diagonal, cells of 3 x 3
    indices.push_back(i);
    offsets.push_back(i + 1);
  }
  const density_map map = count_density<std::int64_t, std::int64_t>({2001, 2001, offsets, indices});
  ASSERT_EQ(map.rows, 667);
  for (int r = 0; r < map.rows; ++r) {
    for (int c = 0; c < map.cols; ++c) {
      ASSERT_EQ(map.counts[static_cast<std::size_t>(r * map.cols + c)], r == c ? 3 : 0);
    }
  }
}

TEST(round_ticks, are_round_and_few) {
  EXPECT_EQ(round_ticks(1, 2003, 6), (std::vector<std::int64_t>{1, 500, 1000, 1500, 2000}));
  EXPECT_EQ(round_ticks(1, 5, 6), (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(round_ticks(1, 1, 6), std::vector<std::int64_t>{1});
  EXPECT_EQ(round_ticks(1, 0, 6), std::vector<std::int64_t>{});
  EXPECT_LE(round_ticks(1, std::numeric_limits<std::int64_t>::max(), 6).size(), 8U);
}

// --- files ---------------------------------------------------------------------------------------------------------

TEST(output_file, appears_whole_or_not_at_all) {
  const scratch folder;
  const std::string path = folder.write("y", "old");
  {
    output_file abandoned(path);
    abandoned.write("half");
  }
  EXPECT_EQ(slurp(path), "old");
  {
    output_file file(path);
    file.write("new");
    EXPECT_EQ(slurp(path), "old");
    file.commit();
  }
  EXPECT_EQ(slurp(path), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file was left";
  EXPECT_THROW(output_file("/nonexistent/y"), error);
  EXPECT_THROW(output_file(folder.path().string()), error);
}

TEST(output_file, compresses_by_name) {
  const scratch folder;
  const std::string text(1000000, 'x');
  output_file file(folder / "y.gz");
  file.write(text);
  file.commit();
  gzFile packed = ::gzopen((folder / "y.gz").c_str(), "rb");
  std::string back(text.size() + 1, '\0');
  const int got = ::gzread(packed, back.data(), static_cast<unsigned>(back.size()));
  ::gzclose(packed);
  back.resize(static_cast<std::size_t>(std::max(got, 0)));
  EXPECT_EQ(back, text);
  EXPECT_LT(std::filesystem::file_size(folder / "y.gz"), 10000U);
}

TEST(time_calls, counts_and_orders) {
  int calls = 0;
  const time_summary times = time_calls(
      3, 5, [&] { ++calls; }, [] {}, {.seconds = 0, .calls = 1});
  EXPECT_EQ(calls, 3 + 1 + 5);
  EXPECT_EQ(times.runs, 5);
  EXPECT_LE(times.min, times.median);
  EXPECT_LE(times.median, times.max);
  const time_summary four = summarize({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(four.median, 2.5);
}

TEST(random, is_fixed_for_ever) {
  EXPECT_EQ(random_bits(1, 0), random_bits(1, 0));
  EXPECT_NE(random_bits(1, 0), random_bits(1, 1));
  EXPECT_NE(random_bits(1, 0), random_bits(2, 0));
  double sum = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const double value = random_symmetric(3, i);
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_LT(std::abs(sum), 1000);  // five standard deviations
}

TEST(parse_random, reads_the_seed) {
  std::uint64_t seed = 0;
  EXPECT_TRUE(parse_random("--x", "random", seed));
  EXPECT_EQ(seed, 1U);
  EXPECT_TRUE(parse_random("--x", "random:18446744073709551615", seed));
  EXPECT_EQ(seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(parse_random("--x", "randomized.mtx", seed));
  EXPECT_THROW((void)parse_random("--x", "random:", seed), usage_error);
  EXPECT_THROW((void)parse_random("--x", "random:-1", seed), usage_error);
  EXPECT_THROW((void)parse_random("--x", "random:1x", seed), usage_error);
}

}  // namespace
}  // namespace spargo::apps

// Real files against figures computed by scipy and numpy (truth.json beside them).
#include "support/data.hpp"

#include <spargo/io/matrix_market.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace spargo {
namespace {

using nlohmann::json;
using wide = std::complex<long double>;

wide number(const json& value) {
  if (value.is_array()) return {value[0].get<double>(), value[1].get<double>()};
  return {value.get<double>(), 0};
}

// |a - b| within rounding of two sums over terms whose magnitudes add up to `weight`.
void expect_close(wide ours, const json& truth, long double weight, const std::string& what) {
  const long double bound = 4 * std::numeric_limits<double>::epsilon() * weight;
  EXPECT_LE(std::abs(ours - number(truth)), bound) << what << ": " << ours.real() << " " << truth.dump();
}

struct product {
  std::vector<wide> y;
  std::vector<long double> weight;  // sum |a||x| of each row
};

template <class X>
product multiply(const coo_matrix<std::complex<double>, std::int32_t, host>& a, const X& x) {
  product p{std::vector<wide>(static_cast<std::size_t>(a.rows())),
            std::vector<long double>(static_cast<std::size_t>(a.rows()))};
  for (std::int64_t k = 0; k < a.nnz(); ++k) {
    const auto row = static_cast<std::size_t>(a.row_indices()[k]);
    const wide term = wide(a.values()[k]) * x(a.col_indices()[k]);
    p.y[row] += term;
    p.weight[row] += std::abs(term);
  }
  return p;
}

void check_product(const product& p, const json& truth, const std::string& what) {
  wide sum = 0;
  long double squares = 0;
  long double weight = 0;
  for (std::size_t i = 0; i < p.y.size(); ++i) {
    sum += p.y[i];
    squares += std::norm(p.y[i]);
    weight += p.weight[i];
    if (i < 5) expect_close(p.y[i], truth["first5"][i], p.weight[i], what + " y[" + std::to_string(i) + "]");
  }
  expect_close(sum, truth["sum"], weight, what + " sum");
  expect_close(std::sqrt(squares), truth["l2"], weight, what + " l2");
}

const char* name_of(matrix_market_field field) {
  constexpr const char* names[] = {"real", "integer", "complex", "pattern"};
  return names[static_cast<int>(field)];
}
const char* name_of(symmetry_kind kind) {
  constexpr const char* names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  return names[static_cast<int>(kind)];
}

void check_file(const std::string& path, const json& truth) {
  const matrix_market_header header = read_matrix_market_header(path);
  EXPECT_EQ(header.layout == matrix_market_layout::array ? "array" : "coordinate", truth["format"]);
  EXPECT_EQ(name_of(header.field), truth["field"]);
  EXPECT_EQ(name_of(header.symmetry), truth["symmetry"]);
  EXPECT_EQ(header.rows, truth["rows"]);
  EXPECT_EQ(header.cols, truth["cols"]);
  EXPECT_EQ(header.entries, truth["stored"]);

  matrix_market_summary summary;
  const auto a =
      read_matrix_market<std::complex<double>, std::int32_t>(context<host>({.threads = 2}), path, {}, &summary);
  EXPECT_EQ(summary.stored, truth["stored"]);
  EXPECT_EQ(summary.rounded_integers, 0);
  ASSERT_EQ(a.nnz(), truth["expanded_nnz"]);
  wide sum = 0;
  long double magnitudes = 0;
  long double largest = 0;
  std::int64_t zeros = 0;
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(a.rows()));
  for (std::int64_t k = 0; k < a.nnz(); ++k) {
    const wide v = a.values()[k];
    sum += v;
    magnitudes += std::abs(v);
    largest = std::max(largest, std::abs(v));
    zeros += v == wide(0) ? 1 : 0;
    ++lengths[static_cast<std::size_t>(a.row_indices()[k])];
  }
  expect_close(sum, truth["sum"], magnitudes, "sum");
  expect_close(magnitudes, truth["abs_sum"], magnitudes, "abs_sum");
  expect_close(largest, truth["max_abs"], largest, "max_abs");
  EXPECT_EQ(zeros, truth["explicit_zeros_expanded"]);
  EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), truth["row_len"]["max"]);
  EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), truth["row_len"]["min"]);
  EXPECT_EQ(std::count(lengths.begin(), lengths.end(), 0), truth["row_len"]["empty"]);
  check_product(multiply(a, [](std::int32_t) { return 1.0L; }), truth["spmv"]["ones"], "A*1");
  check_product(multiply(a, [](std::int32_t i) { return static_cast<long double>(1.0 / (1.0 + i)); }),
                truth["spmv"]["inv"], "A*x");
}

TEST(MatrixMarketTruth, EveryFileIsWhatScipyReads) {
  SPARGO_TEST_NEEDS_DATA();
  const json truth = json::parse(std::ifstream(test::data_directory() / "truth.json"));
  int files = 0;
  for (const auto& [name, entry] : truth["files"].items()) {
    if (entry["kind"] != "mtx") continue;
    SCOPED_TRACE(name);
    check_file((test::data_directory() / name).string(), entry);
    ++files;
  }
  EXPECT_GE(files, 30);
}

}  // namespace
}  // namespace spargo

// Power iterations over a matrix-free pull: the skeleton of eigenvector centrality, Katz centrality and HITS.
//
// A step multiplies the values by one matrix or by two in a row, adds what the rule says, scales, and compares with the
// values before. The three ideas are rules (eigenvector.cpp, katz.cpp, hits.cpp); the skeleton knows no graph, only
// products, and is compiled once per backend (power_host.cpp, power_cuda.cu). All values are nonnegative, so nothing
// cancels: a value's relative error is at most about steps * (degree + 3) * epsilon.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail::ranks {

// y = factor * A * x.
template <class Space>
class matrix_product {
 public:
  matrix_product() = default;
  matrix_product(const matrix_product&) = delete;
  matrix_product& operator=(const matrix_product&) = delete;
  virtual ~matrix_product() = default;

  // Asynchronous. On the device x is aligned to 16 bytes and readable to a multiple of them, and y is arbitrary if
  // *done != 0, a number in device memory; null: 0.
  virtual void run(double factor, span<const double, Space> x, span<double, Space> y, const int* done) const = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::string reason() const = 0;  // how the matrix is read; part of a sentence
};

// `weights`: one per entry, or empty where each counts 1. Both are borrowed.
template <class I, class O, class Space>
[[nodiscard]] std::unique_ptr<matrix_product<Space>> make_product(const context<Space>& ctx,
                                                                  const csr_pattern_view<I, O, Space>& rows,
                                                                  span<const double, Space> weights);

enum class vector_norm { none, sum, euclidean };

// A step gives factor * (A x) + own * x + constant, scaled to norm 1.
struct power_rule {
  double factor = 1;
  double own = 0;
  double constant = 0;
  vector_norm each = vector_norm::none;   // of every step's values
  vector_norm last = vector_norm::none;   // of the result
  vector_norm start = vector_norm::none;  // of a given start
  double initial = 0;                     // value of every vertex without a start
  double limit = 0;                       // stops when a step changes the values by less than this in sum
  std::int64_t most = 1;                  // maximum number of steps
};

struct power_outcome {
  std::int64_t iterations = 0;
  double change = 0;  // of the last step, in sum; infinity if values left the range of double
  bool converged = false;
  double growth = 0;  // of the norm by the last step, before scaling
  // With own > 0 an upper bound on the spectral radius of the matrix that a step applies, A + own * I: the least over
  // the steps of the largest growth of a value (Collatz, Wielandt).
  double bound = std::numeric_limits<double>::infinity();
};

template <class Space>
class power_iteration {
 public:
  power_iteration() = default;
  power_iteration(const power_iteration&) = delete;
  power_iteration& operator=(const power_iteration&) = delete;
  virtual ~power_iteration() = default;

  // `constants`: one per vertex instead of rule.constant, or empty; `start`: one per vertex, or empty. Throws
  // invalid_argument for vectors with values that are negative or not finite, and for a start of zeros that is to be
  // scaled.
  virtual power_outcome run(const power_rule& rule, span<const double, Space> constants,
                            span<const double, Space> start) = 0;
  [[nodiscard]] virtual span<const double, Space> values() const noexcept = 0;
  // With two products: the first one's values for the result, scaled to sum 1.
  [[nodiscard]] virtual span<const double, Space> others() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// With one product, or two (maybe the same): the second multiplies the result of the first.
template <class Space>
[[nodiscard]] std::unique_ptr<power_iteration<Space>> make_iteration(
    const context<Space>& ctx, std::string_view operation, std::int64_t vertices,
    std::vector<std::shared_ptr<const matrix_product<Space>>> products);

// Throws invalid_argument unless all values are finite and nonnegative, which `valid` says, and, of one that is to be
// scaled, not all 0.
void expect_values(std::string_view operation, std::string_view name, bool valid, bool all_zero, bool scaled);

// The factor that scales values of a norm to 1; 1 for a norm of 0 (or whose inverse overflows).
[[nodiscard]] SPARGO_HD inline double inverse_norm(double norm) {
  return norm >= 2.2250738585072014e-308 ? 1 / norm : 1;
}

}  // namespace spargo::detail::ranks

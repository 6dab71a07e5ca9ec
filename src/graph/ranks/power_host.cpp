// Power iterations on the host. Vertices are summed in blocks of fixed size, whose sums are added in order, so results
// are the same for any number of threads. Cost of a step: that of the products, and two reads of each vector.
#include "core/instantiate.hpp"
#include "graph/ranks/host_pull.hpp"
#include "graph/ranks/power.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spargo::detail::ranks {

void expect_values(std::string_view operation, std::string_view name, bool valid, bool all_zero, bool scaled) {
  if (valid && !(scaled && all_zero)) return;
  throw error(
      error_code::invalid_argument,
      fmt::format("{}: the {} holds {} (expected finite values of 0 or more{})", operation, name,
                  valid ? "zeros alone" : "a value that is negative or not finite", scaled ? ", not all 0" : ""));
}

namespace {

template <class I, class O>
class host_product final : public matrix_product<host> {
 public:
  host_product(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows, span<const double, host> weights)
      : threads_(ctx.threads()), rows_(rows), weights_(weights), chunks_(ctx, rows.offsets, rows.rows, rows.nnz()) {}

  void run(double factor, span<const double, host> x, span<double, host> y, const int*) const override {
    const auto pull_with = [&](const auto& pull) {
      chunks_.for_each(threads_, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        double fresh[pull_tuning::batch];
        for (std::int64_t begin = first; begin < last; begin += pull_tuning::batch) {
          const std::int64_t end = std::min(begin + pull_tuning::batch, last);
          for (std::int64_t v = begin; v < end; ++v) fresh[v - begin] = factor * pull(v);
          std::copy(fresh, fresh + (end - begin), y.data() + begin);
        }
      });
    };
    if (weights_.empty()) {
      pull_with([&](std::int64_t v) { return pull_equal(rows_, x.data(), v); });
    } else {
      pull_with([&](std::int64_t v) { return pull_weighted(rows_, weights_.data(), x.data(), v); });
    }
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return chunks_.bytes(); }
  [[nodiscard]] std::string reason() const override { return "a pull over the edges as stored"; }

 private:
  int threads_;
  csr_pattern_view<I, O, host> rows_;
  span<const double, host> weights_;
  row_chunks chunks_;
};

struct block_sum {
  double sum = 0;
  double most = 0;
};

class host_iteration final : public power_iteration<host> {
 public:
  host_iteration(const context<host>& ctx, std::string_view operation, std::int64_t vertices,
                 std::vector<std::shared_ptr<const matrix_product<host>>> products)
      : threads_(ctx.threads()),
        operation_(operation),
        n_(vertices),
        products_(std::move(products)),
        x_(ctx, n_),
        y_(ctx, n_),
        z_(ctx, products_.size() > 1 ? n_ : 0),
        sums_(ctx, div_up(n_, block)) {}

  power_outcome run(const power_rule& rule, span<const double, host> constants,
                    span<const double, host> start) override {
    expect(constants, "beta", vector_norm::none);
    set_start(rule, start);
    power_outcome outcome;
    double norm = norm_of(rule.each, x_);
    while (outcome.iterations < rule.most && !outcome.converged) {
      take_step(rule, constants, norm, outcome);
      ++outcome.iterations;
      if (!std::isfinite(outcome.change)) {
        outcome.change = std::numeric_limits<double>::infinity();
        break;
      }
      outcome.converged = outcome.change < rule.limit;
    }
    if (products_.size() > 1) {
      products_[0]->run(rule.factor, x_, y_, nullptr);
      scale(y_, norm_of(vector_norm::sum, y_));
    }
    if (rule.last != vector_norm::none) scale(x_, norm_of(rule.last, x_));
    return outcome;
  }

  [[nodiscard]] span<const double, host> values() const noexcept override { return x_.view(); }
  [[nodiscard]] span<const double, host> others() const noexcept override { return y_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    std::int64_t bytes = bytes_of(x_, y_, z_, sums_);
    if (!products_.empty()) bytes += products_[0]->workspace_bytes();
    if (products_.size() > 1 && products_[1] != products_[0]) bytes += products_[1]->workspace_bytes();
    return bytes;
  }

 private:
  static constexpr std::int64_t block = 1 << 13;

  // body(v, block_sum&) for all vertices.
  template <class Body>
  block_sum fold(Body&& body) {
    parallel_parts(useful_threads(threads_, n_, grain::elements), sums_.size(), [&](std::int64_t b) {
      block_sum mine;
      for (std::int64_t v = b * block, last = std::min(v + block, n_); v < last; ++v) body(v, mine);
      sums_[b] = mine;
    });
    block_sum all;
    for (const block_sum& one : sums_) {
      all.sum += one.sum;
      all.most = std::max(all.most, one.most);
    }
    return all;
  }

  void expect(span<const double, host> values, std::string_view name, vector_norm norm) {
    if (values.empty()) return;
    const block_sum seen = fold([&](std::int64_t v, block_sum& mine) {
      if (!(values[v] >= 0 && std::isfinite(values[v]))) mine.sum += 1;
      mine.most = std::max(mine.most, values[v]);
    });
    expect_values(operation_, name, seen.sum == 0, seen.most == 0, norm != vector_norm::none);
  }

  void set_start(const power_rule& rule, span<const double, host> start) {
    expect(start, "start", rule.start);
    fold([&](std::int64_t v, block_sum&) { x_[v] = start.empty() ? rule.initial : start[v]; });
    if (!start.empty() && rule.start != vector_norm::none) scale(x_, norm_of(rule.start, x_));
  }

  // `norm` is that of the values before, and then of those after.
  void take_step(const power_rule& rule, span<const double, host> constants, double& norm, power_outcome& outcome) {
    products_[0]->run(rule.factor, x_, y_, nullptr);
    if (products_.size() > 1) products_[1]->run(rule.factor, y_, z_, nullptr);
    const double* const pulled = products_.size() > 1 ? z_.data() : y_.data();
    const auto value = [&](std::int64_t v) {
      return pulled[v] + rule.own * x_[v] + (constants.empty() ? rule.constant : constants[v]);
    };
    double factor = 1;
    if (rule.each != vector_norm::none) {
      const bool squares = rule.each == vector_norm::euclidean;
      const block_sum sums = fold([&](std::int64_t v, block_sum& mine) {
        const double fresh = value(v);
        mine.sum += squares ? fresh * fresh : fresh;
        mine.most = std::max(mine.most, x_[v] > 0 ? fresh / x_[v] : std::numeric_limits<double>::infinity());
      });
      const double grown = squares ? std::sqrt(sums.sum) : sums.sum;
      outcome.growth = grown / norm;
      outcome.bound = std::min(outcome.bound, sums.most);
      outcome.change = grown;
      if (!std::isfinite(grown)) return;
      factor = inverse_norm(grown);
      norm = grown * factor;
    }
    outcome.change = fold([&](std::int64_t v, block_sum& mine) {
                       const double fresh = value(v) * factor;
                       mine.sum += std::abs(fresh - x_[v]);
                       x_[v] = fresh;
                     }).sum;
  }

  // Without overflow or underflow of squares. 0 for `none`.
  double norm_of(vector_norm norm, const array<double, host>& values) {
    if (norm == vector_norm::none) return 0;
    if (norm == vector_norm::sum) return fold([&](std::int64_t v, block_sum& mine) { mine.sum += values[v]; }).sum;
    const double most = fold([&](std::int64_t v, block_sum& mine) { mine.most = std::max(mine.most, values[v]); }).most;
    const double unit = inverse_norm(most);
    return std::sqrt(fold([&](std::int64_t v, block_sum& mine) {
                       const double part = values[v] * unit;
                       mine.sum += part * part;
                     }).sum) /
           unit;
  }

  void scale(array<double, host>& values, double norm) {
    const double factor = std::isfinite(norm) ? inverse_norm(norm) : 1;
    fold([&](std::int64_t v, block_sum&) { values[v] *= factor; });
  }

  int threads_;
  std::string operation_;
  std::int64_t n_;
  std::vector<std::shared_ptr<const matrix_product<host>>> products_;
  array<double, host> x_, y_, z_;  // the values; the first product; the second
  array<block_sum, host> sums_;    // [block of vertices]
};

}  // namespace

template <class I, class O, class Space>
std::unique_ptr<matrix_product<Space>> make_product(const context<Space>& ctx,
                                                    const csr_pattern_view<I, O, Space>& rows,
                                                    span<const double, Space> weights) {
  return std::make_unique<host_product<I, O>>(ctx, rows, weights);
}
#define INSTANTIATE(I, O)                                      \
  template std::unique_ptr<matrix_product<host>> make_product( \
      const context<host>&, const csr_pattern_view<I, O, host>&, span<const double, host>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

template <class Space>
std::unique_ptr<power_iteration<Space>> make_iteration(
    const context<Space>& ctx, std::string_view operation, std::int64_t vertices,
    std::vector<std::shared_ptr<const matrix_product<Space>>> products) {
  return std::make_unique<host_iteration>(ctx, operation, vertices, std::move(products));
}
template std::unique_ptr<power_iteration<host>> make_iteration(
    const context<host>&, std::string_view, std::int64_t, std::vector<std::shared_ptr<const matrix_product<host>>>);

}  // namespace spargo::detail::ranks

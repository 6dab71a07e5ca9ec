// The executor of a backend: workspace and the ranks of the last run. And the formula of a step, for both backends.
#pragma once

#include "graph/pagerank/algorithms.hpp"

#include <memory>
#include <string>

namespace spargo::detail::pagerank {

// A rank is constant + per_preference * personalization + damping * (sum over in-edges).
struct step_terms {
  double constant = 0;
  double per_preference = 0;  // 0 without a personalization
};

// The options of a run as numbers.
struct step_rule {
  double vertices = 0;
  double damping = 0;
  double preference_sum = 0;  // of the personalization as given; 0 without one
  pagerank_dangling dangling = pagerank_dangling::personalization;

  // `held`: the rank of dangling vertices before the step.
  [[nodiscard]] SPARGO_HD step_terms terms(double held) const {
    const bool follows = preference_sum > 0 && dangling == pagerank_dangling::personalization;
    const double spread = dangling == pagerank_dangling::drop ? 0 : damping * held;
    if (preference_sum == 0) return {(1 - damping + spread) / vertices, 0};
    return {follows ? 0 : spread / vertices, (1 - damping + (follows ? spread : 0)) / preference_sum};
  }
};

// Result of a step or of a part of it.
struct step_outcome {
  double change = 0;    // in the norm
  double dangling = 0;  // rank of the vertices without out-edges

  SPARGO_HD void add(const step_outcome& other, pagerank_norm norm) {
    change = norm == pagerank_norm::l1 ? change + other.change : (other.change > change ? other.change : change);
    dangling += other.dangling;
  }
};

struct run_outcome {
  std::int64_t iterations = 0;
  double residual = 0;
};

template <class V, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  // Precondition: sizes are valid and the graph has vertices. Throws invalid_argument for invalid values.
  virtual run_outcome run(span<const V, Space> personalization, span<const V, Space> guess) = 0;
  [[nodiscard]] virtual span<const V, Space> ranks() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::string reason() const { return {}; }  // why it copied the graph, or not
};

// Precondition: the graph and the options are valid; options.algorithm is not `automatic`.
template <class V, class I, class O>
[[nodiscard]] std::unique_ptr<executor<V, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               const pagerank_options& options);
// Over checked weights. Throws invalid_data for weights whose sum over a vertex's edges is not finite.
template <class V, class I, class O>
[[nodiscard]] std::unique_ptr<executor<V, host>> make_executor(const context<host>& ctx,
                                                               const weighted_graph_view<double, I, O, host>& g,
                                                               const pagerank_options& options);
template <class V, class I, class O>
[[nodiscard]] std::unique_ptr<executor<V, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 const pagerank_options& options);

template <class V, class I, class O>
[[nodiscard]] std::unique_ptr<executor<V, device>> make_executor(const context<device>& ctx,
                                                                 const weighted_graph_view<double, I, O, device>& g,
                                                                 const pagerank_options& options);

// Whether the host computes ranks of `value_bytes` with contributions of single precision: gauss_seidel on a graph
// whose contributions exceed caches, to a tolerance far above their rounding, which changes all ranks by 6e-8 in sum.
// Uniform graph of 2^20 vertices and 2^25 entries, 4 sweeps, Xeon with 2 MB of L2 a core, ms: one thread 252, so 220;
// two threads 137, so 114.
[[nodiscard]] inline bool has_narrow_shares(const pagerank_options& options, std::int64_t vertices,
                                            std::int64_t value_bytes) {
  constexpr std::int64_t least_vertices = std::int64_t{1} << 17;
  constexpr double least_tolerance = 1e-6;
  return value_bytes == sizeof(double) && options.algorithm == pagerank_algorithm::gauss_seidel &&
         options.tolerance >= least_tolerance && vertices >= least_vertices;
}

[[nodiscard]] inline std::int64_t most_iterations(const pagerank_options& options) {
  return options.iterations > 0 ? options.iterations : options.max_iterations;
}

// Throws invalid_argument unless a vector of this sum, with a negative value or not, can be normalized.
void check_sum(const char* name, double sum, bool negative);

[[noreturn]] void refuse_weight_sum(std::int64_t from);

}  // namespace spargo::detail::pagerank

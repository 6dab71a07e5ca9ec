// The executor of a backend: workspace and the result of the last run; and a summary of the weights.
#pragma once

#include "core/plan_executor.hpp"
#include "graph/sssp/algorithms.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace spargo::detail::sssp {

// Summary of all weights, none of which is negative or NaN.
struct weight_facts {
  double smallest = 0;
  double largest = 0;  // infinity among them
  double mean = 0;     // of the finite ones
};

// Summary of a part of the weights.
struct partial_facts {
  std::int64_t offending = std::numeric_limits<std::int64_t>::max();  // the first edge whose weight is refused
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  double sum = 0;  // of the finite ones
  std::int64_t finite = 0;

  SPARGO_HD void add(const partial_facts& other) {
    offending = std::min(offending, other.offending);
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
    sum += other.sum;
    finite += other.finite;
  }
};

[[nodiscard]] inline weight_facts facts_of(const partial_facts& all) {
  if (all.finite == 0) return {0, all.largest, 0};
  const double mean = all.sum / static_cast<double>(all.finite);
  return {all.smallest, all.largest, std::min(mean, std::numeric_limits<double>::max())};
}

// Throws invalid_data.
template <class W>
[[noreturn]] void refuse_weight(std::int64_t from, std::int64_t to, W weight);

// Throws invalid_data naming the first edge whose weight is negative or NaN. Synchronizes a device.
template <class W, class I, class O>
[[nodiscard]] weight_facts examine_weights(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges,
                                           span<const W, host> weights);
template <class W, class I, class O>
[[nodiscard]] weight_facts examine_weights(const context<device>& ctx, const csr_pattern_view<I, O, device>& edges,
                                           span<const W, device> weights);

template <class W, class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run(I source) = 0;
  [[nodiscard]] virtual span<const sssp_distance<W>, Space> distances() const noexcept = 0;
  [[nodiscard]] virtual span<const I, Space> parents() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t reached() const noexcept = 0;
};

// Precondition: the graph and the options are valid, options.algorithm is not `automatic`, and options.delta is a
// power of 2 (on the device: or 1.5 times one).
template <class W, class I, class O>
[[nodiscard]] std::unique_ptr<executor<W, I, host>> make_executor(const context<host>& ctx,
                                                                  const weighted_graph_view<W, I, O, host>& g,
                                                                  const weight_facts& weights,
                                                                  const sssp_options& options);
template <class W, class I, class O>
[[nodiscard]] std::unique_ptr<executor<W, I, device>> make_executor(const context<device>& ctx,
                                                                    const weighted_graph_view<W, I, O, device>& g,
                                                                    const weight_facts& weights,
                                                                    const sssp_options& options);

}  // namespace spargo::detail::sssp

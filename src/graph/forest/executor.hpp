// The executor of a backend: workspace and the forest of the last run; and a summary of the graph.
#pragma once

#include "core/plan_executor.hpp"
#include "graph/forest/algorithms.hpp"
#include "graph/forest/keys.hpp"

#include <memory>

namespace spargo::detail::forest {

struct graph_facts {
  bool narrow = true;          // 32 bits hold every weight
  bool ascending = true;       // neighbours ascend in every row
  std::int64_t connected = 0;  // vertices with entries
};

// Throws invalid_data.
[[noreturn]] void refuse_nan(std::int64_t from, std::int64_t to);

// The total of a sum. Throws invalid_data where 64 bits do not hold it.
[[nodiscard]] std::int64_t total_of(const integer_sum& sum);
[[nodiscard]] inline double total_of(double sum) { return sum; }

// Throws invalid_data naming the first edge whose weight is NaN, unless they are ignored. Synchronizes a device.
template <class W, class I, class O>
[[nodiscard]] graph_facts examine_graph(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                        nan_weights nan);
template <class W, class I, class O>
[[nodiscard]] graph_facts examine_graph(const context<device>& ctx, const weighted_graph_view<W, I, O, device>& g,
                                        nan_weights nan);

// Spans have an element for each edge of the forest.
template <class W, class I, class Space>
struct found_forest {
  span<const I, Space> sources;
  span<const I, Space> targets;
  span<const W, Space> weights;
  forest_weight<W> total = 0;
};

template <class W, class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  [[nodiscard]] virtual const found_forest<W, I, Space>& found() const noexcept = 0;  // of the last run
};

// Precondition: the graph and the options are valid, and options.algorithm is not `automatic`.
template <class W, class I, class O>
[[nodiscard]] std::unique_ptr<executor<W, I, host>> make_executor(const context<host>& ctx,
                                                                  const weighted_graph_view<W, I, O, host>& g,
                                                                  const graph_facts& facts,
                                                                  const forest_options& options);
template <class W, class I, class O>
[[nodiscard]] std::unique_ptr<executor<W, I, device>> make_executor(const context<device>& ctx,
                                                                    const weighted_graph_view<W, I, O, device>& g,
                                                                    const graph_facts& facts,
                                                                    const forest_options& options);

}  // namespace spargo::detail::forest

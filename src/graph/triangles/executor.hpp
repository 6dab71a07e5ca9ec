// The executor of a backend: workspace and the counts of the last run.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/graph/triangles.hpp>

#include <limits>
#include <memory>

namespace spargo::detail::triangles {

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  // Results of the last run.
  [[nodiscard]] virtual std::int64_t total() const = 0;
  [[nodiscard]] virtual span<const std::int64_t, Space> per_vertex() const noexcept = 0;
  [[nodiscard]] virtual span<const std::int64_t, Space> links() const noexcept = 0;
  [[nodiscard]] virtual span<const I, Space> degrees() const noexcept = 0;
};

// The properties of rows that decide the algorithm.
struct row_survey {
  std::int64_t longest = 0;
  bool canonical = false;  // an undirected graph whose rows ascend, without duplicates and loops
};
template <class I, class O>
[[nodiscard]] row_survey survey_rows(const context<host>& ctx, const graph_view<I, O, host>& g);
template <class I, class O>
[[nodiscard]] row_survey survey_rows(const context<device>& ctx, const graph_view<I, O, device>& g);

template <class I>
struct count_loops;

// Precondition: the graph is valid; options.algorithm is not `automatic`. Null: the best loops for this processor.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               const triangles_options& options,
                                                               const row_survey& survey,
                                                               const count_loops<I>* loops = nullptr);

// Capacities of a device's sets, so that tests with small graphs reach every path of large ones.
struct set_limits {
  std::int64_t bits = std::numeric_limits<std::int64_t>::max();    // ranks stored as bits; others are hashed
  std::int64_t hashed = std::numeric_limits<std::int64_t>::max();  // ranks per hash table
};
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 const triangles_options& options,
                                                                 const row_survey& survey,
                                                                 const set_limits& limits = {});

// coefficients[v] = links_of_one counts[v] / (d (d - 1)), 0 where the degree d is below 2. Precondition: equal sizes.
template <class I>
void find_coefficients(const context<host>& ctx, span<const std::int64_t, host> counts, span<const I, host> degrees,
                       double links_of_one, span<double, host> coefficients);
template <class I>
void find_coefficients(const context<device>& ctx, span<const std::int64_t, device> counts,
                       span<const I, device> degrees, double links_of_one, span<double, device> coefficients);

}  // namespace spargo::detail::triangles

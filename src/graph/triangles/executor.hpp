// What a plan hides: one executor per backend, with its workspace and the counts of the last run.
#pragma once

#include <spargo/graph/triangles.hpp>

#include <limits>
#include <memory>

namespace spargo::detail::triangles {

template <class I, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual std::int64_t total() const = 0;
  [[nodiscard]] virtual span<const std::int64_t, Space> per_vertex() const noexcept = 0;
  [[nodiscard]] virtual span<const std::int64_t, Space> links() const noexcept = 0;
  [[nodiscard]] virtual span<const I, Space> degrees() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// What the choice of an algorithm goes by.
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

// The graph is checked; options.algorithm is the one to run. Null: the best loops that this processor has.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               const triangles_options& options,
                                                               const row_survey& survey,
                                                               const count_loops<I>* loops = nullptr);

// How much a device's sets may hold, where that is less than there is room for: so that tests of small graphs get by
// all that large ones do.
struct set_limits {
  std::int64_t bits = std::numeric_limits<std::int64_t>::max();    // ranks that are bits; others are hashed
  std::int64_t hashed = std::numeric_limits<std::int64_t>::max();  // ranks that a hash table holds at a time
};
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 const triangles_options& options,
                                                                 const row_survey& survey,
                                                                 const set_limits& limits = {});

// coefficients[v] = links_of_one counts[v] / (d (d - 1)), 0 where the degree d is below 2. Sizes agree.
template <class I>
void find_coefficients(const context<host>& ctx, span<const std::int64_t, host> counts, span<const I, host> degrees,
                       double links_of_one, span<double, host> coefficients);
template <class I>
void find_coefficients(const context<device>& ctx, span<const std::int64_t, device> counts,
                       span<const I, device> degrees, double links_of_one, span<double, device> coefficients);

}  // namespace spargo::detail::triangles

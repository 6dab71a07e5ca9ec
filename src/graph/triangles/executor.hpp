// What a plan hides: one executor per backend, with its workspace and the counts of the last run.
#pragma once

#include <spargo/graph/triangles.hpp>

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

template <class I>
struct count_loops;

// The graph is checked; options.algorithm is the one to run. Null: the best loops that this processor has.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               const triangles_options& options,
                                                               const row_survey& survey,
                                                               const count_loops<I>* loops = nullptr);

}  // namespace spargo::detail::triangles

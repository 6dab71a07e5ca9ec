// The executor of a backend, and the rows that it reads.
#pragma once

#include "core/backend.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/similarity/algorithms.hpp"
#include "graph/triangles/executor.hpp"

#include <spargo/graph/similarity.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace spargo::detail::similarity {

template <class I, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  virtual void run() = 0;
  // Results of the last run.
  [[nodiscard]] virtual span<const I, Space> sources() const noexcept = 0;
  [[nodiscard]] virtual span<const I, Space> targets() const noexcept = 0;
  [[nodiscard]] virtual span<const double, Space> values() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// The graph with ascending rows, without duplicates and loops; a copy where the caller's rows are not.
template <class I, class O, class Space>
class sorted_rows {
 public:
  sorted_rows(const context<Space>& ctx, const graph_view<I, O, Space>& g) : view_(g) {
    const auto survey = [&](const csr_pattern_view<I, O, Space>& part) {
      return triangles::survey_rows(ctx, graph_view<I, O, Space>{part, part, direction_kind::undirected});
    };
    const bool has_in = g.direction == direction_kind::directed && g.has_in_edges();
    triangles::row_survey found = survey(g.out);
    if (!found.canonical || (has_in && !survey(g.in).canonical)) {
      copy_ = without_loops(ctx, g);
      view_ = copy_.view();
      found = survey(view_.out);
    }
    longest_ = found.longest;
  }

  [[nodiscard]] const graph_view<I, O, Space>& view() const { return view_; }
  [[nodiscard]] std::int64_t longest() const { return longest_; }
  [[nodiscard]] std::int64_t bytes() const {
    const auto of = [](const csr_pattern_view<I, O, Space>& part) {
      return part.offsets.size() * std::int64_t{sizeof(O)} + part.nnz() * std::int64_t{sizeof(I)};
    };
    if (copy_.vertices() == 0) return 0;
    const bool both = view_.direction == direction_kind::directed && view_.has_in_edges();
    return of(view_.out) + (both ? of(view_.in) : 0);
  }

 private:
  graph_view<I, O, Space> view_;
  graph<I, O, Space> copy_;
  std::int64_t longest_ = 0;
};

// The pairs of a plan. Of given ones the arrays, which the executor copies.
template <class I, class Space>
struct wanted_pairs {
  similarity_pairs kind = similarity_pairs::edges;
  span<const I, Space> sources = {};
  span<const I, Space> targets = {};
};

// Throws invalid_argument: pair k is not of vertices.
[[noreturn]] void refuse_pair(std::int64_t k, std::int64_t u, std::int64_t v, std::int64_t vertices);

// Precondition: the graph's shape is valid, the given arrays have one size, and a directed graph has in-edges if the
// most similar vertices are wanted.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               const wanted_pairs<I, host>& pairs,
                                                               const similarity_options& options);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 const wanted_pairs<I, device>& pairs,
                                                                 const similarity_options& options);

}  // namespace spargo::detail::similarity

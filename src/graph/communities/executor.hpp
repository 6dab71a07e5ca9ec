// The executor of a backend: workspace and the labels of the last run.
#pragma once

#include <spargo/graph/communities.hpp>

#include <memory>

namespace spargo::detail::communities {

struct run_outcome {
  std::int64_t rounds = 0;
  std::int64_t count = 0;  // of different labels
  std::int64_t levels = 0;
  double modularity = 0;
};

template <class I, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  // `initial`: one label per vertex, or empty. Throws invalid_argument unless every label is a vertex.
  virtual run_outcome run(span<const I, Space> initial) = 0;
  [[nodiscard]] virtual span<const I, Space> labels() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// options.iterations, chosen where it is 0.
[[nodiscard]] std::int64_t iterations_of(const communities_options& options, std::int64_t vertices,
                                         std::int64_t entries);

// Precondition: the graph and the options are valid; options.algorithm is not `automatic`, options.iterations not 0.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               const communities_options& options);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 const communities_options& options);

// Weights of edges times 2^exponent, rounded. Empty: every edge weighs 1.
struct fixed_weights {
  array<std::int64_t, host> values;
  int exponent = 0;
};

// Throws invalid_data naming the first edge whose weight is negative, infinite or NaN, and for integers that add up to
// 2^59 or more.
template <class W, class I, class O>
[[nodiscard]] fixed_weights to_fixed_point(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges,
                                           span<const W, host> weights);

// Louvain and Leiden.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_modularity_executor(const context<host>& ctx,
                                                                          const graph_view<I, O, host>& g,
                                                                          fixed_weights weights,
                                                                          const communities_options& options);

// On the device. A graph with weights is given on the host, and copied.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_modularity_executor(const context<device>& ctx,
                                                                            const graph_view<I, O, device>& g,
                                                                            const communities_options& options);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_modularity_executor(const context<device>& ctx,
                                                                            const graph_view<I, O, host>& g,
                                                                            fixed_weights weights,
                                                                            const communities_options& options);

[[noreturn]] void throw_bad_label(std::int64_t vertex, std::int64_t label, std::int64_t vertices);

}  // namespace spargo::detail::communities

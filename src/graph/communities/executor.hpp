// The executor of a backend: workspace and the labels of the last run.
#pragma once

#include <spargo/graph/communities.hpp>

#include <functional>
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

// Counters of a round.
struct round_outcome {
  std::int64_t changed = 0;        // vertices whose label changed
  std::int64_t changed_edges = 0;  // their edges; of the host
  std::int64_t unlike = 0;         // vertices whose label differs from two rounds before

  void add(const round_outcome& other) {
    changed += other.changed;
    changed_edges += other.changed_edges;
    unlike += other.unlike;
  }
};

// A part of a larger graph: the first `rows` vertices get labels here, the others elsewhere. Every edge between two
// parts is in the rows of both ends.
template <class L, class Space>
struct shared_part {
  std::int64_t rows = 0;
  std::int64_t labels = 0;  // labels are below this
  // After each round: fills in the labels of the other vertices, and adds up `changed` and `unlike` of all parts.
  std::function<void(span<L, Space> labels, round_outcome& round)> exchange{};
  // The number of distinct labels in all parts; bit k: this part has label k.
  std::function<std::int64_t(span<const std::uint64_t, host> used)> count{};
};

// As above, for runs with initial labels of all vertices (a part alone: or none); devices are faster if these ascend
// along rows. L: of labels.
template <class L>
[[nodiscard]] std::unique_ptr<executor<L, host>> make_part_executor(
    const context<host>& ctx, const graph_view<std::int32_t, std::int64_t, host>& g, const communities_options& options,
    shared_part<L, host> part);
template <class L>
[[nodiscard]] std::unique_ptr<executor<L, device>> make_part_executor(const context<device>& ctx,
                                                                      const graph_view<L, std::int64_t, device>& g,
                                                                      const communities_options& options,
                                                                      shared_part<L, device> part);

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

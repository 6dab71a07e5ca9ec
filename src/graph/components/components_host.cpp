// Connected components on the host: the executors. Every algorithm leaves the smallest vertex of each component as
// label; dense labels number these afterwards. See host_weak.hpp and host_strong.hpp for the algorithms.
//
// Workspace, I = O = int32, in bytes per vertex, labels included: weak 4, dense labels 4 more; tarjan 24;
// forward_backward also twice a bfs_plan's, and the transpose where in-edges are missing.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/components/executor.hpp"
#include "graph/components/host_strong.hpp"
#include "graph/components/host_weak.hpp"

#include <utility>
#include <vector>

namespace spargo::detail::components {

namespace {

// Numbers the roots: vertices that are their own labels.
template <class I>
class root_numbers {
 public:
  root_numbers(const context<host>& ctx, std::int64_t vertices, components_labels wanted)
      : threads_(ctx.threads()), wanted_(wanted), shares_(split_loop(threads_, vertices, grain::elements)) {
    roots_.resize(static_cast<std::size_t>(shares_.count));
    if (wanted != components_labels::smallest_vertex) numbers_ = {ctx, vertices};
  }

  // Where the algorithm stores the roots' numbers, for an order of its own (sinks_first); otherwise null.
  [[nodiscard]] I* given() { return wanted_ == components_labels::sinks_first ? numbers_.data() : nullptr; }

  // Returns the number of roots; replaces labels by root numbers if requested.
  [[nodiscard]] std::int64_t number(I* labels) {
    parallel_parts(threads_, shares_.count, [&](std::int64_t p) {
      std::int64_t own = 0;
      for (std::int64_t v = shares_.first(p); v < shares_.last(p); ++v) own += labels[v] == v ? 1 : 0;
      roots_[static_cast<std::size_t>(p)] = own;
    });
    std::int64_t count = 0;
    for (std::int64_t& before : roots_) count += std::exchange(before, count);
    if (numbers_.empty()) return count;
    const bool dense = wanted_ == components_labels::dense;
    parallel_parts(threads_, dense ? shares_.count : 0, [&](std::int64_t p) {
      I next = static_cast<I>(roots_[static_cast<std::size_t>(p)]);
      for (std::int64_t v = shares_.first(p); v < shares_.last(p); ++v) {
        if (labels[v] == v) numbers_[v] = next++;
      }
    });
    parallel_for(threads_, shares_.size, grain::elements, [&](std::int64_t v) { labels[v] = numbers_[labels[v]]; });
    return count;
  }

  [[nodiscard]] std::int64_t bytes() const { return numbers_.size() * std::int64_t{sizeof(I)}; }

 private:
  int threads_;
  components_labels wanted_;
  parts shares_;
  std::vector<std::int64_t> roots_;  // [part]
  array<I, host> numbers_;           // [root], for numbered labels
};

// Base of the executors; `find` leaves smallest-vertex labels.
template <class I>
class host_executor : public executor<I, host> {
 public:
  host_executor(const context<host>& ctx, std::int64_t vertices, components_labels wanted)
      : labels_(ctx, vertices), roots_(ctx, vertices, wanted) {}

  void run() final {
    find(labels_.data());
    count_ = roots_.number(labels_.data());
  }
  [[nodiscard]] span<const I, host> labels() const noexcept final { return labels_.view(); }
  [[nodiscard]] std::int64_t count() const final { return count_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept final {
    return labels_.size() * std::int64_t{sizeof(I)} + roots_.bytes() + more_bytes();
  }

 protected:
  [[nodiscard]] I* given_numbers() { return roots_.given(); }

  array<I, host> labels_;

 private:
  virtual void find(I* labels) = 0;
  [[nodiscard]] virtual std::int64_t more_bytes() const { return 0; }

  root_numbers<I> roots_;
  std::int64_t count_ = 0;
};

template <class I, class O>
class union_find_executor final : public host_executor<I> {
 public:
  union_find_executor(const context<host>& ctx, const graph_view<I, O, host>& g, components_labels wanted)
      : host_executor<I>(ctx, g.vertices(), wanted), edges_(g.out) {}

 private:
  void find(I* labels) override { find_by_union(edges_, labels); }
  csr_pattern_view<I, O, host> edges_;
};

template <class I, class O>
class afforest_executor final : public host_executor<I> {
 public:
  afforest_executor(const context<host>& ctx, const graph_view<I, O, host>& g, components_labels wanted,
                    bool ghosts = false)
      : host_executor<I>(ctx, g.vertices(), wanted), g_(g), threads_(ctx.threads()), ghosts_(ghosts) {}

  [[nodiscard]] std::int64_t skipped() const override { return skipped_; }
  void join_skipped() override {
    if (skipped_ >= 0) host_afforest<I, O>(g_, this->labels_.data(), threads_).join_tree(skipped_);
    skipped_ = -1;
  }

 private:
  void find(I* labels) override {
    skipped_ = g_.vertices() > 0 ? host_afforest<I, O>(g_, labels, threads_).run(ghosts_) : I{-1};
  }
  graph_view<I, O, host> g_;
  int threads_;
  bool ghosts_;
  I skipped_ = -1;
};

template <class I, class O>
class tarjan_executor final : public host_executor<I> {
 public:
  tarjan_executor(const context<host>& ctx, const graph_view<I, O, host>& g, components_labels wanted)
      : host_executor<I>(ctx, g.vertices(), wanted), n_(g.vertices()), search_(ctx, g.out) {}

 private:
  void find(I* labels) override {
    std::fill(labels, labels + n_, I{-1});
    search_.run(labels, this->given_numbers());
  }
  [[nodiscard]] std::int64_t more_bytes() const override { return search_.bytes(); }
  std::int64_t n_;
  tarjan_search<I, O> search_;
};

template <class I, class O>
class forward_backward_executor final : public host_executor<I> {
 public:
  forward_backward_executor(const context<host>& ctx, const graph_view<I, O, host>& g, components_labels wanted)
      : host_executor<I>(ctx, g.vertices(), wanted), search_(ctx, g) {}

 private:
  void find(I* labels) override { search_.run(labels); }
  [[nodiscard]] std::int64_t more_bytes() const override { return search_.bytes(); }
  host_forward_backward<I, O> search_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 components_algorithm algorithm, components_labels labels) {
  switch (algorithm) {
    case components_algorithm::afforest:
      return std::make_unique<afforest_executor<I, O>>(ctx, g, labels);
    case components_algorithm::tarjan:
      return std::make_unique<tarjan_executor<I, O>>(ctx, g, labels);
    case components_algorithm::forward_backward:
      return std::make_unique<forward_backward_executor<I, O>>(ctx, g, labels);
    default:
      return std::make_unique<union_find_executor<I, O>>(ctx, g, labels);
  }
}

template <class I, class O>
std::unique_ptr<executor<I, host>> make_rank_executor(const context<host>& ctx, const graph_view<I, O, host>& g) {
  return std::make_unique<afforest_executor<I, O>>(ctx, g, components_labels::smallest_vertex, true);
}
template std::unique_ptr<executor<std::int32_t, host>> make_rank_executor(
    const context<host>&, const graph_view<std::int32_t, std::int64_t, host>&);

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            components_algorithm, components_labels);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::components

// A raw graph in the space of a typed test, and results copied to the host.
#pragma once

#include "graph/graph_support.hpp"

#include <vector>

namespace spargo::test {

// Parameters of a typed test: index type, offset type, space.
template <class I, class O, class S>
struct graph_case {
  using index = I;
  using offset = O;
  using space = S;
};

template <class I, class O, class Space>
class placed_graph;

template <class I, class O>
class placed_graph<I, O, host> {
 public:
  explicit placed_graph(const raw_graph<I, O>& g, int threads = 3) : raw_(g), ctx_({.threads = threads}) {}
  [[nodiscard]] graph_view<I, O, host> view() const { return raw_.view(); }
  template <class T>
  [[nodiscard]] std::vector<T> fetch(span<const T, host> values) const {
    return {values.begin(), values.end()};
  }
  [[nodiscard]] const context<host>& ctx() const { return ctx_; }

 private:
  const raw_graph<I, O>& raw_;
  context<host> ctx_;
};

template <class I, class O>
class placed_graph<I, O, device> {
 public:
  explicit placed_graph(const raw_graph<I, O>& g, int /*threads*/ = 0) : n_(g.vertices), direction_(g.direction) {
    offsets_ = to_device(ctx(), span<const O, host>(g.offsets));
    indices_ = to_device(ctx(), span<const I, host>(g.indices));
    in_offsets_ = to_device(ctx(), span<const O, host>(g.in_offsets));
    in_indices_ = to_device(ctx(), span<const I, host>(g.in_indices));
  }
  [[nodiscard]] graph_view<I, O, device> view() const {
    graph_view<I, O, device> g{{n_, n_, offsets_.view(), indices_.view()}, {}, direction_};
    if (!in_offsets_.empty()) g.in = {n_, n_, in_offsets_.view(), in_indices_.view()};
    return g;
  }
  template <class T>
  [[nodiscard]] std::vector<T> fetch(span<const T, device> values) const {
    const auto on_host = to_host(ctx(), values);
    return {on_host.begin(), on_host.end()};
  }
  [[nodiscard]] const context<device>& ctx() const {
    static const context<device> shared;
    return shared;
  }

 private:
  I n_;
  direction_kind direction_;
  array<O, device> offsets_, in_offsets_;
  array<I, device> indices_, in_indices_;
};

}  // namespace spargo::test

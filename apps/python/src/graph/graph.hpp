// A graph for Python, and how algorithms are bound to it: a file in this folder each, without a list of them.
#pragma once

#include "device.hpp"

#include <nanobind/stl/optional.h>

#include <concepts>
#include <functional>
#include <vector>

namespace spargo::python {

// Keeps the arrays of a graph alive: out-edges and, if built, in-edges.
template <class I, class O, class Space>
class bound_graph {
 public:
  bound_graph(vector_in<O, Space> offsets, vector_in<I, Space> indices, std::optional<vector_in<O, Space>> in_offsets,
              std::optional<vector_in<I, Space>> in_indices, bool undirected)
      : offsets_(std::move(offsets)),
        indices_(std::move(indices)),
        in_offsets_(std::move(in_offsets)),
        in_indices_(std::move(in_indices)) {
    const auto starts = python::view(offsets_);
    const I vertices = narrowed<I>(starts.size() - 1);
    view_.out = {vertices, vertices, starts, python::view(indices_)};
    view_.direction = undirected ? direction_kind::undirected : direction_kind::directed;
    if (undirected) {
      view_.in = view_.out;
    } else if (in_offsets_) {
      view_.in = {vertices, vertices, python::view(*in_offsets_), python::view(*in_indices_)};
    }
  }

  [[nodiscard]] const graph_view<I, O, Space>& view() const { return view_; }
  [[nodiscard]] where<Space> at(int threads) const { return where_of(threads, offsets_); }

 private:
  vector_in<O, Space> offsets_;
  vector_in<I, Space> indices_;
  std::optional<vector_in<O, Space>> in_offsets_;
  std::optional<vector_in<I, Space>> in_indices_;
  graph_view<I, O, Space> view_;
};

// With weights. In an undirected graph in-edges are the out-edges.
template <class W, class I, class O, class Space>
[[nodiscard]] weighted_graph_view<W, I, O, Space> weighted_view(const bound_graph<I, O, Space>& g,
                                                                const vector_in<W, Space>& weights) {
  return {{g.view()}, view(weights), g.view().has_in_edges() ? view(weights) : span<const W, Space>{}};
}

// Of searches; none: all vertices.
template <class I>
[[nodiscard]] std::optional<span<const I, host>> sources_of(const std::optional<vector_of<const I>>& given) {
  if (!given.has_value()) return {};
  return view(*given);
}

template <class I, class O, class Space>
using graph_class = nb::class_<bound_graph<I, O, Space>>;

template <class Space, class... T>
[[nodiscard]] std::string name_in(const std::string& name) {
  return name_with_types<T...>(std::same_as<Space, host> ? name : "Device" + name);
}

template <class I, class O, class Space>
[[nodiscard]] auto& bind_functions() {
  static std::vector<std::function<void(graph_class<I, O, Space>&, nb::module_&)>> all;
  return all;
}

// Binds an algorithm to the graphs of all types that `bind` takes:
//   const graph_binding here{[]<class I, class O, class Space>(graph_class<I, O, Space>& bound, nb::module_& m) { ...
//   }};
// Graph's methods refuse algorithms that a device lacks.
struct graph_binding {
  template <class Bind>
  explicit graph_binding(Bind bind) {
    for_each_space([&]<class Space>() {
      for_each_index([&]<class I, class O>() {
        if constexpr (std::invocable<Bind, graph_class<I, O, Space>&, nb::module_&>) {
          bind_functions<I, O, Space>().emplace_back(bind);
        } else {
          static_assert(!std::same_as<Space, host>, "every algorithm is bound for the host");
        }
      });
    });
  }
};

}  // namespace spargo::python

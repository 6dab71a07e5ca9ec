// A graph for Python.
#pragma once

#include "device.hpp"

#include <nanobind/stl/optional.h>

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

}  // namespace spargo::python

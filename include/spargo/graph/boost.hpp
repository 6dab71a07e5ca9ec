// Adapts graph_view to the Boost Graph Library: its algorithms run directly on Spargo's arrays.
//
//   const auto g = my_graph.view();
//   boost::breadth_first_search(g, boost::vertex(0, g), boost::visitor(my_visitor));   // boost:: or unqualified
//
// Models VertexListGraph, EdgeListGraph, IncidenceGraph, AdjacencyGraph and BidirectionalGraph (in_edges, in_degree and
// degree need has_in_edges()), with property maps for vertex_index and edge_index; a weighted_graph_view also for
// edge_weight, the default of Boost's algorithms. To Boost every graph is directed: an undirected one has each edge in
// both directions, as traversals, shortest paths and spanning trees require. Header-only, host only; every operation is
// O(1), iterating over edges() is O(vertices + edges). Views, and what Boost derives from them, borrow the graph.
#pragma once

#include <spargo/graph/weighted_graph.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>

#include <cstddef>
#include <utility>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// The edge `source` -> `target`. `position` is its index among the out-edges (its edge_index), or among the in-edges if
// it comes from in_edges. Edges are equal if their ends are.
template <class I, class O>
struct boost_edge {
  I source = 0;
  I target = 0;
  O position = 0;

  friend bool operator==(const boost_edge& a, const boost_edge& b) {
    return a.source == b.source && a.target == b.target;
  }
  friend bool operator!=(const boost_edge& a, const boost_edge& b) { return !(a == b); }
};

namespace detail {

struct boost_out_edges {};
struct boost_in_edges {};

// Random-access iterator over the edges of one vertex, which are created on the fly.
template <class I, class O, class Side>
class boost_edge_iterator : public boost::iterator_facade<boost_edge_iterator<I, O, Side>, boost_edge<I, O>,
                                                          boost::random_access_traversal_tag, boost_edge<I, O>> {
 public:
  boost_edge_iterator() = default;
  boost_edge_iterator(I vertex, const I* indices, O position)
      : vertex_(vertex), indices_(indices), position_(position) {}

 private:
  friend class boost::iterator_core_access;

  [[nodiscard]] boost_edge<I, O> dereference() const {
    const I other = indices_[position_];
    if constexpr (std::same_as<Side, boost_out_edges>) {
      return {vertex_, other, position_};
    } else {
      return {other, vertex_, position_};
    }
  }
  [[nodiscard]] bool equal(const boost_edge_iterator& other) const { return position_ == other.position_; }
  [[nodiscard]] std::ptrdiff_t distance_to(const boost_edge_iterator& other) const {
    return static_cast<std::ptrdiff_t>(other.position_) - static_cast<std::ptrdiff_t>(position_);
  }
  void increment() { ++position_; }
  void decrement() { --position_; }
  void advance(std::ptrdiff_t n) { position_ = static_cast<O>(position_ + n); }

  I vertex_ = 0;
  const I* indices_ = nullptr;
  O position_ = 0;
};

// Iterator over all stored edges in order; `vertex_` owns the out-edge at `position_`.
template <class I, class O>
class boost_all_edges_iterator : public boost::iterator_facade<boost_all_edges_iterator<I, O>, boost_edge<I, O>,
                                                               boost::forward_traversal_tag, boost_edge<I, O>> {
 public:
  boost_all_edges_iterator() = default;
  boost_all_edges_iterator(const csr_pattern_view<I, O, host>& edges, O position) : edges_(edges), position_(position) {
    skip_finished();
  }

 private:
  friend class boost::iterator_core_access;

  [[nodiscard]] boost_edge<I, O> dereference() const { return {vertex_, edges_.indices[position_], position_}; }
  [[nodiscard]] bool equal(const boost_all_edges_iterator& other) const { return position_ == other.position_; }
  void increment() {
    ++position_;
    skip_finished();
  }
  // There is no vertex to find after the last edge.
  void skip_finished() {
    if (position_ == edges_.nnz()) return;
    while (edges_.offsets[std::int64_t{vertex_} + 1] <= position_) ++vertex_;
  }

  csr_pattern_view<I, O, host> edges_;
  I vertex_ = 0;
  O position_ = 0;
};

struct boost_traversal : virtual boost::vertex_list_graph_tag,
                         virtual boost::edge_list_graph_tag,
                         virtual boost::adjacency_graph_tag,
                         virtual boost::bidirectional_graph_tag {};

template <class Side, class I, class O>
[[nodiscard]] auto boost_edges(const csr_pattern_view<I, O, host>& edges, I v) {
  using iterator = boost_edge_iterator<I, O, Side>;
  return std::pair(iterator(v, edges.indices.data(), edges.offsets[v]),
                   iterator(v, edges.indices.data(), edges.offsets[v + 1]));
}

template <class I, class O>
[[nodiscard]] std::size_t boost_degree(const csr_pattern_view<I, O, host>& edges, I v) {
  return static_cast<std::size_t>(edges.offsets[v + 1] - edges.offsets[v]);
}

}  // namespace detail

// Boost's edge_index: 0 to the number of stored edges - 1, for edges from out_edges.
template <class I, class O>
struct boost_edge_index {
  using value_type = O;
  using reference = O;
  using key_type = boost_edge<I, O>;
  using category = boost::readable_property_map_tag;
  O operator[](const key_type& e) const { return e.position; }
  friend O get(const boost_edge_index&, const key_type& e) { return e.position; }
};

// Boost's edge_weight, for edges from out_edges and in_edges of a graph without duplicate edges: `position` refers to
// the out-edges if the edge with these ends is stored there.
template <class W, class I, class O>
struct boost_edge_weight {
  using value_type = W;
  using reference = W;
  using key_type = boost_edge<I, O>;
  using category = boost::readable_property_map_tag;
  weighted_graph_view<W, I, O, host> g;

  W operator[](const key_type& e) const {
    const bool is_out = e.position >= g.out.offsets[e.source] &&
                        e.position < g.out.offsets[std::int64_t{e.source} + 1] && g.out.indices[e.position] == e.target;
    return is_out ? g.out_weights[e.position] : g.in_weights[e.position];
  }
  friend W get(const boost_edge_weight& map, const key_type& e) { return map[e]; }
};

// --- VertexListGraph
// --------------------------------------------------------------------------------------------------
template <class I, class O>
[[nodiscard]] std::pair<boost::counting_iterator<I>, boost::counting_iterator<I>> vertices(
    const graph_view<I, O, host>& g) {
  return {boost::counting_iterator<I>(0), boost::counting_iterator<I>(g.vertices())};
}
template <class I, class O>
[[nodiscard]] std::size_t num_vertices(const graph_view<I, O, host>& g) {
  return static_cast<std::size_t>(g.vertices());
}
template <class I, class O>
[[nodiscard]] I vertex(std::size_t n, const graph_view<I, O, host>&) {
  return static_cast<I>(n);
}

// --- EdgeListGraph
// Stored edges: an undirected edge counts twice.
template <class I, class O>
[[nodiscard]] auto edges(const graph_view<I, O, host>& g) {
  using iterator = detail::boost_all_edges_iterator<I, O>;
  return std::pair(iterator(g.out, 0), iterator(g.out, static_cast<O>(g.out.nnz())));
}
template <class I, class O>
[[nodiscard]] std::size_t num_edges(const graph_view<I, O, host>& g) {
  return static_cast<std::size_t>(g.out.nnz());
}

// --- IncidenceGraph
// ---------------------------------------------------------------------------------------------------
template <class I, class O>
[[nodiscard]] I source(const boost_edge<I, O>& e, const graph_view<I, O, host>&) {
  return e.source;
}
template <class I, class O>
[[nodiscard]] I target(const boost_edge<I, O>& e, const graph_view<I, O, host>&) {
  return e.target;
}
template <class I, class O>
[[nodiscard]] auto out_edges(std::type_identity_t<I> v, const graph_view<I, O, host>& g) {
  return detail::boost_edges<detail::boost_out_edges>(g.out, v);
}
template <class I, class O>
[[nodiscard]] std::size_t out_degree(std::type_identity_t<I> v, const graph_view<I, O, host>& g) {
  return detail::boost_degree(g.out, v);
}

// --- BidirectionalGraph
// -----------------------------------------------------------------------------------------------
template <class I, class O>
[[nodiscard]] auto in_edges(std::type_identity_t<I> v, const graph_view<I, O, host>& g) {
  return detail::boost_edges<detail::boost_in_edges>(g.in, v);
}
template <class I, class O>
[[nodiscard]] std::size_t in_degree(std::type_identity_t<I> v, const graph_view<I, O, host>& g) {
  return detail::boost_degree(g.in, v);
}
template <class I, class O>
[[nodiscard]] std::size_t degree(std::type_identity_t<I> v, const graph_view<I, O, host>& g) {
  return out_degree(v, g) + in_degree(v, g);
}

// --- AdjacencyGraph
// ---------------------------------------------------------------------------------------------------
template <class I, class O>
[[nodiscard]] std::pair<const I*, const I*> adjacent_vertices(std::type_identity_t<I> v,
                                                              const graph_view<I, O, host>& g) {
  return {g.out.indices.data() + g.out.offsets[v], g.out.indices.data() + g.out.offsets[v + 1]};
}

// --- Property maps
// ----------------------------------------------------------------------------------------------------
template <class I, class O>
[[nodiscard]] boost::typed_identity_property_map<I> get(boost::vertex_index_t, const graph_view<I, O, host>&) {
  return {};
}
template <class I, class O>
[[nodiscard]] I get(boost::vertex_index_t, const graph_view<I, O, host>&, std::type_identity_t<I> v) {
  return v;
}
template <class I, class O>
[[nodiscard]] boost_edge_index<I, O> get(boost::edge_index_t, const graph_view<I, O, host>&) {
  return {};
}
template <class I, class O>
[[nodiscard]] O get(boost::edge_index_t, const graph_view<I, O, host>&, const boost_edge<I, O>& e) {
  return e.position;
}
template <class W, class I, class O>
[[nodiscard]] boost_edge_weight<W, I, O> get(boost::edge_weight_t, const weighted_graph_view<W, I, O, host>& g) {
  return {g};
}
template <class W, class I, class O>
[[nodiscard]] W get(boost::edge_weight_t, const weighted_graph_view<W, I, O, host>& g, const boost_edge<I, O>& e) {
  return boost_edge_weight<W, I, O>{g}[e];
}

}  // namespace spargo

// Boost finds these by qualified name, its algorithms by argument: boost::vertices(g) and vertices(g) both work.
namespace boost {

using spargo::adjacent_vertices;
using spargo::degree;
using spargo::edges;
using spargo::in_degree;
using spargo::in_edges;
using spargo::num_edges;
using spargo::num_vertices;
using spargo::out_degree;
using spargo::out_edges;
using spargo::vertex;
using spargo::vertices;

template <class I, class O>
struct graph_traits<spargo::graph_view<I, O, spargo::host>> {
  using vertex_descriptor = I;
  using edge_descriptor = spargo::boost_edge<I, O>;
  using directed_category = directed_tag;
  using edge_parallel_category = allow_parallel_edge_tag;
  using traversal_category = spargo::detail::boost_traversal;

  using vertex_iterator = counting_iterator<I>;
  using out_edge_iterator = spargo::detail::boost_edge_iterator<I, O, spargo::detail::boost_out_edges>;
  using in_edge_iterator = spargo::detail::boost_edge_iterator<I, O, spargo::detail::boost_in_edges>;
  using adjacency_iterator = const I*;
  using edge_iterator = spargo::detail::boost_all_edges_iterator<I, O>;

  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;

  static vertex_descriptor null_vertex() { return I{-1}; }
};

template <class I, class O>
struct property_map<spargo::graph_view<I, O, spargo::host>, vertex_index_t> {
  using type = typed_identity_property_map<I>;
  using const_type = type;
};

template <class I, class O>
struct property_map<spargo::graph_view<I, O, spargo::host>, edge_index_t> {
  using type = spargo::boost_edge_index<I, O>;
  using const_type = type;
};

// A weighted graph is an unweighted one with one more map.
template <class W, class I, class O>
struct graph_traits<spargo::weighted_graph_view<W, I, O, spargo::host>>
    : graph_traits<spargo::graph_view<I, O, spargo::host>> {};
template <class W, class I, class O>
struct property_map<spargo::weighted_graph_view<W, I, O, spargo::host>, vertex_index_t>
    : property_map<spargo::graph_view<I, O, spargo::host>, vertex_index_t> {};
template <class W, class I, class O>
struct property_map<spargo::weighted_graph_view<W, I, O, spargo::host>, edge_index_t>
    : property_map<spargo::graph_view<I, O, spargo::host>, edge_index_t> {};
template <class W, class I, class O>
struct property_map<spargo::weighted_graph_view<W, I, O, spargo::host>, edge_weight_t> {
  using type = spargo::boost_edge_weight<W, I, O>;
  using const_type = type;
};

// Some algorithms instantiate with their parameter's const.
template <class I, class O>
struct graph_traits<const spargo::graph_view<I, O, spargo::host>>
    : graph_traits<spargo::graph_view<I, O, spargo::host>> {};
template <class W, class I, class O>
struct graph_traits<const spargo::weighted_graph_view<W, I, O, spargo::host>>
    : graph_traits<spargo::graph_view<I, O, spargo::host>> {};
template <class W, class I, class O, class Tag>
struct property_map<const spargo::weighted_graph_view<W, I, O, spargo::host>, Tag>
    : property_map<spargo::weighted_graph_view<W, I, O, spargo::host>, Tag> {};
template <class I, class O>
struct property_map<const spargo::graph_view<I, O, spargo::host>, vertex_index_t>
    : property_map<spargo::graph_view<I, O, spargo::host>, vertex_index_t> {};
template <class I, class O>
struct property_map<const spargo::graph_view<I, O, spargo::host>, edge_index_t>
    : property_map<spargo::graph_view<I, O, spargo::host>, edge_index_t> {};

}  // namespace boost

#include <spargo/core/macros_pop.hpp>

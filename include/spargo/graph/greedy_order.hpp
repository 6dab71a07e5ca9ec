// Orders of vertices in which greedy algorithms decide: colourings, independent sets, matchings.
//
// Every vertex has a rank, 0 for the first. A decision depends only on those of neighbours of lower rank, so the result
// is the one of the sequential algorithm in this order: the same bits on both backends and for any number of threads.
// Ties are broken by a few bits of a hash of seed and vertex, then by vertex: neighbours rarely wait for one another in
// long chains, as they would if ties were broken by vertex alone. A degree is the number of entries in a vertex's rows:
// of a directed graph out- and in-edges.
//
// Sources: Jones, Plassmann, SIAM J. Sci. Comput. 14, 1993; Matula, Beck, J. ACM 30, 1983 (smallest last); Hasenplaugh,
// Kaler, Schardl, Leiserson, SPAA 2014 (orders and their depth).
#pragma once

#include <spargo/core/enum_names.hpp>

#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class greedy_order {
  automatic,       // largest_first for colourings, smallest_first for independent sets and matchings
  largest_first,   // by falling degree
  smallest_last,   // the reverse of the order in which vertices of least remaining degree are removed
  smallest_first,  // by rising degree
  random,
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<greedy_order> enum_rows() noexcept;
[[nodiscard]] inline greedy_order parse_greedy_order(std::string_view name) {  // throws invalid_argument
  return parse_enum<greedy_order>("unknown order", name);
}

enum class greedy_algorithm {
  automatic,  // the fastest for this graph and backend
  in_order,   // threads take vertices in order and wait for neighbours of lower rank
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<greedy_algorithm> enum_rows() noexcept;
[[nodiscard]] inline greedy_algorithm parse_greedy_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<greedy_algorithm>("unknown algorithm", name);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

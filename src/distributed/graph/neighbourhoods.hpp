// A rank's part of a graph as rows of neighbours in local numbers: own vertices first, then ghosts.
#pragma once

#include <spargo/distributed/graph.hpp>

#include <vector>

namespace spargo::detail::distributed {

// An own vertex's row has its out-neighbours and (directed graphs) its in-neighbours, by ascending numbers in the whole
// graph; a ghost's row has the own vertices next to it, once per edge, in no fixed order. So u is in v's row as often
// as v is in u's. No loops.
struct neighbourhoods {
  std::vector<std::int64_t> ghosts;  // their vertices, ascending
  std::int64_t own = 0;
  array<std::int64_t, host> offsets;
  array<std::int32_t, host> indices;

  [[nodiscard]] std::int64_t size() const { return own + std::ssize(ghosts); }
  [[nodiscard]] graph_view<std::int32_t, std::int64_t, host> view() const {
    const auto n = static_cast<std::int32_t>(size());
    return {{n, n, offsets.view(), indices.view()}, {}, direction_kind::undirected};
  }
};

// Not collective. Memory: beside the result its indices once more, twice for directed graphs and for loops; three bits
// per vertex of the whole graph.
template <class I>
[[nodiscard]] neighbourhoods neighbourhoods_of(const context<host>& ctx, const distributed_graph<I>& g, int rank);

}  // namespace spargo::detail::distributed

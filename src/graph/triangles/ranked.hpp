// Graphs by rank on a device, and the supports of their edges: the number of triangles of each.
//
// Vertices are called by their rank, by descending degree (by descending id where all rows are short), and edges by
// number, both with 32 bits. A row has all neighbours of a rank, ascending; the first of them have lower rank, and the
// edges to them, which are the rank's own, have consecutive numbers.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>

#include <cstdint>

namespace spargo::detail::triangles {

// Device memory of the caller. Blocks of lanes read some entries beyond `to`, which is 16-byte aligned.
struct ranked_rows {
  std::int64_t vertices;
  std::int64_t edges;
  int* offsets;  // [rank], plus one
  int* first;    // [rank], plus one: the first edge from it
  int* ends;     // [entry]
  int* numbers;  // [entry] the edge; may be null
  int* from;     // [edge]
  int* to;       // [edge], plus ranked_padding
  int* place;    // [edge] its place among the edges (u, v), u < v, in ascending order
};
inline constexpr std::int64_t ranked_padding = 64;
inline constexpr std::int64_t most_ranked_vertices = (std::int64_t{1} << 31) - 2;
inline constexpr std::int64_t most_ranked_edges = (std::int64_t{1} << 30) - 1;

// Fills a graph's rows, and the ends of its edges by place. Precondition: canonical rows of an undirected graph, the
// longest of that size; as many vertices and edges as `to` says, at most the above, and an edge or more. Asynchronous,
// with scratch of 36 bytes per edge.
template <class I, class O>
void fill_ranked(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, std::int64_t longest,
                 I* sources, I* targets, const ranked_rows& to);

struct support_item {
  int rank;
  int segment;
};
struct support_control {
  unsigned items;
  unsigned next;  // to take
};

// A block's capacities, so that tests with small graphs reach every path of large ones.
struct support_limits {
  int bits = 1 << 17;  // ranks of the bitmap
  int part = 1 << 11;  // entries of a list in a set
};

// Workspace for the supports of graphs of at most that many edges: 6 bytes per edge and a little.
class support_counter {
 public:
  support_counter(const context<device>& ctx, std::int64_t edges, const support_limits& limits = {});

  // Fills support[edge]. Asynchronous, deterministic.
  void run(const ranked_rows& g, int* support);
  [[nodiscard]] std::int64_t bytes() const;

 private:
  context<device> ctx_;
  support_limits limits_;
  array<unsigned long long, device> packed_;  // [edge / 4, rounded up] 16 bits for an edge
  array<int, device> sums_;                   // [edge]
  array<support_item, device> items_;         // that blocks take
  array<support_control, device> control_;
};

}  // namespace spargo::detail::triangles

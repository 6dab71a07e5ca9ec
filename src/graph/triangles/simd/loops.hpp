// The host's inner loops over an oriented graph, chosen once for the processor at hand.
#pragma once

#include "graph/triangles/executor.hpp"
#include "graph/triangles/host_order.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace spargo::detail::triangles {

// The neighbours of hubs among hubs, as bits in blocks of 512; a hub is one of the first ranks.
struct hub_matrix {
  static constexpr std::int64_t block = 512;
  static constexpr std::int64_t block_words = block / 64;
  static constexpr std::int64_t most_hubs = 64 * block;  // so that a set of blocks is a word

  std::uint64_t* bits = nullptr;
  std::int64_t row_blocks = 0;  // of symmetric rows; 0: packed, a hub's row ends with its own block

  [[nodiscard]] std::uint64_t* row(std::int64_t hub) const {
    const std::int64_t own = hub / block;
    return bits +
           (row_blocks > 0 ? hub * row_blocks : block * (own * (own + 1) / 2) + hub % block * (own + 1)) * block_words;
  }
  void set(std::int64_t hub, std::int64_t other) const { row(hub)[other / 64] |= std::uint64_t{1} << other % 64; }
};

// What a thread reads and writes while it counts. Vertices are called by rank here.
template <class I>
struct count_job {
  using key = std::make_unsigned_t<I>;
  std::int64_t vertices = 0;
  const out_list<I>* lists = nullptr;  // [rank], and an empty one
  const key* ends = nullptr;           // [slot]
  const std::uint8_t* mutual = nullptr;
  hub_matrix hubs;
  hub_matrix mutual_hubs;
  std::uint64_t* marks = nullptr;         // this thread's bit for each rank; all 0 before and after
  std::uint64_t* mutual_marks = nullptr;  // the same
  // Counts of ranks below `own_limit` are this thread's, the others' are shared.
  std::int64_t own_limit = 0;
  std::int64_t* own_counts = nullptr;
  std::int64_t* own_links = nullptr;
  std::int64_t* counts = nullptr;
  std::int64_t* links = nullptr;
};

// What of a row goes into the list of its vertex.
template <class I>
struct kept_ends {
  I hubs;
  I size;
};

// Of the vertices of ranks [first, last): the triangles whose vertex of highest rank is one of them. Returns how many.
template <class I>
struct count_loops {
  using key = std::make_unsigned_t<I>;
  using loop = std::int64_t (*)(const count_job<I>& job, std::int64_t first, std::int64_t last);
  // Writes the ranks of a row's ends that are below r, hubs (below `hubs`) first; there is room for the whole row.
  kept_ends<I> (*keep)(const I* row, std::int64_t degree, const I* rank, key r, key hubs, key* to);
  loop total;       // over packed rows of hubs
  loop per_vertex;  // over symmetric ones
  loop links;       // the same
  const char* name;
};

// All that this processor runs, the fastest last.
template <class I>
[[nodiscard]] std::vector<count_loops<I>> usable_count_loops();

}  // namespace spargo::detail::triangles

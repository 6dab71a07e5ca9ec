// The host's inner loops over an oriented graph, selected at run time for the processor.
#pragma once

#include "graph/triangles/executor.hpp"
#include "graph/triangles/host_order.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace spargo::detail::triangles {

// Adjacency among hubs, the first ranks, as a bitmap in blocks of 512.
struct hub_matrix {
  static constexpr std::int64_t block = 512;
  static constexpr std::int64_t block_words = block / 64;
  static constexpr std::int64_t most_hubs = 64 * block;  // so that a set of blocks fits one word

  std::uint64_t* bits = nullptr;
  std::int64_t row_blocks = 0;  // of symmetric rows; 0: packed triangular, a hub's row ends with its own block

  [[nodiscard]] std::uint64_t* row(std::int64_t hub) const {
    const std::int64_t own = hub / block;
    return bits +
           (row_blocks > 0 ? hub * row_blocks : block * (own * (own + 1) / 2) + hub % block * (own + 1)) * block_words;
  }
  void set(std::int64_t hub, std::int64_t other) const { row(hub)[other / 64] |= std::uint64_t{1} << other % 64; }
};

// A thread's inputs and outputs. Vertices are identified by rank.
template <class I>
struct count_job {
  using key = std::make_unsigned_t<I>;
  std::int64_t vertices = 0;
  const out_list<I>* lists = nullptr;  // [rank], plus an empty one
  const key* ends = nullptr;           // [slot]
  const std::uint8_t* mutual = nullptr;
  hub_matrix hubs;
  hub_matrix mutual_hubs;
  std::uint64_t* marks = nullptr;         // this thread's bit per rank; all 0 before and after
  std::uint64_t* mutual_marks = nullptr;  // the same
  // Counts of ranks below `own_limit` are per thread, the others are shared.
  std::int64_t own_limit = 0;
  std::int64_t* own_counts = nullptr;
  std::int64_t* own_links = nullptr;
  std::int64_t* counts = nullptr;
  std::int64_t* links = nullptr;
};

// Entries of a row kept in its vertex's list.
template <class I>
struct kept_ends {
  I hubs;
  I size;
};

// Counts the triangles whose highest-ranked vertex is in [first, last); returns their number.
template <class I>
struct count_loops {
  using key = std::make_unsigned_t<I>;
  using loop = std::int64_t (*)(const count_job<I>& job, std::int64_t first, std::int64_t last);
  // Writes the ranks below r of a row's ends, hubs (below `hubs`) first; `to` has room for the whole row.
  kept_ends<I> (*keep)(const I* row, std::int64_t degree, const I* rank, key r, key hubs, key* to);
  // How many of `count` ids have their bit set in `marks`.
  std::int64_t (*marked)(const std::uint64_t* marks, const key* ids, std::int64_t count);
  loop total;       // needs packed rows of hubs
  loop per_vertex;  // needs symmetric rows
  loop links;       // needs symmetric rows
  const char* name;
};

// All variants this processor supports, the fastest last.
template <class I>
[[nodiscard]] std::vector<count_loops<I>> usable_count_loops();

}  // namespace spargo::detail::triangles

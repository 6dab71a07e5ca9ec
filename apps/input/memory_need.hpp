// How much memory the work on an input takes at least, known before anything is read or made: what cannot fit is
// refused at once, and not after minutes.
//
// Idea: a generator's arguments, a snapshot's header, a text's header as far as the file's size bears it out, and
// samples of the text tell how many entries and vertices come, and how many entries are no loops. From these follow
// arrays of which it is certain that they are there, and written, at the same moment: entries as listed beside the rows
// that are made of them, the graph beside the results. Invariant: a lower bound. What depends on the entries themselves
// counts as if it were not there: weights that are no integers, room to sort, and of a file's entries those that may be
// duplicates. Cost: O(1), and of a text some dozens of reads of 4 KiB.
#pragma once

#include "input/input.hpp"

#include <spargo/graph/graph.hpp>

#include <cstdint>
#include <string>

namespace spargo::apps {

// All at least; 0 where nothing is known, as of a pipe.
struct input_size {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t listed = 0;        // entries that are read or made
  std::int64_t off_diagonal = 0;  // of these
  std::int64_t distinct = 0;      // places of these
  std::int64_t index_bytes = 4;
};

// Throws as expect_reasonable_extent.
[[nodiscard]] input_size least_size(const input_description& input);

// Of a vertex's results.
struct result_bytes {
  std::int64_t fixed = 0;
  std::int64_t indices = 0;  // and so many vertices
};

// What a command makes of an input.
struct graph_need {
  direction_kind direction = direction_kind::directed;
  bool reads_weights = false;   // where there are some
  bool in_edges = false;        // of a directed graph
  std::int64_t edge_bytes = 0;  // of the graph's weights
  result_bytes results;
};

// Bytes of entries as the host reads them.
[[nodiscard]] std::int64_t least_listed_bytes(const input_description& input, const input_size& size,
                                              bool reads_weights);
// Of host memory, from reading to results; `least_listed_bytes` included.
[[nodiscard]] std::int64_t least_graph_bytes(const input_description& input, const input_size& size,
                                             const graph_need& need);
// Of device memory, for the graph and its results.
[[nodiscard]] std::int64_t least_graph_bytes_there(const input_size& size, const graph_need& need);

// The same for a matrix as CSR, and a vector as long as its rows and one as its columns; what an entry and an element
// hold.
[[nodiscard]] std::int64_t least_matrix_bytes(const input_description& input, const input_size& size,
                                              std::int64_t value_bytes, std::int64_t element_bytes);
[[nodiscard]] std::int64_t least_matrix_bytes_there(const input_description& input, const input_size& size,
                                                    std::int64_t value_bytes);

// Of a graph, as far as a rank's memory goes by it.
struct rank_share {
  std::int64_t vertices = 0;  // of all ranks
  std::int64_t rows = 0;
  std::int64_t out_entries = 0;
  std::int64_t in_entries = 0;
  std::int64_t ghosts = 0;  // vertices of other ranks that in-edges come from
  std::int64_t ranks = 1;
  std::int64_t index_bytes = 4;
  bool directed = true;
};
// Of a rank, one of several that share the entries evenly: its entries with indices of 64 bits, as they are read.
[[nodiscard]] std::int64_t least_share_bytes(const input_size& size, std::int64_t ranks, std::int64_t value_bytes);
// Until its rows are built: entries that it sends and receives beside its share, then the results of all vertices,
// which every rank gathers. `edge_bytes`: of a value that is read.
[[nodiscard]] std::int64_t least_rank_bytes(const input_size& size, std::int64_t ranks, const graph_need& need);

// Throws `error` (out_of_memory), with both numbers, where so much host memory may not be had; of several processes,
// how many hosts would do.
void expect_host_memory(const input_description& input, const input_size& size, std::int64_t least);

// Of a text with an edge in each line, as far as samples from all over it bear that out; nothing of small and of
// compressed files, or where a sample has no edges.
struct text_sample {
  std::int64_t edges = 0;
  double off_diagonal = 0;  // their share
};
[[nodiscard]] text_sample sample_text(const std::string& path);

}  // namespace spargo::apps

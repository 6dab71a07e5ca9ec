// Lower bounds on an input's memory, known beforehand: what cannot fit is rejected at once, not after minutes.
//
// Idea: a generator's arguments, a snapshot's header, a text's header as far as the file size supports it, and samples
// of the text give the number of entries, vertices and off-diagonal entries. From these follow arrays that certainly
// exist, and are written, at the same time: listed entries beside the rows built from them, the graph beside the
// results. Invariant: a lower bound. What depends on the entries themselves counts as absent: non-integer weights, sort
// buffers, and of a file's entries those that may be duplicates. Cost: O(1), and for text some dozens of reads of 4
// KiB.
#pragma once

#include "input/input.hpp"

#include <spargo/graph/graph.hpp>

#include <cstdint>
#include <string>

namespace spargo::apps {

// Lower bounds; 0 if unknown, as for a pipe.
struct input_size {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t listed = 0;        // entries read or generated
  std::int64_t off_diagonal = 0;  // off-diagonal ones among them
  std::int64_t distinct = 0;      // distinct places among those
  std::int64_t index_bytes = 4;
};

// Throws like expect_reasonable_extent.
[[nodiscard]] input_size least_size(const input_description& input);

struct result_bytes {
  std::int64_t fixed = 0;
  std::int64_t indices = 0;  // plus this many vertex numbers
};

// What a command builds from an input.
struct graph_need {
  direction_kind direction = direction_kind::directed;
  bool reads_weights = false;   // if there are any
  bool in_edges = false;        // for a directed graph
  std::int64_t edge_bytes = 0;  // of the graph's weights
  result_bytes results;
};

// Bytes of the entries as read on the host.
[[nodiscard]] std::int64_t least_listed_bytes(const input_description& input, const input_size& size,
                                              bool reads_weights);
// Host memory from reading to results, including `least_listed_bytes`.
[[nodiscard]] std::int64_t least_graph_bytes(const input_description& input, const input_size& size,
                                             const graph_need& need);
// Device memory for the graph and its results.
[[nodiscard]] std::int64_t least_device_graph_bytes(const input_size& size, const graph_need& need);

// The same for CSR with a vector of its rows and one of its columns; sizes of a value and an element.
[[nodiscard]] std::int64_t least_matrix_bytes(const input_description& input, const input_size& size,
                                              std::int64_t value_bytes, std::int64_t element_bytes);
[[nodiscard]] std::int64_t least_device_matrix_bytes(const input_description& input, const input_size& size,
                                                     std::int64_t value_bytes);

// Sizes of a rank's part of a graph that determine its memory.
struct rank_share {
  std::int64_t vertices = 0;  // of all ranks
  std::int64_t rows = 0;
  std::int64_t out_entries = 0;
  std::int64_t in_entries = 0;
  std::int64_t ghosts = 0;  // vertices of other ranks with edges into this one's
  std::int64_t ranks = 1;
  std::int64_t index_bytes = 4;
  bool directed = true;
};
// For a rank that holds an even share of the entries with 64-bit indices, as read.
[[nodiscard]] std::int64_t least_share_bytes(const input_size& size, std::int64_t ranks, std::int64_t value_bytes);
// For a rank until its rows are built: entries in flight beside its share; then all results. `edge_bytes`: of a value.
[[nodiscard]] std::int64_t least_rank_bytes(const input_size& size, std::int64_t ranks, const graph_need& need);

// Throws `error` (out_of_memory), with both numbers, if memory is short; also with the number of hosts that suffice.
void expect_host_memory(const input_description& input, const input_size& size, std::int64_t least);

// Sampled properties of a text with an edge per line; none for small or compressed files, or samples without edges.
struct text_sample {
  std::int64_t edges = 0;
  double off_diagonal = 0;  // their fraction
};
[[nodiscard]] text_sample sample_text(const std::string& path);

}  // namespace spargo::apps

// Text to text in bounded memory: converts files larger than the machine's memory line by line.
//
// An edge list is copied in order to an edge list; a coordinate Matrix Market file becomes either format, in order,
// with duplicates. In Matrix Market output a triangle stays a triangle and integers stay integers; in an edge list each
// entry of a triangle is followed by its mirrored entry. Not streamable: an array; a triangle with entries on both
// sides of the diagonal (a place listed in both is an error that needs the whole file); snapshots and renumbering of
// ids. Memory: some 30 MB per thread for any file size. Errors are those of the readers and writers; the output appears
// complete or not at all and is the same for any number of threads.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>

#include <optional>
#include <string>

namespace spargo {

enum class text_format { matrix_market, edge_list };
enum class edge_weights { as_read, left_out, ones_if_none };

struct SPARGO_EXPORT stream_options {
  text_format to = text_format::edge_list;
  edge_weights weights = edge_weights::as_read;  // for a written edge list
  edge_list_style style = edge_list_style::tabs;
  edge_list_options reading{};
};

struct SPARGO_EXPORT stream_result {
  std::int64_t rows = -1;  // -1: unknown; ids of an edge list are not counted
  std::int64_t cols = -1;
  std::int64_t entries = 0;           // written
  std::int64_t rounded_integers = 0;  // integers that float64 cannot represent exactly
  std::int64_t isolated = 0;          // rows of a Matrix Market file that do not appear in the edge list
  bool weighted = false;              // the input has values
};

// Returns nothing, and writes nothing, for a triangle on both sides of the diagonal. `unsupported` for an array, and
// for a complex or rectangular matrix as an edge list. An edge list needs one more bit per row.
[[nodiscard]] SPARGO_EXPORT std::optional<stream_result> stream_matrix_market(const context<host>& ctx,
                                                                              const input_file& from,
                                                                              const std::string& to,
                                                                              const stream_options& options);

// `options.to` must be `edge_list`. Names of vertices stay as they are.
[[nodiscard]] SPARGO_EXPORT stream_result stream_edge_list(const context<host>& ctx, const input_file& from,
                                                           const std::string& to, const stream_options& options);

}  // namespace spargo

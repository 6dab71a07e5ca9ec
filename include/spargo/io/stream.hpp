// Text to text in bounded memory: files larger than the machine's memory, line by line from one format to the other.
//
// What can be streamed is what needs no look at the whole: an edge list becomes an edge list as it is listed; a
// coordinate Matrix Market file becomes either format, in its order, duplicates and all. As Matrix Market a triangle
// stays one and integers stay integers; as an edge list each entry of a triangle is followed by its mirrored one. Not
// so an array, a triangle some of whose entries lie above and some below the diagonal (a place given in both is an
// error that only a look at the whole finds), and whatever goes to a snapshot or numbers ids anew. Memory: some 30 MB a
// thread, whatever the file's size. Errors as the readers' and writers'; the output is written whole or not at all, and
// is the same for any number of threads.
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
  edge_weights weights = edge_weights::as_read;  // of an edge list that is written
  edge_list_style style = edge_list_style::tabs;
  edge_list_options reading{};
};

struct SPARGO_EXPORT stream_result {
  std::int64_t rows = -1;  // -1: not known; an edge list's ids are not counted
  std::int64_t cols = -1;
  std::int64_t entries = 0;           // written
  std::int64_t rounded_integers = 0;  // integers past what float64 holds exactly
  std::int64_t isolated = 0;          // rows of a Matrix Market file that an edge list does not show
  bool weighted = false;              // whether what was read has values
};

// Nothing is written, and nothing returned, for a triangle on both sides of the diagonal. `unsupported` for an array,
// and for a complex or rectangular matrix as an edge list. One bit per row besides for an edge list.
[[nodiscard]] SPARGO_EXPORT std::optional<stream_result> stream_matrix_market(const context<host>& ctx,
                                                                              const input_file& from,
                                                                              const std::string& to,
                                                                              const stream_options& options);

// `options.to` must be `edge_list`. `unsupported` for vertices that have names.
[[nodiscard]] SPARGO_EXPORT stream_result stream_edge_list(const context<host>& ctx, const input_file& from,
                                                           const std::string& to, const stream_options& options);

}  // namespace spargo

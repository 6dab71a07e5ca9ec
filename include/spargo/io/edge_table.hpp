// Edges in tables, such as data frames: which columns hold them, and names of vertices as numbers. `read_edge_list`
// follows the same rules for files.
#pragma once

#include <spargo/io/vertex_names.hpp>

#include <string>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

class input_file;
struct edge_list_header;

// The columns of a table's source, target and weight, from 0; -1: no weights.
struct SPARGO_EXPORT edge_columns {
  int source = 0;
  int target = 1;
  int weight = -1;
  bool named = false;             // source and target have names of theirs; otherwise the order decides
  bool may_be_two_kinds = false;  // not named, and the names are of different things, such as user_id and item_id
};

// Finds the columns by their names, which are listed at `edge_list_header`. If source and target are named, only a
// column with a weight's name is the weight; if no name is known, the first three columns are source, target, weight.
// Throws `parse`, with the names, where they are ambiguous, and for fewer than two columns.
[[nodiscard]] SPARGO_EXPORT edge_columns find_edge_columns(const std::vector<std::string>& names);

// An id with leading zeros, such as "007", which is the integer 7.
struct SPARGO_EXPORT padded_id {
  std::string text;       // empty: there is none
  std::int64_t line = 0;  // in the file, from 1
};

// The first one in an edge list, if its ids are integers: it and the id without zeros are one vertex, which
// `id_kind::names` would keep apart. In all of the list once `read_edge_list`, `read_edge_pattern` or
// `stream_edge_list` has read this `file`; until then in its first 64 KiB. O(1).
[[nodiscard]] SPARGO_EXPORT padded_id find_padded_id(const input_file& file, const edge_list_header& header);

// The same for lists that were read by another file object, as devices and several processes do: reads part `part` of
// `parts` equal ones (compressed text: part 0 is all of it), in parallel, at some 3 GB/s per thread. A pipe is not
// read.
[[nodiscard]] SPARGO_EXPORT padded_id scan_padded_id(const context<host>& ctx, const input_file& file,
                                                     const edge_list_header& header, int part = 0, int parts = 1);

// Numbers names in order of first occurrence: numbers[k] becomes the number of names[k]; returns the distinct names by
// number. The same for any number of threads. Expected O(characters), parallel. Memory as in `read_edge_list`.
// Throws `invalid_argument` for sizes that differ, `unsupported` for a name of 4 GiB or more.
[[nodiscard]] SPARGO_EXPORT vertex_name_table number_names(const context<host>& ctx,
                                                           span<const std::string_view, host> names,
                                                           span<std::int64_t, host> numbers);

// Numbers ids of 0 or more in ascending order: numbers[k] becomes the number of ids[k]; returns the distinct ids by
// number. The same for any number of threads. Expected O(size + distinct log distinct), parallel. Throws
// `invalid_argument` for sizes that differ and negative ids.
[[nodiscard]] SPARGO_EXPORT std::vector<std::int64_t> number_ids(const context<host>& ctx,
                                                                 span<const std::int64_t, host> ids,
                                                                 span<std::int64_t, host> numbers);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

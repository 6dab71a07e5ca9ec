// The reader behind read_edge_list, with its tuning exposed so that tests can force tiny blocks.
#pragma once

#include "io/text/blocks.hpp"
#include "io/text/name_interner.hpp"

#include <spargo/io/edge_list.hpp>

namespace spargo::detail {

struct edge_list_tuning {
  input_tuning input;
  // Size of a part for one thread: text and edges together stay within a core's L2 cache.
  std::int64_t part_bytes = std::int64_t{128} << 10;
  name_interner_tuning names{};
};

// Dropped weights are parsed and checked, but the list has no values.
enum class edge_weights { keep, drop };

// Offset after the header line of an uncompressed file. Edges of a range are numbered in the order of its own ids.
[[nodiscard]] std::int64_t find_edges(const input_file& file, const edge_list_header& header);

template <index_type I>
[[nodiscard]] edge_list<I> read_edge_list_with(const context<host>& ctx, const input_file& file,
                                               const edge_list_options& options, const edge_list_tuning& tuning,
                                               edge_weights weights = edge_weights::keep);

}  // namespace spargo::detail

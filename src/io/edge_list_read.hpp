// The reader behind read_edge_list, with its tuning exposed so that tests can force tiny blocks.
#pragma once

#include "io/input.hpp"

#include <spargo/io/edge_list.hpp>

namespace spargo::detail {

struct edge_list_tuning {
  input_tuning input;
  std::int64_t part_bytes = std::int64_t{1} << 18;  // a part is parsed by one thread: about a millisecond
  std::int64_t parts_per_thread = 8;
};

template <index_type I>
[[nodiscard]] edge_list<I> read_edge_list_with(const context<host>& ctx, const std::string& path,
                                               const read_options& options, const edge_list_tuning& tuning);

}  // namespace spargo::detail

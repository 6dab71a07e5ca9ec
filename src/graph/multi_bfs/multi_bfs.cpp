// What a multi-source search decides before it runs, whatever the backend.
#include "graph/multi_bfs/common.hpp"

#include <fmt/format.h>

namespace spargo {

std::string_view to_string(multi_bfs_algorithm algorithm) {
  switch (algorithm) {
    case multi_bfs_algorithm::automatic:
      return "automatic";
    case multi_bfs_algorithm::one_word:
      return "one_word";
    case multi_bfs_algorithm::four_words:
      return "four_words";
  }
  return "unknown";
}

namespace detail {

multi_bfs_choice choose_multi_bfs(bool can_pull, std::int64_t max_sources, const multi_bfs_options& options) {
  SPARGO_EXPECTS(max_sources >= 1, fmt::format("multi_bfs: room for {} sources (expected 1 or more)", max_sources));
  if (options.direction == bfs_direction::pull && !can_pull) {
    throw error(error_code::unsupported, "multi_bfs: a pull needs in-edges, which this directed graph lacks");
  }
  multi_bfs_choice choice;
  choice.algorithm = options.algorithm;
  if (choice.algorithm == multi_bfs_algorithm::automatic) {
    choice.algorithm = max_sources <= 64 ? multi_bfs_algorithm::one_word : multi_bfs_algorithm::four_words;
  }
  choice.direction = can_pull ? options.direction : bfs_direction::push;
  return choice;
}

void check_multi_bfs_sources(std::int64_t sources, std::int64_t max_sources) {
  SPARGO_EXPECTS(sources <= max_sources,
                 fmt::format("multi_bfs: {} sources in a plan for at most {}", sources, max_sources));
}

}  // namespace detail

}  // namespace spargo

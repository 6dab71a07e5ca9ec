// What an exchange sends, whatever it goes by.
#pragma once

#include <spargo/distributed/exchange.hpp>

#include <vector>

namespace spargo::detail::distributed {

struct exchange_pattern {
  std::vector<std::int64_t> receives;  // [rank] ghosts that are theirs
  std::vector<std::int64_t> sends;     // [rank] elements that they want
  std::vector<std::int64_t> wanted;    // those, by their place among the own ones, one rank's after the other's
};
// Collective.
[[nodiscard]] exchange_pattern make_pattern(const communicator& comm, const context<host>& ctx, const partition& owners,
                                            span<const std::int64_t, host> ghosts);

// As balanced_partition, of the entries that all ranks know of.
[[nodiscard]] partition balance(std::int64_t size, int parts, span<const std::int64_t, host> entries);

}  // namespace spargo::detail::distributed

// Communication pattern of an exchange, the same for every link.
#pragma once

#include <spargo/distributed/exchange.hpp>

#include <vector>

namespace spargo::detail::distributed {

struct exchange_pattern {
  std::vector<std::int64_t> receives;  // [rank] ghosts received from it
  std::vector<std::int64_t> sends;     // [rank] elements sent to it
  std::vector<std::int64_t> wanted;    // local indices of the elements sent, concatenated by rank
};
// Collective.
[[nodiscard]] exchange_pattern make_pattern(const communicator& comm, const context<host>& ctx, const partition& owners,
                                            span<const std::int64_t, host> ghosts);

// balanced_partition for entries counted over all ranks.
[[nodiscard]] partition balance(std::int64_t size, int parts, span<const std::int64_t, host> entries);

}  // namespace spargo::detail::distributed

// Sums of Krylov methods over the devices of ranks.
#pragma once

#include "distributed/exchange/device_channel.hpp"
#include "solvers/krylov/collective.hpp"

namespace spargo::detail::distributed {

// Rounds of up to `most` numbers of each rank. Collective; throws as connect_devices does.
[[nodiscard]] std::unique_ptr<krylov::device_sums> connect_sums(const communicator& comm, const context<device>& ctx,
                                                                device_link link, std::int64_t most);

}  // namespace spargo::detail::distributed

// Runs a body on teams whose ranks have one device each: their own if there are enough, else a shared one.
#pragma once

#include "distributed/ranks.hpp"
#include "support/device.hpp"

#include <spargo/distributed/exchange.hpp>

namespace spargo::test {

inline context<device> device_of(const communicator& comm) {
  const std::vector<int>& usable = gpu().ordinals;
  return context<device>({.ordinal = usable[static_cast<std::size_t>(comm.rank()) % usable.size()]});
}

// Links that any ranks support. NCCL needs a GPU per rank.
inline std::vector<device_link> links_of(const communicator& comm) {
  std::vector<device_link> links{device_link::host_memory};
  if (comm.name() != std::string_view("mpi")) links.push_back(device_link::peer);
  if (comm.size() > 1 && comm.size() <= gpu().count) links.push_back(device_link::nccl);
  return links;
}

inline void on_devices(
    const std::function<void(const communicator&, const context<device>&, const exchange_options&)>& body) {
  on_ranks([&](const communicator& comm) {
    const context<device> ctx = device_of(comm);
    for (const device_link link : links_of(comm)) {
      SCOPED_TRACE(to_string(link));
      body(comm, ctx, {.link = link});
    }
  });
}

}  // namespace spargo::test

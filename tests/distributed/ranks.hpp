// Runs a body on ranks: on the processes of mpirun, otherwise on teams of 1, 2, 3, 4 and 7 threads.
#pragma once

#include "support/folders.hpp"

#include <spargo/distributed/communicator.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace spargo::test {

// MPI is initialised once and finalised at exit.
inline const communicator& world() {
  static const communicator all = communicator::world();
  return all;
}

inline bool is_launched() { return query_launcher().size > 1; }

inline void on_ranks(const std::function<void(const communicator&)>& body) {
  if (is_launched()) return body(world());
  for (const int ranks : {1, 2, 3, 4, 7}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    run_team(ranks, body);
  }
}

// One thread on even ranks, two on odd ones: results do not depend on it.
inline context<host> context_of(const communicator& comm) { return context<host>({.threads = 1 + comm.rank() % 2}); }

}  // namespace spargo::test

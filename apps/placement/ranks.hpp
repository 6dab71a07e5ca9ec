// Commands on several ranks: processes started by mpirun or srun, on CPUs or with a GPU each (--device cuda,
// --devices), or threads with a GPU each (--devices). Every rank runs the command's body, reads its share of the input
// and computes with the others; rank 0 prints and writes.
//
// Commands that support ranks call `run_ranks` if `is_shared_out`; run_app refuses other commands in several processes.
// Rank 0 prints errors that all ranks throw; an error on a single rank ends all.
#pragma once

#include "input/memory_need.hpp"
#include "placement/graph_command.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/distributed/components.hpp>
#include <spargo/distributed/pagerank.hpp>
#include <spargo/distributed/spmv.hpp>

#include <optional>
#include <string>
#include <utility>

namespace spargo::apps {

[[nodiscard]] bool on_several_ranks();  // processes
[[nodiscard]] inline bool is_shared_out(const common_flags& flags) {
  return on_several_ranks() || !flags.devices.empty();
}
// Whether each rank has a GPU: by --devices, or for processes by --device.
[[nodiscard]] inline bool are_on_gpus(const common_flags& flags) {
  return !flags.devices.empty() || flags.device.starts_with("cuda");
}
// From the launcher's environment variables: works without MPI.
[[nodiscard]] bool is_first_rank();

// All processes; the same object at every call. Throws agreed_error if MPI is not available.
[[nodiscard]] const communicator& all_ranks();

// For run_app: finalizes MPI once all ranks have called it; or ends all processes at once, if there are several.
void end_ranks();
void abort_ranks(exit_status status);

// Runs on all ranks: an `error` of one is thrown on all. A usage_error occurs on all ranks alike.
template <class F>
void together(const communicator& comm, F&& f) {
  std::optional<error> mine;
  try {
    f();
  } catch (const error& e) {
    mine.emplace(e);
  }
  comm.agree(mine.has_value() ? &*mine : nullptr);
}
// Runs on rank 0, for output.
template <class F>
void on_first(const communicator& comm, F&& f) {
  together(comm, [&] {
    if (comm.rank() == 0) f();
  });
}

// body(communicator, backend) on every rank. The backend has the rank's threads (--threads, else the usual number
// divided among the ranks of a host) and its GPU, if any. `prepare` is called first, once per process. Throws
// usage_error for inconsistent flags, device_unavailable if there are too few GPUs.
using ranked_body = std::function<exit_status(const communicator&, const backend&)>;
[[nodiscard]] exit_status run_ranks(const common_flags& flags, const std::function<void()>& prepare,
                                    const ranked_body& body);

// Throw usage_error for --parse gpu and --cache.
void expect_parsing_on_cpu(const std::string& parse);
void expect_no_cache(cache_mode cache);

// run_ranks of a command on a graph, which writes to --output and parses on the CPU.
[[nodiscard]] exit_status run_graph_ranks(graph_flags& flags, const ranked_body& body);

// Before anything is copied to the GPUs. Throws agreed_error if the ranks of a GPU need more than `most` bytes of it
// (--max-device-memory; 0: no limit). `needed` gives this rank's bytes, and is called only with a limit.
void expect_room(const communicator& comm, const backend& where, std::int64_t most,
                 const std::function<std::int64_t()>& needed);

// For memory_need.hpp.
enum class ghost_count { take, omit };

template <class I>
[[nodiscard]] rank_share share_of(const communicator& comm, const distributed_graph<I>& g,
                                  ghost_count ghosts = ghost_count::take) {
  rank_share own{g.vertices(), g.out().rows, g.out().nnz(), g.in().nnz(), 0, comm.size(), sizeof(I)};
  own.directed = g.direction() == direction_kind::directed;
  if (ghosts == ghost_count::omit) return own;
  std::vector<bool> met(static_cast<std::size_t>(g.vertices()));
  for (const I v : g.in().indices) {
    if (v >= g.parts().first(comm.rank()) && v < g.parts().last(comm.rank())) continue;
    own.ghosts += met[static_cast<std::size_t>(v)] ? 0 : 1;
    met[static_cast<std::size_t>(v)] = true;
  }
  return own;
}

// An input in shares; rows ascend from rank to rank if it was read in that order.
template <entry_type V>
struct ranked_input {
  coo_matrix<V, std::int64_t, host> share;
  symmetry_kind triangle = symmetry_kind::general;
  loaded_input from;  // all but `input.file` and `input.mapped` on every rank
};
// What rank 0 finds out about an input, on every rank. Throws agreed_error.
[[nodiscard]] input_description describe_on_ranks(const communicator& comm, const context<host>& cpu,
                                                  const std::string& path, const common_flags& flags);
// V: pattern, float, double, complex<double>, which a complex matrix needs. Throws agreed_error.
template <entry_type V>
[[nodiscard]] ranked_input<V> read_on_ranks(const communicator& comm, const context<host>& cpu, input_description input,
                                            const common_flags& flags);
template <entry_type V>
[[nodiscard]] ranked_input<V> read_on_ranks(const communicator& comm, const context<host>& cpu, const std::string& path,
                                            const common_flags& flags, cache_mode cache) {
  expect_no_cache(cache);
  return read_on_ranks<V>(comm, cpu, describe_on_ranks(comm, cpu, path, flags), flags);
}

// Whether the ranks generate the graph on their GPUs, without edges on the host: for generators that a device supports,
// without --max-device-memory. Throws agreed_error.
[[nodiscard]] bool is_made_on_gpus(const communicator& comm, const backend& where, const graph_flags& flags);
// Facts about such a graph. Throws agreed_error.
[[nodiscard]] loaded_input describe_made(const communicator& comm, const context<host>& cpu, const std::string& spec,
                                         cache_mode cache);

using any_ranked_graph = std::variant<distributed_graph<std::int32_t>, distributed_graph<std::int64_t>>;
// `directed`: for the report; the graph is built with `direction`, and the time added to from.build_ms.
[[nodiscard]] any_ranked_graph build_on_ranks(const communicator& comm, const context<host>& cpu,
                                              ranked_input<pattern>& read, const graph_options& options);

// Timed runs of all ranks together, and the exchanged bytes.
struct ranked_runs {
  timed_runs timed;
  std::int64_t exchanged_bytes = 0;  // of a run, by all ranks
  double exchange_ms = 0;            // of a run, of the rank that took longest: sending, and waiting for others
};
[[nodiscard]] ranked_runs time_on_ranks(const communicator& comm, std::int64_t warmup, std::int64_t runs,
                                        const stopwatch& since_start, const std::function<void()>& run);

// For a verdict that is the same on all ranks.
[[nodiscard]] inline exit_status status_of_verdict(const verdict& fault) {
  return status_of(fault.has_value() ? std::optional<bool>(fault->empty()) : std::nullopt);
}

// The keys "ranks", "devices", "links", "exchanged_bytes" and "exchange_ms", and a row. `how`: the link between ranks.
void report_ranks(report& out, const communicator& comm, const backend& where, std::string_view how,
                  const ranked_runs& runs);

// The values of all ranks, on every rank.
template <class T, class Space>
[[nodiscard]] std::vector<T> gather_values(const communicator& comm, const context<Space>& ctx,
                                           span<const T, Space> mine) {
  return comm.all_gather(span<const T, host>(copy_to_host(ctx, mine)));
}

}  // namespace spargo::apps

// Commands on several ranks: the processes that mpirun or srun has started, on their CPUs or with a GPU each (--device
// cuda, --devices), or threads with a GPU each (--devices).
// Every rank runs the command's body, reads its share of the input and computes with the others; rank 0 prints and
// writes.
//
// A command that can do so asks `is_shared_out` and then gives its body to `run_ranks`; the frame (run_app) refuses the
// others to processes. Errors that all ranks throw are printed by rank 0; one that a single rank meets ends all.
#pragma once

#include "input/memory_need.hpp"
#include "placement/graph_command.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/distributed/components.hpp>
#include <spargo/distributed/pagerank.hpp>
#include <spargo/distributed/spmv.hpp>

#include <optional>
#include <string>

namespace spargo::apps {

[[nodiscard]] bool on_several_ranks();  // processes
[[nodiscard]] inline bool is_shared_out(const common_flags& flags) {
  return on_several_ranks() || !flags.devices.empty();
}
// Whether the ranks have a GPU each: of --devices, or processes by --device.
[[nodiscard]] inline bool are_on_gpus(const common_flags& flags) {
  return !flags.devices.empty() || flags.device.starts_with("cuda");
}
// By the launcher's word: before MPI is there, and without it.
[[nodiscard]] bool is_first_rank();

// All processes; the same object at every call. Throws agreed_error where MPI is not to be had.
[[nodiscard]] const communicator& all_ranks();

// For the frame: MPI ends, when all ranks have come here; or all processes end at once, if there are several.
void end_ranks();
void abort_ranks(exit_status status);

// Run by all ranks: an `error` of one is all ranks'. What a usage_error is about is the same on all.
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
// Run by rank 0, for output.
template <class F>
void on_first(const communicator& comm, F&& f) {
  together(comm, [&] {
    if (comm.rank() == 0) f();
  });
}

// body(communicator, backend) on every rank. The backend has this rank's threads, --threads each, else the usual number
// divided among the ranks of a host; and its GPU, where ranks have any. `prepare` is called before, once a process.
// Throws usage_error for flags that do not go together, device_unavailable where there are fewer GPUs than asked for.
using ranked_body = std::function<exit_status(const communicator&, const backend&)>;
[[nodiscard]] exit_status run_ranks(const common_flags& flags, const std::function<void()>& prepare,
                                    const ranked_body& body);

// Throw usage_error for --parse gpu and --cache.
void expect_parsing_on_cpu(const std::string& parse);
void expect_no_cache(cache_mode cache);

// run_ranks of a command on a graph, which writes to --output and parses on the CPU.
[[nodiscard]] exit_status run_graph_ranks(graph_flags& flags, const ranked_body& body);

// Before anything is copied to the GPUs. Throws agreed_error where the ranks of a GPU need more of it than `most`
// bytes (--max-device-memory; 0: any number), of which `needed` says what this rank's do; it is not asked otherwise.
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

// An input in shares, whose rows follow each other from rank to rank as far as it was read so.
template <entry_type V>
struct ranked_input {
  coo_matrix<V, std::int64_t, host> share;
  symmetry_kind triangle = symmetry_kind::general;
  loaded_input from;  // all but `input.file` and `input.mapped` on every rank
};
// V: pattern, double. Throws agreed_error.
template <entry_type V>
[[nodiscard]] ranked_input<V> read_on_ranks(const communicator& comm, const context<host>& cpu, const std::string& path,
                                            const common_flags& flags, cache_mode cache);

// Whether the ranks make the graph on their GPUs, with no edge on the host: it is generated, of a kind that a device
// makes, and --max-device-memory is not given. Throws agreed_error.
[[nodiscard]] bool is_made_on_gpus(const communicator& comm, const backend& where, const graph_flags& flags);
// What is known of such a graph beforehand. Throws agreed_error.
[[nodiscard]] loaded_input describe_made(const communicator& comm, const context<host>& cpu, const std::string& spec,
                                         cache_mode cache);

using any_ranked_graph = std::variant<distributed_graph<std::int32_t>, distributed_graph<std::int64_t>>;
// `directed` as the report has it; the graph is then `direction`, whose build time is added to from.build_ms.
[[nodiscard]] any_ranked_graph build_on_ranks(const communicator& comm, const context<host>& cpu,
                                              ranked_input<pattern>& read, const graph_options& options);

// Timed runs of all ranks together, and what they sent to each other meanwhile.
struct ranked_runs {
  timed_runs timed;
  std::int64_t exchanged_bytes = 0;  // of a run, by all ranks
  double exchange_ms = 0;            // of a run, of the rank that took longest: sending, and waiting for others
};
[[nodiscard]] ranked_runs time_on_ranks(const communicator& comm, std::int64_t warmup, std::int64_t runs,
                                        const stopwatch& since_start, const std::function<void()>& run);

// Of a verdict that all ranks share.
[[nodiscard]] inline exit_status status_of_verdict(const verdict& fault) {
  return status_of(fault.has_value() ? std::optional<bool>(fault->empty()) : std::nullopt);
}

// The keys "ranks", "devices", "links", "exchanged_bytes" and "exchange_ms", and a row. `how`: what they send by.
void report_ranks(report& out, const communicator& comm, const backend& where, std::string_view how,
                  const ranked_runs& runs);

// Every rank's values, on all of them.
template <class T, class Space>
[[nodiscard]] std::vector<T> gather_values(const communicator& comm, const context<Space>& ctx,
                                           span<const T, Space> mine) {
  return comm.all_gather(span<const T, host>(copy_to_host(ctx, mine)));
}

}  // namespace spargo::apps

// Text files read straight into device memory: the device parses them where that is faster.
//
// Threads copy chunks of the file into pinned memory; the device copies them over and parses one line per thread. The
// host parses unusual lines (more than 19 digits, an exponent beyond 80, Fortran's D, inf, nan). The result equals that
// of the host reader, bit by bit and in its order, for any number of threads. If the device finds anything else between
// entries (comments, blank lines) or any fault, the host reads the file from the beginning, and its error is thrown.
//
// The device reads uncompressed regular files: Matrix Market coordinates that are real, integer or pattern into V that
// is not complex, and edge lists whose largest id is at most eight times the number of edges. The host reads others.
//
// Cost: one pass over the text, at the speed of the threads that copy it; synchronises the context's stream. Memory:
// the result, 8 MiB of text, a symmetric matrix's triangle, 4 bytes per id of an edge list; 32 MiB of pinned memory.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Where text is parsed. `automatic`: on the device from 16 MiB on, where that begins to be faster than 16 threads
// (H200). `on_device` is a preference: files that only the host can read are read there.
enum class device_read_algorithm { automatic, on_host, on_device };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<device_read_algorithm> enum_rows() noexcept;

// The choice of `automatic` for this file, from its size and first bytes; it does not look at the header.
[[nodiscard]] SPARGO_EXPORT device_read_algorithm suggest_device_read(const std::string& path);

struct SPARGO_EXPORT device_read_options : read_options {
  device_read_algorithm algorithm = device_read_algorithm::automatic;
  std::string columns{};  // for an edge list: see edge_list_options
  id_kind ids = id_kind::automatic;
};

struct SPARGO_EXPORT device_read_summary : matrix_market_summary {
  device_read_algorithm parsed = device_read_algorithm::on_host;  // where the text was parsed
  std::int64_t lines_on_host = 0;                                 // lines of device-parsed text that the host parsed
};

// Like read_matrix_market for the host: entries as written, symmetric halves expanded, mirrored entries last.
// `reading`: the threads that read the file. Throws also the device's `out_of_memory` and `device_failure`.
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, device> read_matrix_market(const context<device>& ctx,
                                                                        const context<host>& reading,
                                                                        const std::string& path,
                                                                        const device_read_options& options = {},
                                                                        device_read_summary* summary = nullptr);

// Like `edge_list`, with the edges on the device.
template <index_type I>
struct device_edge_list {
  coo_matrix<double, I, device> edges;
  bool weighted = false;
  std::vector<std::int64_t> ids;
  std::int64_t first_vertex = -1;
  std::int64_t rounded_integers = 0;
  edge_list_header header;
  vertex_name_table names;  // parsed on the host
  device_read_algorithm parsed = device_read_algorithm::on_host;
};

// Like read_edge_list for the host.
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT device_edge_list<I> read_edge_list(const context<device>& ctx, const context<host>& reading,
                                                               const std::string& path,
                                                               const device_read_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

// Text files read straight into device memory: the device parses them, where that is faster.
//
// Threads copy the file's chunks into pinned memory, the device copies them over and parses one line per thread. A
// line that is not as nearly all are (more than 19 digits, an exponent beyond 80, Fortran's D, inf, nan) is parsed by
// the host and put in its place. What comes is what the host's reader gives, bit by bit and in its order, for any
// number of threads. Whatever else a file holds between its entries (comments, blank lines), and whatever is wrong with
// it, is the host's: it reads the file from the beginning, and its error is the error.
//
// The device reads regular files that are not compressed: Matrix Market coordinates that are real, integer or pattern
// into V that is not complex, and edge lists whose largest id is at most eight times the number of edges. All others
// are read on the host and copied.
//
// Cost: one pass over the text, at the speed at which the system's threads copy it. Memory: the result, 8 MiB of text,
// for a symmetric matrix its triangle besides, for an edge list 4 bytes per id; 32 MiB of pinned memory.
// All synchronise the context's stream.
#pragma once

#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Where text is parsed. `automatic`: on the device from 16 MiB on, where that begins to pay beside 16 threads (an
// H200). `on_device` is a wish: a file that only the host can read is read by the host.
enum class device_read_algorithm { automatic, on_host, on_device };

[[nodiscard]] SPARGO_EXPORT const char* to_string(device_read_algorithm algorithm) noexcept;

// What `automatic` means for this file, from its size and first bytes; what its header says is not looked at.
[[nodiscard]] SPARGO_EXPORT device_read_algorithm suggest_device_read(const std::string& path);

struct SPARGO_EXPORT device_read_options : read_options {
  device_read_algorithm algorithm = device_read_algorithm::automatic;
  std::string columns{};  // of an edge list: see edge_list_options
  id_kind ids = id_kind::automatic;
};

struct SPARGO_EXPORT device_read_summary : matrix_market_summary {
  device_read_algorithm parsed = device_read_algorithm::on_host;  // where the text was
  std::int64_t lines_on_host = 0;                                 // of a text that the device parsed
};

// As read_matrix_market for the host: entries as written, symmetric halves expanded, mirrors after. `reading` has the
// threads that read the file. Throws what it throws, and `out_of_memory` or `device_failure` of the device.
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, device> read_matrix_market(const context<device>& ctx,
                                                                        const context<host>& reading,
                                                                        const std::string& path,
                                                                        const device_read_options& options = {},
                                                                        device_read_summary* summary = nullptr);

// As `edge_list`, with the edges on the device.
template <index_type I>
struct device_edge_list {
  coo_matrix<double, I, device> edges;
  bool weighted = false;
  std::vector<std::int64_t> ids;
  std::int64_t first_vertex = -1;
  std::int64_t rounded_integers = 0;
  edge_list_header header;
  vertex_name_table names;  // the host parses them
  device_read_algorithm parsed = device_read_algorithm::on_host;
};

// As read_edge_list for the host.
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT device_edge_list<I> read_edge_list(const context<device>& ctx, const context<host>& reading,
                                                               const std::string& path,
                                                               const device_read_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>

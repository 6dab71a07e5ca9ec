// Text to entries on the device: between the host part (device_read.cpp, read_edges.cpp) and CUDA (text_cuda.cu).
//
// Idea: threads read chunks of the file into pinned slots in any order, and hand them to the device in file order.
// There a chunk is copied, its lines are counted and parsed, one line per thread, all on one stream. A chunk may end
// anywhere: a line belongs to the chunk with its '\n', and the preceding bytes are kept from the previous chunk. The
// copy of a chunk overlaps the reading of later ones; copying and parsing are each faster than reading, so they share
// the stream.
// Invariant: entry k comes from line k, for any chunks. An unusual line leaves a gap and is listed.
// Cost: one pass over the text; scratch memory is the slots, a chunk on the device, and 8 bytes per KiB of it.
#pragma once

#include "io/device/line.hpp"

#include <spargo/formats/coo.hpp>

#include <memory>
#include <vector>

namespace spargo::detail {

// H200 with 16 cores, 0.8 GB of text in the page cache, to COO, best of three; slots x MiB and threads: GB/s. 8 x 8 and
// 8: 36; 8 x 4 and 16: 33; 16 x 2 and 16: 26; 16 x 1 and 16: 17; 4 x 4 and 4: 31; 2 x 4 and 2: 16. The host reader with
// 16 threads: 12. Small chunks favour small files.
struct device_read_tuning {
  std::int64_t chunk_bytes = std::int64_t{4} << 20;
  int slots = 8;    // chunks in pinned memory
  int threads = 8;  // most threads that read the file: one copies 9 GB/s, the link takes 55
  // Most lines parsed by the host; beyond that the host reads the file.
  std::int64_t most_unusual = std::int64_t{1} << 16;
  // Smallest file for which `automatic` uses the device. Parsed on the device, or by 16 threads and copied: 16 MiB take
  // 2.4 ms either way, 64 MiB 5.3 and 8.7; 1 MiB takes 0.7 and 0.3. (With two threads both are equal at 1 MiB.)
  std::int64_t least_bytes = std::int64_t{16} << 20;
};

struct unusual_line {
  std::int64_t entry = 0;   // entry number, as if the line held one
  std::int64_t offset = 0;  // in the file
};

struct device_text_outcome {
  std::int64_t lines = 0;
  std::int64_t unusual_count = 0;
  std::vector<unusual_line> unusual;  // the first ones found, unordered
  bool lost = false;                  // a line is longer than the part kept of the previous chunk
  bool below = false;                 // some entry is below the diagonal
  bool above = false;
  std::int64_t rounded = 0;   // integers that the value's type cannot represent exactly
  std::int64_t largest = -1;  // row or column
};

// Destination of entries: room for `capacity`; further entries are only counted. `values` is null for a pattern.
template <class V, class I>
struct device_entry_sink {
  I* rows = nullptr;
  I* cols = nullptr;
  V* values = nullptr;
  std::int64_t capacity = 0;
};

// Line: a type of line.hpp. Members may be called from any thread, `submit` from one at a time.
template <class Line, class V, class I>
class device_text_parser {
 public:
  device_text_parser(const context<device>& ctx, const Line& line, const device_entry_sink<V, I>& to,
                     const device_read_tuning& tuning);
  device_text_parser(const device_text_parser&) = delete;
  device_text_parser& operator=(const device_text_parser&) = delete;
  ~device_text_parser();

  // Page-locked memory for chunk `i` and a '\n'. Waits until chunk i - slots, already submitted, has been copied.
  [[nodiscard]] char* slot(std::int64_t i);
  // Submits chunks 0, 1, ... in order: size and offset in the file.
  void submit(std::int64_t i, std::int64_t bytes, std::int64_t offset);
  // Call after the last chunk; synchronises.
  [[nodiscard]] device_text_outcome finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// An entry of an unusual line, parsed by the host.
template <class V, class I>
struct patched_entry {
  std::int64_t entry = 0;
  I row = 0;
  I col = 0;
  V value{};
};

// Writes all of them to their places, for which `to` has room; synchronises.
template <class V, class I>
void patch_entries(const context<device>& ctx, const std::vector<patched_entry<V, I>>& parsed,
                   const device_entry_sink<V, I>& to);

// Replaces ids up to `largest` by vertices in ascending order of id; returns the distinct ids. Synchronises.
template <index_type I>
[[nodiscard]] std::vector<std::int64_t> renumber_vertices(const context<device>& ctx,
                                                          coo_matrix<double, I, device>& edges, std::int64_t largest);

}  // namespace spargo::detail

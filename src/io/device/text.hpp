// Text to entries on the device: what the host's half (device_read*.cpp) asks of the CUDA half (text_cuda.cu).
//
// Idea: threads read chunks of the file into pinned slots, in any order; whoever's turn it is hands its chunk to
// the device, where it is copied, its lines are counted and then parsed, one line per thread, all in the order of one
// stream. A chunk ends anywhere: a line belongs to the chunk that holds its '\n', and the bytes in front of it are kept
// from the chunk before. The copy of a chunk overlaps the reading of those behind it; copying and parsing are each
// faster than the reading, so they share the stream.
// Invariant: entry k comes from line k of the text, whatever the chunks are. An unusual line leaves a gap, and is
// listed.
// Cost: one pass over the text; scratch is the slots, a chunk on the device, 8 bytes per KiB of it.
#pragma once

#include "io/device/line.hpp"

#include <spargo/formats/coo.hpp>

#include <memory>
#include <vector>

namespace spargo::detail {

// Measured on an H200 with 16 cores, 0.8 GB of text in the page cache, to COO, the best of three, in slots x MiB and
// threads: 8 x 8 and 8 36 GB/s; 8 x 4 and 16 33; 16 x 2 and 16 26; 16 x 1 and 16 17; 4 x 4 and 4 31; 2 x 4 and 2 16.
// The host's reader with 16 threads: 12. The fewer the bytes, the sooner a small file is read.
struct device_read_tuning {
  std::int64_t chunk_bytes = std::int64_t{4} << 20;
  int slots = 8;    // chunks in pinned memory
  int threads = 8;  // that read the file, at most: one copies 9 GB/s, the link takes 55
  // Lines that the host parses; with more it reads the file.
  std::int64_t most_unusual = std::int64_t{1} << 16;
  // Of a file that `automatic` gives to the device. Parsed here or parsed by 16 threads and copied, 16 MiB take 2.4 ms,
  // 64 MiB 5.3 and 8.7; 1 MiB takes 0.7 and 0.3. (With two threads the two meet at 1 MiB already.)
  std::int64_t least_bytes = std::int64_t{16} << 20;
};

struct unusual_line {
  std::int64_t entry = 0;   // its number, as if it held one
  std::int64_t offset = 0;  // in the file
};

struct device_text_outcome {
  std::int64_t lines = 0;
  std::int64_t unusual_count = 0;
  std::vector<unusual_line> unusual;  // the first of them met, not in order
  bool lost = false;                  // a line is longer than what is kept of the chunk before
  bool below = false;                 // the diagonal
  bool above = false;
  std::int64_t rounded = 0;   // integers past what the value's type holds exactly
  std::int64_t largest = -1;  // row or column
};

// Where entries go: room for `capacity` of them; entries past it are counted only. `values` is null for a pattern.
template <class V, class I>
struct device_entry_sink {
  I* rows = nullptr;
  I* cols = nullptr;
  V* values = nullptr;
  std::int64_t capacity = 0;
};

// Line is one of line.hpp. Members may be called from any thread, `submit` from one at a time.
template <class Line, class V, class I>
class device_text_parser {
 public:
  device_text_parser(const context<device>& ctx, const Line& line, const device_entry_sink<V, I>& to,
                     const device_read_tuning& tuning);
  device_text_parser(const device_text_parser&) = delete;
  device_text_parser& operator=(const device_text_parser&) = delete;
  ~device_text_parser();

  // Page-locked memory for chunk `i` and a '\n' behind it, once chunk i - slots, which is submitted, has left it.
  [[nodiscard]] char* slot(std::int64_t i);
  // Chunks 0, 1, ... in order: its bytes, and where they are in the file.
  void submit(std::int64_t i, std::int64_t bytes, std::int64_t offset);
  // After the last one; synchronises.
  [[nodiscard]] device_text_outcome finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// An entry of an unusual line, from the host.
template <class V, class I>
struct patched_entry {
  std::int64_t entry = 0;
  I row = 0;
  I col = 0;
  V value{};
};

// All of them to the places they name, which `to` has room for; synchronises.
template <class V, class I>
void patch_entries(const context<device>& ctx, const std::vector<patched_entry<V, I>>& parsed,
                   const device_entry_sink<V, I>& to);

// Vertices 0, 1, ... in ascending order of id in place of ids, of which `largest` is the largest; the ids that there
// are. Synchronises.
template <index_type I>
[[nodiscard]] std::vector<std::int64_t> renumber_vertices(const context<device>& ctx,
                                                          coo_matrix<double, I, device>& edges, std::int64_t largest);

}  // namespace spargo::detail
